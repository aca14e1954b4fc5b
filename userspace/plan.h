/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which target, which speedup, how long (pure: no I/O, no clock).
 *
 * Windows come in blocks: one target at every speedup once, 0 included, in random order. So each block can be judged by
 * itself, and whatever drifts slower than a block cannot pass for an effect. Blocks go to the targets in proportion to
 * their share of the samples; fixed targets get the same number each.
 */
#ifndef COZK_PLAN_H
#define COZK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COZK_PLAN_MAX_SPEEDUPS = 101,
	COZK_PLAN_MAX_OPEN = 12, /* targets that compete for blocks at a time: those with the largest shares */
};

struct cozk_plan_target {
	uint64_t weight_ns; /* CPU time sampled on it so far */
	uint64_t blocks;    /* given so far */
	bool fixed;	    /* asked for by the user */
	bool dropped;	    /* turned out to have no code to try */
};

struct cozk_plan {
	struct cozk_plan_target *targets;
	size_t targets_len, targets_cap;
	uint32_t speedups[COZK_PLAN_MAX_SPEEDUPS]; /* ppm, without duplicates */
	size_t speedups_len;
	uint64_t random;
	bool only_fixed;

	bool started;
	uint32_t block; /* number of the current block, from 0 */
	size_t block_target;
	uint32_t left[COZK_PLAN_MAX_SPEEDUPS]; /* of the current block, shuffled */
	size_t left_len;

	uint64_t window_ns; /* length of the windows of the current block */
	uint64_t min_window_ns, max_window_ns;
	uint64_t block_visits; /* fewest visits of any window in the block */
};

struct cozk_plan_window {
	size_t target;
	uint32_t speedup_ppm;
	uint32_t block;
	uint64_t duration_ns;
};

void cozk_plan_init(struct cozk_plan *plan, uint64_t seed);
void cozk_plan_deinit(struct cozk_plan *plan);

/*
 * "0,25,50" in percent, or "A-B:STEP", or both mixed; 0 is added if missing. Returns 0, or -EINVAL with @err in one line.
 */
int cozk_plan_speedups(struct cozk_plan *plan, const char *text, char *err, size_t errlen);

/* Returns the new target's index, or -ENOMEM. */
long cozk_plan_add(struct cozk_plan *plan, bool fixed);

/* The next window; false if there is no target to try. */
bool cozk_plan_next(struct cozk_plan *plan, struct cozk_plan_window *ret);

/*
 * A window of the current block is over and saw @visits of the most visited point. Lengths adapt from block to block so
 * that a window sees enough visits for the one cut at each of its ends not to matter, and no more than that. Without a
 * call they stay.
 */
void cozk_plan_feedback(struct cozk_plan *plan, uint64_t visits);

/* The rest of the current block is dropped: its target cannot be tried. */
void cozk_plan_drop(struct cozk_plan *plan, size_t target);

#endif
