// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G9: G1 across processes.  Two children, forked without exec, do part_a (2 units) and part_b
 * (1 unit) at once; each gets a byte through a pipe to begin and sends one back when through.  The
 * parent, which does no work, counts one item a round.
 *
 * Truth: P = max(2(1 - s_a), 1 - s_b) units.
 *   part_a  x = s up to 50 %, then flat at 50 %
 *   part_b  x = 0 at every s
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "cozk.h"

enum { A, B, CHILDREN };

static struct part parts[] = {
	[A] = { .name = "part_a", .units = 2 },
	[B] = { .name = "part_b", .units = 1 },
};

static double period(const struct part *p)
{
	return max2(part_units(&p[A]), part_units(&p[B]));
}

static const struct workload g9 = { .name = "G9", .parts = parts, .nr_parts = 2, .cpus = 2, .period = period };

PART void part_a(void);
PART void part_b(void);

void part_a(void)
{
	WORK(parts[A].loops);
}

void part_b(void)
{
	WORK(parts[B].loops);
}

static struct {
	int begin[2]; /* pipes: [0] to read, [1] to write */
	int through[2];
	pid_t pid;
} child[CHILDREN];

static __attribute__((noreturn)) void die(const char *what)
{
	perror(what);
	exit(1);
}

static __attribute__((noreturn)) void run_child(int index)
{
	char byte = 0;

	/* Foreign ends stay open otherwise, and nobody would see the parent die. */
	for (int i = 0; i < CHILDREN; i++) {
		close(child[i].begin[1]);
		close(child[i].through[0]);
		if (i != index) {
			close(child[i].begin[0]);
			close(child[i].through[1]);
		}
	}
	workload_thread_begin(index);
	while (read(child[index].begin[0], &byte, 1) == 1) {
		if (index == A)
			part_a();
		else
			part_b();
		if (write(child[index].through[1], &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void start_children(void)
{
	for (int i = 0; i < CHILDREN; i++)
		if (pipe(child[i].begin) || pipe(child[i].through))
			die("pipe");
	for (int i = 0; i < CHILDREN; i++) {
		child[i].pid = fork();
		if (child[i].pid < 0)
			die("fork");
		if (!child[i].pid)
			run_child(i);
	}
	for (int i = 0; i < CHILDREN; i++) {
		close(child[i].begin[0]);
		close(child[i].through[1]);
	}
}

static void round_trip(void)
{
	char byte = 0;

	for (int i = 0; i < CHILDREN; i++)
		if (write(child[i].begin[1], &byte, 1) != 1)
			die("write");
	for (int i = 0; i < CHILDREN; i++)
		if (read(child[i].through[0], &byte, 1) != 1)
			die("read");
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static int reap_children(void)
{
	struct rusage usage;
	int status, failed = 0;

	for (int i = 0; i < CHILDREN; i++) {
		close(child[i].begin[1]);
		if (wait4(child[i].pid, &status, 0, &usage) != child[i].pid)
			die("wait4");
		failed |= status;
		workload_child_cpu(i, seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
	}
	return failed;
}

int main(int argc, char **argv)
{
	bool done = false;

	workload_start(&g9, argc, argv);
	start_children();
	while (!done) {
		round_trip();
		COZ_PROGRESS_NAMED("item");
		done = workload_item();
	}
	if (reap_children())
		return 1;
	return workload_finish();
}
