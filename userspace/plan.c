// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PPM_PERCENT = 10000,
	MS = 1000000,
	/* One visit at each end is a matter of luck: below ENOUGH_VISITS that is over 5 % of a window. */
	ENOUGH_VISITS = 20,
	PLENTY_VISITS = 100,
};

/* Below this share of the samples nothing a target could gain stands out from noise. */
static const double min_share = 0.01;

void cozk_plan_init(struct cozk_plan *plan, uint64_t seed)
{
	*plan = (struct cozk_plan){
		.random = seed,
		.window_ns = 250ULL * MS,
		.min_window_ns = 100ULL * MS,
		.max_window_ns = 4000ULL * MS,
		.block_visits = UINT64_MAX,
	};
}

void cozk_plan_deinit(struct cozk_plan *plan)
{
	free(plan->targets);
	plan->targets = NULL;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t next_random(struct cozk_plan *plan)
{
	uint64_t z = plan->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static int add_speedup(struct cozk_plan *plan, double percent, char *err, size_t errlen)
{
	uint32_t ppm = (uint32_t)(percent * PPM_PERCENT + 0.5);
	size_t i;

	if (!(percent >= 0 && percent <= 100)) {
		snprintf(err, errlen, "speedup %g is out of range: 0 to 100 percent", percent);
		return -EINVAL;
	}
	for (i = 0; i < plan->speedups_len; i++)
		if (plan->speedups[i] == ppm)
			return 0;
	if (plan->speedups_len == COZK_PLAN_MAX_SPEEDUPS) {
		snprintf(err, errlen, "more than %d different speedups", COZK_PLAN_MAX_SPEEDUPS);
		return -EINVAL;
	}
	plan->speedups[plan->speedups_len++] = ppm;
	return 0;
}

/* One item of the list: "25" or "10-50:5". */
static int add_item(struct cozk_plan *plan, const char *item, char *err, size_t errlen)
{
	double from, to, step;
	int used = 0;
	int error = 0;

	if (sscanf(item, "%lf-%lf:%lf%n", &from, &to, &step, &used) == 3 && !item[used] && step > 0 && from <= to) {
		/* A little over, so that 0-30:0.1 ends with 30. */
		for (; from <= to + step * 1e-6 && !error; from += step)
			error = add_speedup(plan, from, err, errlen);
		return error;
	}
	used = 0;
	if (sscanf(item, "%lf%n", &from, &used) == 1 && !item[used])
		return add_speedup(plan, from, err, errlen);
	snprintf(err, errlen, "'%s' is no speedup: give percent, as in 25, or a range, as in 10-50:10", item);
	return -EINVAL;
}

int cozk_plan_speedups(struct cozk_plan *plan, const char *text, char *err, size_t errlen)
{
	char *copy = strdup(text);
	char *rest = copy;
	char *item;
	int error = 0;

	if (!copy) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	plan->speedups_len = 0;
	while (!error && (item = strsep(&rest, ",")))
		error = add_item(plan, item, err, errlen);
	free(copy);
	if (!error)
		error = add_speedup(plan, 0, err, errlen);
	return error;
}

long cozk_plan_add(struct cozk_plan *plan, bool fixed)
{
	if (plan->targets_len == plan->targets_cap) {
		size_t cap = plan->targets_cap ? 2 * plan->targets_cap : 16;
		void *bigger = reallocarray(plan->targets, cap, sizeof(*plan->targets));

		if (!bigger)
			return -ENOMEM;
		plan->targets = bigger;
		plan->targets_cap = cap;
	}
	plan->targets[plan->targets_len] = (struct cozk_plan_target){ .fixed = fixed };
	plan->only_fixed |= fixed;
	return plan->targets_len++;
}

static uint64_t total_weight(const struct cozk_plan *plan)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < plan->targets_len; i++)
		total += plan->targets[i].weight_ns;
	return total;
}

/* How many candidates weigh more than @target. */
static size_t rank_of(const struct cozk_plan *plan, size_t target)
{
	size_t i, rank = 0;

	for (i = 0; i < plan->targets_len; i++)
		rank += plan->targets[i].weight_ns > plan->targets[target].weight_ns ||
			(plan->targets[i].weight_ns == plan->targets[target].weight_ns && i < target);
	return rank;
}

/* The claim of a target to blocks; 0: none. */
static double claim(const struct cozk_plan *plan, size_t target, uint64_t total)
{
	const struct cozk_plan_target *t = &plan->targets[target];
	double share;

	if (t->dropped || (plan->only_fixed && !t->fixed))
		return 0;
	if (plan->only_fixed)
		return 1;
	share = total ? (double)t->weight_ns / total : 0;
	if (share < min_share || rank_of(plan, target) >= COZK_PLAN_MAX_OPEN)
		return 0;
	/* A floor keeps small targets from waiting for ever behind a big one. */
	return share + 0.05;
}

/* The target that is furthest behind its claim. */
static bool choose_target(struct cozk_plan *plan)
{
	uint64_t total = total_weight(plan);
	double best = 0;
	bool found = false;
	size_t i;

	for (i = 0; i < plan->targets_len; i++) {
		double claimed = claim(plan, i, total);
		double behind = (plan->targets[i].blocks + 1) / (claimed > 0 ? claimed : 1);

		if (claimed > 0 && (!found || behind < best)) {
			plan->block_target = i;
			best = behind;
			found = true;
		}
	}
	return found;
}

static void shuffle(struct cozk_plan *plan)
{
	size_t i, j;
	uint32_t swap;

	plan->left_len = plan->speedups_len;
	memcpy(plan->left, plan->speedups, plan->left_len * sizeof(*plan->left));
	for (i = plan->left_len - 1; i > 0; i--) {
		j = next_random(plan) % (i + 1);
		swap = plan->left[i];
		plan->left[i] = plan->left[j];
		plan->left[j] = swap;
	}
}

static void adapt_window(struct cozk_plan *plan)
{
	if (plan->block_visits == UINT64_MAX)
		return;
	if (plan->block_visits < ENOUGH_VISITS && plan->window_ns < plan->max_window_ns)
		plan->window_ns *= 2;
	else if (plan->block_visits > PLENTY_VISITS && plan->window_ns > plan->min_window_ns)
		plan->window_ns /= 2;
	if (plan->window_ns > plan->max_window_ns)
		plan->window_ns = plan->max_window_ns;
	if (plan->window_ns < plan->min_window_ns)
		plan->window_ns = plan->min_window_ns;
}

static bool start_block(struct cozk_plan *plan)
{
	if (!plan->speedups_len || !choose_target(plan))
		return false;
	if (plan->started)
		plan->block++;
	plan->started = true;
	adapt_window(plan);
	plan->block_visits = UINT64_MAX;
	plan->targets[plan->block_target].blocks++;
	shuffle(plan);
	return true;
}

bool cozk_plan_next(struct cozk_plan *plan, struct cozk_plan_window *ret)
{
	if (!plan->left_len && !start_block(plan))
		return false;
	*ret = (struct cozk_plan_window){
		.target = plan->block_target,
		.speedup_ppm = plan->left[--plan->left_len],
		.block = plan->block,
		.duration_ns = plan->window_ns,
	};
	return true;
}

void cozk_plan_feedback(struct cozk_plan *plan, uint64_t visits)
{
	if (visits < plan->block_visits)
		plan->block_visits = visits;
}

void cozk_plan_drop(struct cozk_plan *plan, size_t target)
{
	plan->targets[target].dropped = true;
	if (plan->block_target == target)
		plan->left_len = 0;
}
