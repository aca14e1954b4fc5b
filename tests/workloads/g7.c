// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G7: strict ping-pong over a condition variable.  part_a (2 units) in one thread, then part_b
 * (1 unit) in the other, in turns; one item a round.
 *
 * Truth: P = 2(1 - s_a) + (1 - s_b) units.
 *   part_a  x = 2/3 s, a straight line
 *   part_b  x = 1/3 s, a straight line
 */
#include <pthread.h>

#include "common.h"
#ifdef WORKLOAD_COZ_H
#include <coz.h> /* Coz's own, unchanged */
#else
#include "cozk.h"
#endif

enum { A, B };

static struct part parts[] = {
	[A] = { .name = "part_a", .units = 2 },
	[B] = { .name = "part_b", .units = 1 },
};

static double period(const struct part *p)
{
	return part_units(&p[A]) + part_units(&p[B]);
}

static const struct workload g7 = { .name = "G7", .parts = parts, .nr_parts = 2, .cpus = 1, .period = period };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn = A;  /* under lock */
static bool stopping; /* under lock */

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

/* Returns whether the game is over. */
static bool await_turn(int who)
{
	bool over;

	pthread_mutex_lock(&lock);
	while (turn != who)
		pthread_cond_wait(&turn_changed, &lock);
	over = stopping;
	pthread_mutex_unlock(&lock);
	return over;
}

static void pass_turn(int to, bool stop)
{
	pthread_mutex_lock(&lock);
	turn = to;
	stopping = stop;
	pthread_cond_signal(&turn_changed);
	pthread_mutex_unlock(&lock);
}

static void *thread_a(void *arg)
{
	workload_thread_begin(0);
	while (!await_turn(A)) {
		part_a();
		pass_turn(B, false);
	}
	workload_thread_end(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a;
	bool done = false;

	workload_start(&g7, argc, argv);
	if (pthread_create(&a, NULL, thread_a, NULL))
		return 1;
	workload_thread_begin(1);
	while (!done) {
		await_turn(B);
		part_b();
		COZ_PROGRESS_NAMED("item");
		done = workload_item();
		pass_turn(A, done);
	}
	workload_thread_end(1);
	pthread_join(a, NULL);
	return workload_finish();
}
