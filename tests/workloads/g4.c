// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G4: G1 with a barrier that spins.  part_a (2 units) and part_b (1 unit) run at once and meet in
 * spin_wait; one item a round.
 *
 * Truth: P = max(2(1 - s_a), 1 - s_b) units.
 *   part_a     x = s up to 50 %, then flat at 50 %
 *   part_b     x = 0 at every s
 *   spin_wait  x = 0 at every s, though it is the hottest code of the second thread
 */
#include <pthread.h>

#include "common.h"
#include "cozk.h"

/* spin_wait takes as long as it must: its share of the formula is nothing. */
enum { A, B, SPIN };

static struct part parts[] = {
	[A] = { .name = "part_a", .units = 2 },
	[B] = { .name = "part_b", .units = 1 },
	[SPIN] = { .name = "spin_wait", .units = 0 },
};

static double period(const struct part *p)
{
	return max2(part_units(&p[A]), part_units(&p[B]));
}

static const struct workload g4 = { .name = "G4", .parts = parts, .nr_parts = 3, .cpus = 2, .period = period };

static uint64_t arrived;		 /* both threads, all rounds */
static uint64_t last_round = UINT64_MAX; /* written before a barrier, read after one */

PART void part_a(void);
PART void part_b(void);
PART void spin_wait(uint64_t arrivals);

void part_a(void)
{
	WORK(parts[A].loops);
}

void part_b(void)
{
	WORK(parts[B].loops);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void spin_wait(uint64_t arrivals)
{
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < arrivals)
		relax();
}

static void barrier(uint64_t round)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
	spin_wait(2 * (round + 1));
}

static void *thread_b(void *arg)
{
	workload_thread_begin(1);
	for (uint64_t round = 0; round < __atomic_load_n(&last_round, __ATOMIC_RELAXED); round++) {
		part_b();
		barrier(round);
	}
	workload_thread_end(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t b;

	workload_start(&g4, argc, argv);
	if (pthread_create(&b, NULL, thread_b, NULL))
		return 1;
	workload_thread_begin(0);
	for (uint64_t round = 0; round < last_round; round++) {
		part_a();
		barrier(round);
		COZ_PROGRESS_NAMED("item");
		/* B may be past its test of this round already, so one more for both. */
		if (workload_item() && last_round == UINT64_MAX)
			__atomic_store_n(&last_round, round + 2, __ATOMIC_RELAXED);
	}
	workload_thread_end(0);
	pthread_join(b, NULL);
	return workload_finish();
}
