// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * G2: a pipeline with one slow stage.  stage1 (1 unit) -> queue of 8 -> stage2 (3 units); one item
 * each time stage2 is through.
 *
 * Truth: P = max(1 - s_1, 3(1 - s_2)) units.
 *   stage2  x = s up to 66.7 %, then flat
 *   stage1  x = 0 at every s
 */
#include <pthread.h>

#include "common.h"
#include "cozk.h"
#include "queue.h"

enum { STAGE1, STAGE2 };
enum { TOKEN_END, TOKEN_ITEM };

static struct part parts[] = {
	[STAGE1] = { .name = "stage1", .units = 1 },
	[STAGE2] = { .name = "stage2", .units = 3 },
};

static double period(const struct part *p)
{
	return max2(part_units(&p[STAGE1]), part_units(&p[STAGE2]));
}

static const struct workload g2 = { .name = "G2", .parts = parts, .nr_parts = 2, .cpus = 2, .period = period };

static struct queue queue = QUEUE_INIT;
static bool stopping;

PART void stage1(void);
PART void stage2(void);

void stage1(void)
{
	WORK(parts[STAGE1].loops);
}

void stage2(void)
{
	WORK(parts[STAGE2].loops);
}

static void *first_thread(void *arg)
{
	workload_thread_begin(0);
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		stage1();
		queue_put(&queue, TOKEN_ITEM);
	}
	queue_put(&queue, TOKEN_END);
	workload_thread_end(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t first;

	workload_start(&g2, argc, argv);
	if (pthread_create(&first, NULL, first_thread, NULL))
		return 1;
	workload_thread_begin(1);
	while (queue_take(&queue) == TOKEN_ITEM) {
		stage2();
		COZ_PROGRESS_NAMED("item");
		if (workload_item())
			__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	}
	workload_thread_end(1);
	pthread_join(first, NULL);
	return workload_finish();
}
