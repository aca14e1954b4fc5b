// SPDX-License-Identifier: GPL-2.0-or-later
#include "window_record.h"

#include <string.h>

#include "controller.h"

enum { NS_PER_MS = 1000000 };

/* The entry of the latency pair @name, made when its first end is met. */
static struct cozk_visits *pair_entry(struct cozk_visits *visits, size_t *len, const char *name)
{
	size_t i;

	for (i = 0; i < *len; i++)
		if (visits[i].type == COZK_VISITS_LATENCY && !strcmp(visits[i].name, name))
			return &visits[i];
	visits[*len] = (struct cozk_visits){ .name = name, .type = COZK_VISITS_LATENCY };
	return &visits[(*len)++];
}

static void add_count(struct cozk_visits *visits, size_t *len, const struct cozk_count *count, const char *name)
{
	int64_t delta = count->end - count->start;
	struct cozk_visits *pair;

	switch (count->type) {
	case COZK_POINT_THROUGHPUT:
		visits[(*len)++] = (struct cozk_visits){
			.name = name,
			.type = COZK_VISITS_THROUGHPUT,
			.delta = delta,
		};
		break;
	case COZK_POINT_BEGIN:
		pair = pair_entry(visits, len, name);
		pair->arrivals = delta;
		pair->difference += count->end;
		break;
	case COZK_POINT_END:
		pair = pair_entry(visits, len, name);
		pair->departures = delta;
		pair->difference -= count->end;
		break;
	}
}

static size_t end_to_end(const struct cozk_window *window, struct cozk_visits *ret)
{
	ret[0] = (struct cozk_visits){
		.name = COZK_END_TO_END_POINT,
		.type = COZK_VISITS_THROUGHPUT,
		.delta = window->sample_ns / NS_PER_MS,
	};
	return 1;
}

size_t cozk_window_visits(const struct cozk_window *window, const struct cozk_count *counts,
			  const struct cozk_point *points, size_t points_len, struct cozk_visits *ret,
			  uint64_t *ret_most)
{
	size_t len = 0;
	uint32_t i;

	*ret_most = 0;
	for (i = 0; i < window->counts_len; i++) {
		uint64_t delta = counts[i].end - counts[i].start;

		if (counts[i].point >= points_len)
			continue;
		add_count(ret, &len, &counts[i], points[counts[i].point].name);
		if (delta > *ret_most)
			*ret_most = delta;
	}
	return len ? len : end_to_end(window, ret);
}

static const char *end_reason_text(uint32_t reason)
{
	switch (reason) {
	case COZK_END_DURATION:
		return "duration";
	case COZK_END_SIGNAL:
		return "signal";
	default:
		return "exit";
	}
}

void cozk_window_experiment(struct cozk_experiment *ret, const struct cozk_window *window,
			    const struct cozk_controller_target *target, uint32_t speedup_ppm, uint32_t block,
			    const struct cozk_visits *visits, size_t visits_len)
{
	uint64_t wall = window->end_ns - window->start_ns;
	uint64_t due = window->due_end_ns - window->due_start_ns;

	*ret = (struct cozk_experiment){
		.selected = target->name,
		.unit = target->unit,
		.function = target->function,
		.binary = target->binary,
		.chain = target->chain,
		.speedup_ppm = speedup_ppm,
		.duration_ns = (int64_t)wall - (int64_t)due,
		.hits = window->hits,
		.window = window->id,
		.block = block,
		.wall_ns = wall,
		.due_ns = due,
		.samples = window->samples,
		.sample_ns = window->sample_ns,
		.hit_ns = window->hit_ns,
		.owed_ns = window->owed_ns,
		.paid_ns = window->paid_ns,
		.credited_ns = window->credited_ns,
		.surplus_ns = window->surplus_ns,
		.pauses = window->pauses,
		.settle_ns = window->settle_ns,
		.forgiven_ns = window->forgiven_ns,
		.threads = window->threads,
		.end_reason = end_reason_text(window->end_reason),
		.visits = visits,
		.visits_len = visits_len,
	};
}
