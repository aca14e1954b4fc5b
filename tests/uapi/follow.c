// SPDX-License-Identifier: GPL-2.0-or-later
/* Every process and thread is known from birth to exit: fork, clone, vfork, exec, set-id, limit. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { PROCESSES = 12, THREADS = 7, NOBODY = 65534 };

static struct state {
	volatile uint32_t up;
	volatile bool leave;
	volatile uint32_t created;
} * state;

static const char *self;

static void *wait_to_leave(void *unused)
{
	__atomic_add_fetch(&state->up, 1, __ATOMIC_SEQ_CST);
	while (!state->leave)
		usleep(2000);
	return unused;
}

static void add_threads(int n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	while (n--)
		if (pthread_create(&thread, &attr, wait_to_leave, NULL))
			_exit(98);
}

/* The processes exit by exit_group while their threads run or exit themselves. */
static int tree(void *unused)
{
	int i, status;

	(void)unused;
	for (i = 0; i < PROCESSES; i++) {
		if (!fork()) {
			add_threads(THREADS);
			wait_to_leave(NULL);
			_exit(i);
		}
	}
	while (wait(&status) > 0)
		;
	return 0;
}

static void wait_up(uint32_t n)
{
	int i;

	for (i = 0; state->up < n && i < 2000; i++)
		sleep_ms(5);
	if (state->up != n)
		bail("%u of %u threads are up", state->up, n);
}

struct seen {
	uint32_t forks, exits, execs, wrong;
	uint64_t exit_sum; /* of the exit statuses */
	uint32_t spaces;   /* the highest */
};

static struct seen read_records(struct held *h)
{
	struct seen seen = { 0 };
	struct cozk_record r;

	while (rings_next(h->rings, &r)) {
		if (r.type == COZK_RECORD_FORK) {
			seen.forks++;
			seen.wrong += r.aux != (uint32_t)h->child.pid || r.ip != h->space;
		} else if (r.type == COZK_RECORD_EXIT) {
			seen.exits++;
			seen.exit_sum += r.aux >> 8;
		} else if (r.type == COZK_RECORD_EXEC) {
			seen.execs++;
		}
		if (r.space > seen.spaces)
			seen.spaces = r.space;
	}
	return seen;
}

static void forks(void)
{
	const uint32_t all = 1 + PROCESSES * (1 + THREADS);
	struct cozk_status status;
	struct seen seen;
	struct held h;

	memset((void *)state, 0, sizeof(*state));
	h = held_make(tree, NULL);
	child_go(&h.child);
	wait_up(PROCESSES * (1 + THREADS));
	status = session_status(h.fd);
	ok(status.threads == all, "all threads are there (%u of %u)", status.threads, all);
	ok(status.processes == 1 + PROCESSES, "all processes are there (%u)", status.processes);
	ok(status.threads_seen == all && !status.threads_lost, "none was missed");
	state->leave = true;
	child_wait(&h.child);
	ok(session_settles_at(h.fd, 0), "all threads leave");
	status = session_status(h.fd);
	ok(status.processes == 0, "all processes leave (%u)", status.processes);
	ok(status.threads_seen == all, "and none was counted twice");
	seen = read_records(&h);
	ok(seen.forks == PROCESSES && !seen.wrong, "a FORK record each, with parent and space (%u)", seen.forks);
	ok(seen.exits == PROCESSES + 1, "an EXIT record each (%u)", seen.exits);
	ok(seen.exit_sum == PROCESSES * (PROCESSES - 1) / 2, "with the exit status (%llu)",
	   (unsigned long long)seen.exit_sum);
	ok(seen.spaces == PROCESSES + 1, "and an address space each");
	rings_unmap(h.rings);
	close(h.fd);
}

static int adopted(void *unused)
{
	add_threads(20);
	return wait_to_leave(unused) != NULL;
}

/* Threads that were there before, and some that are being born meanwhile. */
static void adopt_many(void)
{
	struct child c;
	int fd = session_open();

	memset((void *)state, 0, sizeof(*state));
	c = child_make(adopted, NULL);
	child_go(&c);
	while (!state->up)
		usleep(100);
	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	wait_up(21);
	ok(session_status(fd).threads == 21, "adopting gets threads that are being born (%u)",
	   session_status(fd).threads);
	state->leave = true;
	child_wait(&c);
	ok(session_settles_at(fd, 0), "and they all leave");
	close(fd);
}

static int leaderless(void *unused)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_to_leave, NULL);
	pthread_exit(unused);
}

/* The first thread has exited: its process looks like a zombie. */
static bool leader_gone(pid_t pid)
{
	char path[32], stat[256];
	const char *state_of;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || !fgets(stat, sizeof(stat), file))
		bail("cannot read %s", path);
	fclose(file);
	state_of = strrchr(stat, ')');
	return state_of && state_of[1] && state_of[2] == 'Z';
}

static void adopt_leaderless(void)
{
	struct child c;
	int fd = session_open();

	memset((void *)state, 0, sizeof(*state));
	c = child_make(leaderless, NULL);
	child_go(&c);
	wait_up(1);
	while (!leader_gone(c.pid))
		sleep_ms(1);
	ok(!session_adopt(fd, c.pid), "a process whose first thread has exited can be adopted");
	ok(session_status(fd).threads == 1, "with what is left of it");
	state->leave = true;
	child_wait(&c);
	ok(session_settles_at(fd, 0), "and it leaves");
	ok(session_status(fd).processes == 0, "entirely");
	close(fd);
}

static int spawner(void *unused)
{
	char *argv[] = { "follow", "exit", "4", NULL };
	pid_t pid;
	int status;

	(void)unused;
	/* Linux makes this a CLONE_VM | CLONE_VFORK child, which shares its parent's space. */
	if (posix_spawn(&pid, self, NULL, NULL, argv, NULL) || waitpid(pid, &status, 0) != pid)
		return 1;
	return WEXITSTATUS(status);
}

static void vfork_exec(void)
{
	struct held h = held_make(spawner, NULL);
	struct cozk_record r;
	uint32_t fork_space = 0, exec_space = 0, exit_status = 0;

	child_go(&h.child);
	ok(WEXITSTATUS(child_wait(&h.child)) == 4, "vfork and exec work under a session");
	session_settles_at(h.fd, 0);
	while (rings_next(h.rings, &r)) {
		if (r.pid == (uint32_t)h.child.pid)
			continue;
		if (r.type == COZK_RECORD_FORK)
			fork_space = r.space;
		else if (r.type == COZK_RECORD_EXEC)
			exec_space = r.space;
		else if (r.type == COZK_RECORD_EXIT)
			exit_status = r.aux;
	}
	ok(fork_space == h.space, "a vfork child is in its parent's space");
	ok(exec_space && exec_space != h.space, "its new program in one of its own");
	ok(exit_status == 4 << 8, "and its exit is told");
	ok(session_status(h.fd).processes == 0 && session_status(h.fd).threads_seen == 2, "two threads in all");
	rings_unmap(h.rings);
	close(h.fd);
}

static void *exec_self(void *unused)
{
	execl(self, "follow", "exit", "5", NULL);
	return unused;
}

static int exec_other_thread(void *unused)
{
	pthread_t thread;

	(void)unused;
	add_threads(4);
	while (state->up < 4)
		usleep(1000);
	pthread_create(&thread, NULL, exec_self, NULL);
	pause();
	return 1;
}

static void exec_nonleader(void)
{
	struct held h;
	struct cozk_record r;
	uint32_t execs = 0, exits = 0;

	memset((void *)state, 0, sizeof(*state));
	h = held_make(exec_other_thread, NULL);
	child_go(&h.child);
	ok(WEXITSTATUS(child_wait(&h.child)) == 5, "exec in another than the first thread works");
	ok(session_settles_at(h.fd, 0), "and no thread is left");
	while (rings_next(h.rings, &r)) {
		if (r.type == COZK_RECORD_EXEC)
			execs += r.pid == (uint32_t)h.child.pid && r.tid == r.pid;
		exits += r.type == COZK_RECORD_EXIT;
	}
	ok(execs == 1 && exits == 1, "the process has one EXEC and one EXIT (%u, %u)", execs, exits);
	ok(session_status(h.fd).processes == 0, "and is gone");
	rings_unmap(h.rings);
	close(h.fd);
}

static void copy_setuid(const char *to)
{
	char buffer[65536];
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, n) != n)
			bail("cannot write %s", to);
	if (n || fchmod(out, 04755))
		bail("cannot make %s set-id", to);
	close(in);
	close(out);
}

static int exec_setuid(void *file)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		return 1;
	execl(file, "follow", "uid", NULL);
	return 1;
}

static void setuid_leaves(void)
{
	static char file[] = "/run/cozk-test-setuid";
	struct held h;
	struct cozk_status status;

	copy_setuid(file);
	h = held_make(exec_setuid, file);
	child_go(&h.child);
	ok(WEXITSTATUS(child_wait(&h.child)) == 0, "a set-id program runs");
	unlink(file);
	status = session_status(h.fd);
	ok(status.threads == 0 && status.processes == 0, "but not in the session");
	ok(status.left_setid == 1, "and that is counted");
	rings_unmap(h.rings);
	close(h.fd);
}

/* Runs as the program of an exec. */
static int as_program(char **argv)
{
	if (!strcmp(argv[1], "uid"))
		return geteuid() == 0 && getuid() == NOBODY ? 0 : 2;
	return atoi(argv[2]);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return as_program(argv);
	self = realpath(argv[0], NULL);
	state = shared(sizeof(*state));
	forks();
	adopt_many();
	adopt_leaderless();
	vfork_exec();
	exec_nonleader();
	setuid_leaves();
	return done();
}
