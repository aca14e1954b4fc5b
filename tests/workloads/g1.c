// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G1: two threads, 2:1.  part_a (2 units) and part_b (1 unit) run at once and meet at a blocking
 * barrier; one item a round.
 *
 * Truth: P = max(2(1 - s_a), 1 - s_b) units.
 *   part_a     x = s up to 50 %, then flat at 50 %
 *   part_b     x = 0 at every s, though it has a third of the CPU time
 *   never_run  x = 0: it never runs.  An experiment on it is a measurement of noise (G15).
 */
#include <pthread.h>

#include "common.h"
#ifdef WORKLOAD_COZ_H
#include <coz.h> /* Coz's own, unchanged */
#else
#include "cozk.h"
#endif

#ifndef WORKLOAD_NAME
#define WORKLOAD_NAME "G1"
#endif

enum { A, B, NEVER };

static struct part parts[] = {
	[A] = { .name = "part_a", .units = 2 },
	[B] = { .name = "part_b", .units = 1 },
	[NEVER] = { .name = "never_run", .units = 1 },
};

static double period(const struct part *p)
{
	return max2(part_units(&p[A]), part_units(&p[B]));
}

static const struct workload g1 = { .name = WORKLOAD_NAME, .parts = parts, .nr_parts = 3, .cpus = 2, .period = period };

static pthread_barrier_t barrier;
static uint64_t last_round = UINT64_MAX; /* written before a barrier, read after one */

PART void part_a(void);
PART void part_b(void);
PART void never_run(void);

void part_a(void)
{
	WORK(parts[A].loops);
}

void part_b(void)
{
	WORK(parts[B].loops);
}

void never_run(void)
{
	WORK(parts[NEVER].loops);
}

static void *thread_b(void *arg)
{
	workload_thread_begin(1);
	for (uint64_t round = 0; round < __atomic_load_n(&last_round, __ATOMIC_RELAXED); round++) {
		part_b();
		pthread_barrier_wait(&barrier);
	}
	workload_thread_end(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t b;

	workload_start(&g1, argc, argv);
	if (workload_never())
		never_run();
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&b, NULL, thread_b, NULL))
		return 1;
	workload_thread_begin(0);
	for (uint64_t round = 0; round < last_round; round++) {
		part_a();
		pthread_barrier_wait(&barrier);
		COZ_PROGRESS_NAMED("item");
		/* B may be past its test of this round already, so one more for both. */
		if (workload_item() && last_round == UINT64_MAX)
			__atomic_store_n(&last_round, round + 2, __ATOMIC_RELAXED);
	}
	workload_thread_end(0);
	pthread_join(b, NULL);
	return workload_finish();
}
