// SPDX-License-Identifier: GPL-2.0-or-later
#include "controller.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "window_record.h"

enum {
	MS = 1000000,
	LOOK_MS = 20,
	/* Enough samples to see which code is hot at all; a quiet program is not waited for longer than this. */
	FIRST_SAMPLES = 100,
	FIRST_LOOK_MS = 1000,
	DUMP_EVERY = 32, /* windows, as in Coz */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int cozk_controller_init(struct cozk_controller *c, enum cozk_unit by, uint64_t seed)
{
	cozk_plan_init(&c->plan, seed);
	cozk_samples_init(&c->samples, by);
	cozk_processes_init(&c->processes, c->resolver);
	c->points = calloc(COZK_MAX_POINTS, sizeof(*c->points));
	c->counts = calloc(COZK_MAX_POINTS, sizeof(*c->counts));
	c->visits = calloc(COZK_MAX_POINTS, sizeof(*c->visits));
	if (!c->points || !c->counts || !c->visits)
		return -ENOMEM;
	c->start_ns = now_ns();
	return cozk_ring_open(&c->ring, c->dev);
}

void cozk_controller_deinit(struct cozk_controller *c)
{
	cozk_ring_close(&c->ring);
	cozk_plan_deinit(&c->plan);
	cozk_samples_deinit(&c->samples);
	cozk_processes_deinit(&c->processes);
	free(c->targets);
	free(c->points);
	free(c->counts);
	free(c->visits);
}

static long add_target(struct cozk_controller *c, const struct cozk_controller_target *target, bool fixed)
{
	long index;

	if (c->targets_len == c->targets_cap) {
		size_t cap = c->targets_cap ? 2 * c->targets_cap : 64;
		void *bigger = reallocarray(c->targets, cap, sizeof(*c->targets));

		if (!bigger)
			return -ENOMEM;
		c->targets = bigger;
		c->targets_cap = cap;
	}
	index = cozk_plan_add(&c->plan, fixed);
	if (index >= 0)
		c->targets[c->targets_len++] = *target;
	return index;
}

int cozk_controller_fix(struct cozk_controller *c, enum cozk_unit unit, const char *name)
{
	struct cozk_controller_target target = { .name = name, .unit = unit };
	long index;

	if (unit == COZK_UNIT_FUNCTION)
		target.function = name;
	index = add_target(c, &target, true);
	return index < 0 ? index : 0;
}

/* A place in scope becomes a target with its first sample. */
static void weigh(struct cozk_controller *c, struct cozk_sampled *sampled, uint64_t weight_ns)
{
	if (!sampled->count.in_scope)
		return;
	if (sampled->plan_target < 0) {
		struct cozk_controller_target target = {
			.name = sampled->count.location,
			.unit = sampled->unit,
			.function = sampled->count.function,
			.binary = sampled->count.binary,
			.chain = sampled->count.chain,
		};

		sampled->plan_target = add_target(c, &target, false);
	}
	if (sampled->plan_target >= 0)
		c->plan.targets[sampled->plan_target].weight_ns += weight_ns;
}

static void take_record(const struct cozk_record *record, void *data)
{
	struct cozk_controller *c = data;
	struct cozk_sampled *sampled;
	struct cozk_place place;
	int error;

	if (cozk_processes_record(&c->processes, record))
		c->memory_error = -ENOMEM;
	if (record->type != COZK_RECORD_SAMPLE || record->space == c->processes.ignored_space)
		return;
	error = cozk_resolve(c->resolver, record->pid, record->ip, &place);
	sampled = cozk_samples_add(&c->samples, &place, !error, record->weight_ns);
	if (sampled)
		weigh(c, sampled, record->weight_ns);
	else
		c->memory_error = -ENOMEM;
}

void cozk_controller_drain(struct cozk_controller *c)
{
	cozk_ring_drain(&c->ring, take_record, c);
}

static bool over(struct cozk_controller *c)
{
	struct pollfd fd = { .fd = c->dev->fd };

	if (poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP)
		c->program_over = true;
	return c->program_over;
}

static bool done(struct cozk_controller *c)
{
	return over(c) || *c->stop || c->problem_code || (c->duration_ns && now_ns() - c->start_ns >= c->duration_ns);
}

static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

static int look(struct cozk_controller *c)
{
	cozk_controller_drain(c);
	return cozk_processes_push_scopes(&c->processes, c->dev);
}

/* Before the first window there must be something to choose from. */
static int first_look(struct cozk_controller *c)
{
	int waited, error = 0;

	for (waited = 0; waited < FIRST_LOOK_MS && !error && !done(c); waited += LOOK_MS) {
		pause_ms(LOOK_MS);
		error = look(c);
		if (c->samples.in_scope >= FIRST_SAMPLES)
			break;
	}
	return error;
}

/* Until the program's exec is in the ring; its addresses are known then. */
static int wait_for_process(struct cozk_controller *c)
{
	int error = look(c);

	while (!error && !c->processes.len && !done(c)) {
		pause_ms(1);
		error = look(c);
	}
	return error;
}

static int fail(struct cozk_controller *c, int error, const char *what)
{
	if (!c->problem_code) {
		c->problem_code = error;
		snprintf(c->problem, sizeof(c->problem), "%s", what);
	}
	return error;
}

/* A fixed target that is nowhere is the user's mistake; any other just is not tried again. */
static int push_target(struct cozk_controller *c, size_t target)
{
	const struct cozk_controller_target *t = &c->targets[target];
	enum cozk_target_kind kind = t->unit == COZK_UNIT_LINE ? COZK_TARGET_LINE : COZK_TARGET_FUNCTION;
	char err[512];
	int error = cozk_processes_push_target(&c->processes, c->dev, kind, t->name, err, sizeof(err));

	if (!error)
		return 0;
	if (c->plan.targets[target].fixed && error != -ESRCH)
		return fail(c, error, err);
	cozk_plan_drop(&c->plan, target);
	return error;
}

static void update_points(struct cozk_controller *c, uint32_t needed)
{
	int count;

	if (needed <= c->points_len)
		return;
	count = cozk_device_points(c->dev, c->points, COZK_MAX_POINTS);
	if (count > 0)
		c->points_len = count;
}

/* As in Coz: the run is one visit, of a point that every program has. */
static void add_whole_run(struct cozk_controller *c, const struct cozk_window *window)
{
	size_t at = c->points_len ? c->visits_len : 0;

	if (at == COZK_MAX_POINTS)
		return;
	c->visits[at] = (struct cozk_visits){
		.name = COZK_END_TO_END_POINT,
		.type = COZK_VISITS_THROUGHPUT,
		.delta = window->end_reason == COZK_END_EXIT,
	};
	c->visits_len = at + 1;
}

static void keep_window(struct cozk_controller *c, const struct cozk_plan_window *planned,
			const struct cozk_window *window)
{
	struct cozk_experiment experiment;
	uint64_t most;
	int error;

	c->windows_opened++;
	c->settle_ns += window->settle_ns;
	update_points(c, window->counts_len);
	c->visits_len = cozk_window_visits(window, c->counts, c->points, c->points_len, c->visits, &most);
	c->visits_seen += most;
	if (c->end_to_end)
		add_whole_run(c, window);
	cozk_window_experiment(&experiment, window, &c->targets[planned->target], planned->speedup_ppm, planned->block,
			       c->visits, c->visits_len);
	error = cozk_profile_window(c->profile, &experiment);
	if (error && !c->profile_error)
		c->profile_error = error;
	c->windows++;
	/* End to end every window has progress enough. */
	if (window->end_reason == COZK_END_DURATION && window->counts_len)
		cozk_plan_feedback(&c->plan, most);
}

/*
 * Returns 1 with the result in @window, 0 if there was none, or -errno. The module answers -ENOENT when the last thread
 * left between two windows.
 */
static int open_window(struct cozk_controller *c, const struct cozk_plan_window *planned, uint64_t duration_ns,
		       struct cozk_window *window)
{
	int error;

	*window = (struct cozk_window){
		.duration_ns = duration_ns,
		.period_ns = c->window_period_ns,
		.speedup = planned->speedup_ppm,
		.counts = (uintptr_t)c->counts,
		.counts_max = COZK_MAX_POINTS,
	};
	error = cozk_device_window(c->dev, window);
	if (error == -ENOENT)
		c->program_over = true;
	if (error == -ENOENT || error == -EINTR)
		return 0;
	return error ? fail(c, error, "the module refused a window") : 1;
}

/*
 * Queues are as full as the last speedup left them, and until they have adapted the program runs from stock: the same
 * again first, without keeping it (docs/decisions/0006).
 */
static int run_window(struct cozk_controller *c, const struct cozk_plan_window *planned)
{
	struct cozk_window window;
	int got = 1;

	if (!c->end_to_end)
		got = open_window(c, planned, planned->duration_ns / 2, &window);
	if (got == 1 && !done(c))
		got = open_window(c, planned, planned->duration_ns, &window);
	else if (got == 1)
		got = 0;
	if (got == 1)
		keep_window(c, planned, &window);
	return got < 0 ? got : 0;
}

static void dump_samples(struct cozk_controller *c)
{
	if (c->windows % DUMP_EVERY == 0)
		cozk_controller_finish(c, NULL, NULL);
}

static int run_one(struct cozk_controller *c)
{
	struct cozk_plan_window planned;
	int error = look(c);

	if (error)
		return fail(c, error, "the module refused a scope");
	if (!cozk_plan_next(&c->plan, &planned)) {
		pause_ms(LOOK_MS);
		return 0;
	}
	if (c->end_to_end)
		planned.duration_ns = COZK_MAX_WINDOW_NS;
	error = push_target(c, planned.target);
	if (error == -ENOENT || error == -ESRCH)
		return 0;
	if (error)
		return fail(c, error, "the module refused a target");
	error = run_window(c, &planned);
	if (error)
		return error;
	dump_samples(c);
	if (c->on_window)
		c->on_window(c);
	return 0;
}

int cozk_controller_run(struct cozk_controller *c)
{
	int error;

	c->start_ns = now_ns();
	/* End to end nothing may be left out, and what to try is known. */
	error = c->end_to_end && c->plan.only_fixed ? wait_for_process(c) : first_look(c);
	if (error)
		return fail(c, error, "the module refused a scope");
	while (!done(c)) {
		error = run_one(c);
		if (c->problem_code)
			return error;
	}
	return 0;
}

int cozk_controller_finish(struct cozk_controller *c, const char *status, const char *reason)
{
	struct cozk_status totals = { 0 };
	struct cozk_runtime runtime;
	struct cozk_sample_count *counts;
	size_t i;
	int error;

	cozk_controller_drain(c);
	cozk_device_status(c->dev, &totals);
	runtime = (struct cozk_runtime){
		.time_ns = now_ns() - c->start_ns,
		.status = status,
		.reason = reason,
		.samples = totals.samples,
		.samples_lost = totals.samples_lost,
		.samples_unresolved = c->samples.unresolved,
		.threads_seen = totals.threads_seen,
		.threads_lost = totals.threads_lost,
		.windows = c->windows_opened,
		.points_seen = c->points_len,
	};
	counts = calloc(c->samples.len ? c->samples.len : 1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	for (i = 0; i < c->samples.len; i++)
		counts[i] = c->samples.places[i]->count;
	error = cozk_profile_runtime(c->profile, &runtime, counts, c->samples.len);
	free(counts);
	if (error && !c->profile_error)
		c->profile_error = error;
	return error;
}
