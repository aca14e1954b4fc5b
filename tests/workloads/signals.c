// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signals [SECONDS]: counts what of a profiler's doings a program can notice.  For SECONDS (3)
 * one thread works and passes items through a pipe, visiting the point "item"; the other computes
 * a little and then waits in poll, nanosleep, read and a raw futex, one after the other.
 *
 * One JSON line on stdout: "eintr" per call, and "frames": how many of "slices" pieces of work
 * were interrupted by a signal handler, whoever installed it.  The kernel puts a handler's frame
 * below the stack pointer, so a pattern put there tells, even when the handler is hidden.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "common.h"
#include "cozk.h"

enum {
	PATTERN_BYTES = 12288, /* frames with AVX-512 state are about 3.5 kB */
	GAP_BYTES = 1024,      /* for this function's own locals and the red zone */
};

struct counts {
	unsigned long slices;
	unsigned long frames;
	unsigned long calls;
	unsigned long eintr_poll;
	unsigned long eintr_nanosleep;
	unsigned long eintr_read;
	unsigned long eintr_futex;
};

static int pipe_fds[2];
static bool stopping;
static struct counts worker_counts, waiter_counts;

/* About a millisecond of work.  Calls nothing, so only a signal frame can touch the pattern. */
PART void slice(struct counts *counts);

void slice(struct counts *counts)
{
	volatile unsigned char *below =
		(volatile unsigned char *)__builtin_frame_address(0) - GAP_BYTES - PATTERN_BYTES;
	bool touched = false;

	for (int i = 0; i < PATTERN_BYTES; i++)
		below[i] = 0xa5;
	WORK(600000);
	for (int i = 0; i < PATTERN_BYTES; i++)
		touched |= below[i] != 0xa5;
	counts->slices++;
	counts->frames += touched;
}

static void wait_in_turn(struct counts *counts)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	struct pollfd nothing = { .fd = -1 };
	static uint32_t word;
	char bytes[64];

	counts->calls += 4;
	counts->eintr_poll += poll(&nothing, 1, 1) < 0 && errno == EINTR;
	counts->eintr_nanosleep += nanosleep(&ms, NULL) < 0 && errno == EINTR;
	counts->eintr_futex += syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ms, NULL, 0) < 0 && errno == EINTR;
	counts->eintr_read += read(pipe_fds[0], bytes, sizeof(bytes)) < 0 && errno == EINTR;
}

static void *waiter(void *arg)
{
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		slice(&waiter_counts);
		wait_in_turn(&waiter_counts);
	}
	return arg;
}

int main(int argc, char **argv)
{
	double end = wall_s() + argument(argc, argv, 3);
	unsigned long failed_writes = 0;
	struct counts *w = &waiter_counts;
	pthread_t thread;

	/* Not blocking, so that a slow waiter cannot hold up the end. */
	if (pipe2(pipe_fds, 0) || fcntl(pipe_fds[1], F_SETFL, O_NONBLOCK) ||
	    pthread_create(&thread, NULL, waiter, NULL)) {
		perror("signals");
		return 1;
	}
	while (wall_s() < end) {
		slice(&worker_counts);
		failed_writes += write(pipe_fds[1], "", 1) != 1;
		COZ_PROGRESS_NAMED("item");
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	failed_writes += write(pipe_fds[1], "", 1) != 1;
	pthread_join(thread, NULL);
	printf("{\"slices\":%lu,\"frames\":%lu,\"calls\":%lu,", worker_counts.slices + w->slices,
	       worker_counts.frames + w->frames, w->calls);
	printf("\"eintr\":{\"poll\":%lu,\"nanosleep\":%lu,\"read\":%lu,\"futex\":%lu}}\n", w->eintr_poll,
	       w->eintr_nanosleep, w->eintr_read, w->eintr_futex);
	return failed_writes != 0;
}
