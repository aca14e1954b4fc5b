// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G10: G7 over a raw futex, in a static program: nothing to interpose.  part_a (2 units) in one
 * thread, then part_b (1 unit) in the other, in turns; one item a round.  The C library waits
 * for nothing until the last item is done.
 *
 * Truth: P = 2(1 - s_a) + (1 - s_b) units.
 *   part_a  x = 2/3 s, a straight line
 *   part_b  x = 1/3 s, a straight line
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"
#include "cozk.h"

enum { A, B };

static struct part parts[] = {
	[A] = { .name = "part_a", .units = 2 },
	[B] = { .name = "part_b", .units = 1 },
};

static double period(const struct part *p)
{
	return part_units(&p[A]) + part_units(&p[B]);
}

static const struct workload g10 = { .name = "G10", .parts = parts, .nr_parts = 2, .cpus = 1, .period = period };

static uint32_t turn = A;
static bool stopping; /* written before a pass, read after one */

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

static void await_turn(uint32_t who)
{
	uint32_t now;

	while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != who)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

static void pass_turn(uint32_t to)
{
	__atomic_store_n(&turn, to, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *thread_a(void *arg)
{
	workload_thread_begin(0);
	for (;;) {
		await_turn(A);
		if (stopping)
			break;
		part_a();
		pass_turn(B);
	}
	workload_thread_end(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a;

	workload_start(&g10, argc, argv);
	if (pthread_create(&a, NULL, thread_a, NULL))
		return 1;
	workload_thread_begin(1);
	while (!stopping) {
		await_turn(B);
		part_b();
		COZ_PROGRESS_NAMED("item");
		stopping = workload_item();
		pass_turn(A);
	}
	workload_thread_end(1);
	pthread_join(a, NULL);
	return workload_finish();
}
