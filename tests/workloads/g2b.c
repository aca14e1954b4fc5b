// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G2b: a pipeline of three stages, 1, 3 and 1 units, on exactly two CPUs (it confines itself to
 * two): the shape of PARSEC's ferret.  One item each time stage3 is through.
 *
 * Truth: P = max(t1, t2, t3, (t1 + t2 + t3) / 2) units: the slowest stage, or the CPUs.
 *   stage2  x = s up to 33.3 %, then slope 1/2: 25, 41.7, 54.2, 66.7 % at s = 25, 50, 75, 100 %
 *   stage1  x = 0 at every s
 *   stage3  x = 0 at every s
 */
#include <pthread.h>

#include "common.h"
#include "cozk.h"
#include "queue.h"

enum { STAGE1, STAGE2, STAGE3 };
enum { TOKEN_END, TOKEN_ITEM };

static struct part parts[] = {
	[STAGE1] = { .name = "stage1", .units = 1 },
	[STAGE2] = { .name = "stage2", .units = 3 },
	[STAGE3] = { .name = "stage3", .units = 1 },
};

static double period(const struct part *p)
{
	double t1 = part_units(&p[STAGE1]);
	double t2 = part_units(&p[STAGE2]);
	double t3 = part_units(&p[STAGE3]);

	return max2(max2(t1, max2(t2, t3)), (t1 + t2 + t3) / 2);
}

static const struct workload g2b = {
	.name = "G2b", .parts = parts, .nr_parts = 3, .cpus = 2, .exactly = true, .period = period
};

static struct queue queue12 = QUEUE_INIT;
static struct queue queue23 = QUEUE_INIT;
static bool stopping;

PART void stage1(void);
PART void stage2(void);
PART void stage3(void);

void stage1(void)
{
	WORK(parts[STAGE1].loops);
}

void stage2(void)
{
	WORK(parts[STAGE2].loops);
}

void stage3(void)
{
	WORK(parts[STAGE3].loops);
}

static void *first_thread(void *arg)
{
	workload_thread_begin(0);
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		stage1();
		queue_put(&queue12, TOKEN_ITEM);
	}
	queue_put(&queue12, TOKEN_END);
	workload_thread_end(0);
	return arg;
}

static void *second_thread(void *arg)
{
	workload_thread_begin(1);
	while (queue_take(&queue12) == TOKEN_ITEM) {
		stage2();
		queue_put(&queue23, TOKEN_ITEM);
	}
	queue_put(&queue23, TOKEN_END);
	workload_thread_end(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t first, second;

	workload_start(&g2b, argc, argv);
	if (pthread_create(&first, NULL, first_thread, NULL) || pthread_create(&second, NULL, second_thread, NULL))
		return 1;
	workload_thread_begin(2);
	while (queue_take(&queue23) == TOKEN_ITEM) {
		stage3();
		COZ_PROGRESS_NAMED("item");
		if (workload_item())
			__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	}
	workload_thread_end(2);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	return workload_finish();
}
