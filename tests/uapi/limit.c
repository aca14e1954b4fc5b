// SPDX-License-Identifier: GPL-2.0-or-later
/* More threads than a session holds: the rest is not followed, counted, and runs undisturbed. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { TOO_MANY = 100 };

static struct state {
	uint32_t want;
	volatile uint32_t up;
	volatile bool leave;
} * state;

/* Blocked in a read that never comes: a thread costs nothing but its birth. */
static void *wait_for_end(void *fd)
{
	char byte;

	__atomic_add_fetch(&state->up, 1, __ATOMIC_SEQ_CST);
	return read((int)(intptr_t)fd, &byte, 1) ? fd : NULL;
}

static int program(void *unused)
{
	pthread_attr_t attr;
	pthread_t thread;
	uint32_t i;
	int ends[2];

	(void)unused;
	if (pipe(ends))
		return 1;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	pthread_attr_setguardsize(&attr, 0);
	for (i = 0; i < state->want; i++)
		if (pthread_create(&thread, &attr, wait_for_end, (void *)(intptr_t)ends[0]))
			return 2;
	while (!state->leave)
		usleep(5000);
	return 0;
}

static int idle(void *unused)
{
	(void)unused;
	pause();
	return 0;
}

int main(void)
{
	struct cozk_info info;
	struct cozk_status status;
	struct child c, other;
	int fd = session_open();
	int i;

	if (ioctl(fd, COZK_IOC_INFO, &info))
		bail("INFO failed");
	state = shared(sizeof(*state));
	state->want = info.max_threads - 1 + TOO_MANY;
	c = child_make(program, NULL);
	other = child_make(idle, NULL);
	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	child_go(&c);
	for (i = 0; state->up < state->want && i < 4000; i++)
		sleep_ms(10);
	ok(state->up == state->want, "more threads than max_threads run (%u of %u)", state->up, state->want);
	status = session_status(fd);
	ok(status.threads == info.max_threads, "as many as may be are in the session (%u)", status.threads);
	ok(status.threads_lost == TOO_MANY, "and the others are counted (%llu)",
	   (unsigned long long)status.threads_lost);
	fails(session_adopt(fd, other.pid), ENOSPC, "ADOPT: no room");
	ok(session_status(fd).processes == 1, "which leaves no trace");
	state->leave = true;
	ok(WEXITSTATUS(child_wait(&c)) == 0, "the program ends");
	ok(session_settles_at(fd, 0), "and all its threads leave");
	ok(!session_adopt(fd, other.pid), "ADOPT: room again");
	child_kill(&other);
	close(fd);
	return done();
}
