// SPDX-License-Identifier: GPL-2.0-or-later
/* The statistics against simulated programs whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/stats.h"
#include "../../userspace/student.h"

static const struct cozk_stats_options defaults = { .run = COZK_RUN_ALL };

static void near(double got, double want, double within)
{
	if (!(fabs(got - want) <= within))
		fail_msg("got %g, want %g within %g", got, want, within);
}

/* ---- random numbers: splitmix64 ---- */

static uint64_t random_state;

static double uniform(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* ---- building profiles ---- */

static void add(struct cozk_profile *p, const char *target, double s, int64_t duration, int64_t visits, uint32_t block)
{
	struct cozk_visits v = { .name = "item", .delta = visits };
	struct cozk_experiment e = {
		.selected = target,
		.speedup_ppm = (uint32_t)lround(s * 1e6),
		.duration_ns = duration,
		.block = block,
		.visits = &v,
		.visits_len = 1,
	};

	assert_int_equal(cozk_profile_add_window(p, &e), 0);
}

static void add_run(struct cozk_profile *p)
{
	struct cozk_startup s = { .time_ns = 1 };

	assert_int_equal(cozk_profile_add_startup(p, &s), 0);
}

static void analyse(const struct cozk_profile *p, const struct cozk_stats_options *options, struct cozk_analysis *a)
{
	assert_int_equal(cozk_stats_analyse(p, 0, options, a), 0);
}

/*
 * A program that finishes one item after another. An item takes 1 ms, times what the window's
 * speedup leaves, times log-normal noise; windows follow one another with gaps, so their edges fall
 * anywhere.
 */
struct program {
	double noise;	     /* of one item, standard deviation of the logarithm */
	double window_noise; /* of the whole window, the same */
	double drift;	     /* the period swings by this over the run */
	double until_next;   /* ns until the next item is done */
	double factor;	     /* of the window now */
};

static const double ITEM_NS = 1e6;

static double item(const struct program *g, double left)
{
	return ITEM_NS * left * g->factor * exp(g->noise * normal() - g->noise * g->noise / 2);
}

static int64_t run_window(struct program *g, double left, double duration)
{
	int64_t visits = 0;

	g->factor *= exp(g->window_noise * normal());
	g->until_next = uniform() * item(g, left);
	while (g->until_next < duration) {
		visits++;
		g->until_next += item(g, left);
	}
	return visits;
}

struct plan {
	double slope; /* true effect per speedup */
	int speedups; /* evenly up to 1 */
	int per_cell;
	int baselines;
	double window_ns;
	struct program program;
};

static double true_effect(const struct plan *plan, double s)
{
	return plan->slope * s;
}

/* Blocks, each with one window of every speedup and its share of the baselines. */
static void simulate(struct cozk_profile *p, const struct plan *plan, const char *target)
{
	struct program g = plan->program;

	for (int b = 0; b < plan->per_cell; b++) {
		double drift = 1 + g.drift * sin(2 * M_PI * (b + uniform()) / plan->per_cell * 1.5);
		int zeros = plan->baselines * (b + 1) / plan->per_cell - plan->baselines * b / plan->per_cell;

		for (int i = 0; i < zeros + plan->speedups; i++) {
			double s = i < zeros ? 0 : (double)(i - zeros + 1) / plan->speedups;
			int64_t visits;

			g.factor = drift;
			visits = run_window(&g, 1 - true_effect(plan, s), plan->window_ns);
			add(p, target, s, (int64_t)plan->window_ns, visits, (uint32_t)b);
		}
	}
}

/* Shares of intervals that hold the truth over many simulated profiles. */
struct coverage {
	double effects, slopes, significant, width, by_block, unknown;
};

static struct coverage measure_coverage(const struct plan *plan, int profiles)
{
	struct coverage c = { 0 };
	double effects = 0;

	for (int i = 0; i < profiles; i++) {
		struct cozk_profile p = { 0 };
		struct cozk_analysis a;
		const struct cozk_finding *f;

		simulate(&p, plan, "a.c:1");
		analyse(&p, &defaults, &a);
		f = &a.findings[0];
		for (size_t k = 0; k < f->effects_len; k++) {
			const struct cozk_effect *e = &f->effects[k];
			double truth = true_effect(plan, e->speedup_ppm / 1e6);

			effects++;
			c.unknown += isnan(e->x.lo);
			c.effects += e->x.lo <= truth && truth <= e->x.hi;
			c.width += e->x.hi - e->x.lo;
		}
		c.slopes += f->slope.lo <= plan->slope && plan->slope <= f->slope.hi;
		c.significant += f->significant;
		c.by_block += a.by_block;
		cozk_analysis_deinit(&a);
		cozk_profile_deinit(&p);
	}
	c.effects /= effects;
	c.width /= effects;
	c.unknown /= effects;
	c.slopes /= profiles;
	c.significant /= profiles;
	c.by_block /= profiles;
	return c;
}

static void check_coverage(const char *name, const struct plan *plan, double most)
{
	struct coverage c;

	random_state = 1;
	c = measure_coverage(plan, 400);
	print_message("# %s: effects %.3f, slopes %.3f, width %.3f, significant %.3f, by block %.2f\n", name, c.effects,
		      c.slopes, c.width, c.significant, c.by_block);
	assert_true(c.unknown == 0);
	assert_true(c.effects >= 0.90 && c.effects <= most);
	assert_true(c.slopes >= 0.90 && c.slopes <= most);
}

/* ---- coverage ---- */

static void test_coverage_regular(void **state)
{
	struct plan plan = { .slope = 0.5,
			     .speedups = 5,
			     .per_cell = 4,
			     .baselines = 16,
			     .window_ns = 50e6,
			     .program = { .noise = 0.3, .window_noise = 0.02 } };

	(void)state;
	check_coverage("five speedups, four windows each", &plan, 0.99);
}

static void test_coverage_many_windows(void **state)
{
	struct plan plan = { .slope = 0.5,
			     .speedups = 2,
			     .per_cell = 20,
			     .baselines = 30,
			     .window_ns = 50e6,
			     .program = { .noise = 0.5, .window_noise = 0.05 } };

	(void)state;
	check_coverage("two speedups, twenty windows each", &plan, 0.99);
}

static void test_coverage_single_windows(void **state)
{
	struct plan plan = { .slope = 0.3,
			     .speedups = 10,
			     .per_cell = 1,
			     .baselines = 8,
			     .window_ns = 100e6,
			     .program = { .noise = 0.3, .window_noise = 0.05 } };

	(void)state;
	check_coverage("ten speedups, one window each", &plan, 0.99);
}

static void test_coverage_clockwork(void **state)
{
	struct plan plan = { .slope = 0.5,
			     .speedups = 4,
			     .per_cell = 5,
			     .baselines = 10,
			     .window_ns = 20.3e6,
			     .program = { .noise = 0 } };

	(void)state;
	/* Nothing is random but where windows begin; the floor for that is on the safe side. */
	check_coverage("a program like a clock", &plan, 1);
}

static void test_coverage_few_visits(void **state)
{
	struct plan plan = { .slope = 0.5,
			     .speedups = 4,
			     .per_cell = 6,
			     .baselines = 12,
			     .window_ns = 4e6,
			     .program = { .noise = 0.8 } };

	(void)state;
	check_coverage("four visits a window", &plan, 0.995);
}

static void test_coverage_no_effect(void **state)
{
	struct plan plan = { .slope = 0,
			     .speedups = 5,
			     .per_cell = 4,
			     .baselines = 16,
			     .window_ns = 50e6,
			     .program = { .noise = 0.3, .window_noise = 0.03 } };
	struct coverage c;

	(void)state;
	check_coverage("no effect", &plan, 0.99);
	random_state = 2;
	c = measure_coverage(&plan, 400);
	assert_true(c.significant <= 0.08);
}

static void test_coverage_drift(void **state)
{
	struct plan plan = { .slope = 0.4,
			     .speedups = 4,
			     .per_cell = 10,
			     .baselines = 20,
			     .window_ns = 50e6,
			     .program = { .noise = 0.3, .window_noise = 0.01, .drift = 0.3 } };
	struct coverage c;

	(void)state;
	check_coverage("drift, within blocks", &plan, 0.99);
	random_state = 3;
	c = measure_coverage(&plan, 50);
	assert_true(c.by_block > 0.9);
	assert_true(c.width < 0.15);
}

/*
 * An independent way to the same: with many windows, a bootstrap over them must find the standard
 * error that the formulas give.
 */
static void test_bootstrap_agrees(void **state)
{
	enum { N = 40, REPLICATES = 1000 };
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	int64_t zero[N], half[N];
	double sum = 0, squares = 0, sd;
	struct program g = { .noise = 0.5, .window_noise = 0.05 };

	(void)state;
	random_state = 4;
	for (int i = 0; i < N; i++) {
		g.factor = 1;
		zero[i] = run_window(&g, 1, 50e6);
		g.factor = 1;
		half[i] = run_window(&g, 0.8, 50e6);
		add(&p, "a.c:1", 0, 50000000, zero[i], 0);
		add(&p, "a.c:1", 0.5, 50000000, half[i], 0);
	}
	analyse(&p, &defaults, &a);
	for (int r = 0; r < REPLICATES; r++) {
		double v0 = 0, vs = 0, x;

		for (int i = 0; i < N; i++) {
			v0 += (double)zero[(int)(uniform() * N)];
			vs += (double)half[(int)(uniform() * N)];
		}
		x = 1 - v0 / vs;
		sum += x;
		squares += x * x;
	}
	sd = sqrt(squares / REPLICATES - sum / REPLICATES * sum / REPLICATES);
	near(a.findings[0].effects[0].x.se / sd, 1, 0.15);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

/* ---- exact numbers ---- */

static void test_student(void **state)
{
	(void)state;
	near(cozk_student_critical(0.05, 1), 12.7062047, 1e-6);
	near(cozk_student_critical(0.05, 4), 2.7764451, 1e-6);
	near(cozk_student_two_sided(cozk_student_critical(0.05, 2.5), 2.5), 0.05, 1e-9);
	near(cozk_student_critical(0.05, 30), 2.0422725, 1e-6);
	near(cozk_student_critical(0.05, INFINITY), 1.9599640, 1e-6);
	near(cozk_student_critical(0.01, 10), 3.1692727, 1e-6);
	near(cozk_student_two_sided(2, 10), 0.07338803, 1e-7);
	near(cozk_student_two_sided(-2, 10), 0.07338803, 1e-7);
	near(cozk_student_two_sided(0, 3), 1, 1e-12);
	assert_true(isnan(cozk_student_two_sided(NAN, 3)));
}

static void test_definition(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	const struct cozk_finding *f;

	(void)state;
	add(&p, "a.c:1", 0, 1000000, 100, 0);
	add(&p, "a.c:1", 0, 3000000, 300, 0);
	add(&p, "a.c:1", 0.5, 1000000, 125, 0);
	add(&p, "a.c:1", 0.5, 2000000, 247, 0);
	add(&p, "a.c:1", 0.25, 1000000, 110, 0);
	analyse(&p, &defaults, &a);
	assert_int_equal(a.findings_len, 1);
	assert_int_equal(a.faults[COZK_WINDOW_GOOD], 5);
	f = &a.findings[0];
	assert_int_equal(f->effects_len, 2);
	assert_int_equal(f->windows, 5);
	assert_int_equal(f->effects[0].speedup_ppm, 250000);
	near(a.baseline.period_ns, 10000, 1e-9);
	near(f->effects[0].x.value, 1 - 1 / 1.1, 1e-12);
	near(f->effects[1].x.value, 1 - (3000000.0 / 372) / 10000, 1e-12);
	assert_int_equal(f->effects[1].visits, 372);
	assert_true(f->effects[1].x.lo < f->effects[1].x.value && f->effects[1].x.value < f->effects[1].x.hi);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

static void test_baseline_rules(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	struct cozk_stats_options own = { .run = COZK_RUN_ALL, .baseline = COZK_BASELINE_OWN };

	(void)state;
	add(&p, "a.c:1", 0, 1000000, 100, 0);
	add(&p, "a.c:1", 0.5, 1000000, 200, 0);
	add(&p, "b.c:1", 0, 1000000, 200, 0);
	add(&p, "b.c:1", 0.5, 1000000, 200, 0);
	add(&p, "c.c:1", 0.5, 1000000, 300, 0);
	analyse(&p, &defaults, &a);
	near(a.findings[0].effects[0].x.value, 0.25, 1e-12);
	near(a.findings[1].effects[0].x.value, 0.25, 1e-12);
	near(a.findings[2].effects[0].x.value, 0.5, 1e-12);
	cozk_analysis_deinit(&a);
	analyse(&p, &own, &a);
	near(a.findings[0].effects[0].x.value, 0.5, 1e-12);
	near(a.findings[1].effects[0].x.value, 0, 1e-12);
	assert_true(isnan(a.findings[2].effects[0].x.value));
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

static void test_runs_are_strata(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	struct cozk_stats_options second = { .run = 1 };

	(void)state;
	/*
	 * The second run is twice as fast, with other shares of windows: pooling periods would see
	 * an effect.
	 */
	add_run(&p);
	for (int i = 0; i < 6; i++)
		add(&p, "a.c:1", 0, 1000000, 100 + i % 2, 0);
	add(&p, "a.c:1", 0.5, 1000000, 125, 0);
	add_run(&p);
	add(&p, "a.c:1", 0, 1000000, 200, 0);
	for (int i = 0; i < 6; i++)
		add(&p, "a.c:1", 0.5, 1000000, 250 + i % 2, 0);
	analyse(&p, &defaults, &a);
	near(a.findings[0].effects[0].x.value, 0.2, 0.005);
	cozk_analysis_deinit(&a);
	analyse(&p, &second, &a);
	near(a.findings[0].effects[0].x.value, 1 - 200 / 250.5, 1e-9);
	assert_int_equal(a.baseline.windows, 1);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

static void test_end_to_end(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;

	(void)state;
	random_state = 5;
	for (int i = 0; i < 12; i++) {
		struct cozk_visits v = { .name = COZK_END_TO_END_POINT, .delta = 1 };
		struct cozk_experiment e = {
			.selected = "work",
			.unit = COZK_UNIT_FUNCTION,
			.speedup_ppm = i % 2 ? 500000 : 0,
			.duration_ns = (int64_t)(1e9 * (i % 2 ? 0.7 : 1) * (1 + 0.01 * normal())),
			.end_reason = "exit",
			.visits = &v,
			.visits_len = 1,
		};

		add_run(&p);
		assert_int_equal(cozk_profile_add_window(&p, &e), 0);
	}
	analyse(&p, &defaults, &a);
	near(a.findings[0].effects[0].x.value, 0.3, 0.02);
	assert_true(a.findings[0].significant);
	assert_true(a.findings[0].effects[0].x.hi - a.findings[0].effects[0].x.lo < 0.05);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

/* ---- too little data ---- */

static void test_too_little(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;

	(void)state;
	add(&p, "a.c:1", 0.5, 1000000, 10, 0);
	analyse(&p, &defaults, &a); /* no baseline */
	assert_int_equal(a.findings_len, 1);
	assert_true(isnan(a.findings[0].effects[0].x.value));
	assert_true(a.findings[0].best == SIZE_MAX);
	assert_int_equal(a.findings[0].shape, COZK_SHAPE_UNKNOWN);
	cozk_analysis_deinit(&a);

	add(&p, "a.c:1", 0, 1000000, 8, 0);
	analyse(&p, &defaults, &a); /* one window each: a value, no interval */
	near(a.findings[0].effects[0].x.value, 0.2, 1e-12);
	assert_true(isnan(a.findings[0].effects[0].x.lo));
	near(a.findings[0].slope.value, 0.4, 1e-12);
	assert_true(isnan(a.findings[0].slope.lo));
	assert_false(a.findings[0].significant);
	assert_int_equal(a.findings[0].best, 0);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

static void test_no_visits(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;

	(void)state;
	for (int i = 0; i < 4; i++) {
		add(&p, "a.c:1", 0, 1000000, 0, 0);
		add(&p, "a.c:1", 0.5, 1000000, 0, 0);
	}
	analyse(&p, &defaults, &a);
	assert_true(isnan(a.findings[0].effects[0].x.value));
	assert_true(isnan(a.baseline.period_ns));
	assert_int_equal(a.findings[0].visits, 0);
	cozk_analysis_deinit(&a);

	/* Some at speedup 0, none at 50 %: no estimate either. */
	add(&p, "a.c:1", 0, 1000000, 9, 0);
	analyse(&p, &defaults, &a);
	assert_true(isnan(a.findings[0].effects[0].x.value));
	assert_false(a.findings[0].significant);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

/* ---- windows that do not count ---- */

static void test_faults(void **state)
{
	struct cozk_visits v = { .name = "item", .delta = 5 };
	struct cozk_experiment good = {
		.selected = "a.c:1",
		.duration_ns = 100,
		.wall_ns = 100,
		.visits = &v,
		.visits_len = 1,
		.threads = 1,
		.end_reason = "duration",
		.owed_ns = 50,
		.paid_ns = 49,
	};
	struct cozk_experiment e = good;
	struct cozk_profile_run run = { .windows = 2 };
	struct cozk_profile p = { .runs = &run, .runs_len = 1 };

	(void)state;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_GOOD);
	e.duration_ns = 0;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_NO_DURATION);
	e.duration_ns = -5;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_NO_DURATION);
	e = good;
	e.end_reason = "exit";
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_CUT);
	v.name = COZK_END_TO_END_POINT;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_CUT);
	run.windows = 1; /* the whole run is the window: it has to end with it */
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_GOOD);
	e = good;
	e.paid_ns = 30;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_UNPAID);
	e = good;
	e.credited_ns = 18; /* not part of what was owed */
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_GOOD);
	e.forgiven_ns = 20;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_UNPAID);
	e = good;
	e.surplus_ns = 20;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_UNPAID);
	e.threads = 8;
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_GOOD);
	/* As read from a file of Coz's. */
	e = (struct cozk_experiment){ .selected = "a.c:1", .duration_ns = 100 };
	assert_int_equal(cozk_window_judge(&p, &e), COZK_WINDOW_GOOD);
}

static void test_outliers(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	struct cozk_stats_options all = { .run = COZK_RUN_ALL, .keep_all = true };

	(void)state;
	random_state = 6;
	for (int i = 0; i < 12; i++) {
		add(&p, "a.c:1", 0, 1000000, 100 + (int)(4 * uniform()), 0);
		add(&p, "a.c:1", 0.5, 1000000, i == 5 ? 20 : 125 + (int)(4 * uniform()), 0);
	}
	analyse(&p, &defaults, &a);
	assert_int_equal(a.faults[COZK_WINDOW_OUTLIER], 1);
	assert_int_equal(a.faults[COZK_WINDOW_GOOD], 23);
	near(a.findings[0].effects[0].x.value, 0.2, 0.02);
	cozk_analysis_deinit(&a);
	analyse(&p, &all, &a);
	assert_int_equal(a.faults[COZK_WINDOW_OUTLIER], 0);
	assert_true(a.findings[0].effects[0].x.value < 0.17);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);

	/* A program with two kinds of phases has no outliers. */
	for (int i = 0; i < 20; i++)
		add(&p, "a.c:1", i % 2 ? 0.5 : 0, 1000000, i % 4 < 2 && i % 3 ? 100 : 10, 0);
	analyse(&p, &defaults, &a);
	assert_int_equal(a.faults[COZK_WINDOW_OUTLIER], 0);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

/* ---- shapes ---- */

static enum cozk_shape shape_of(const double *effects, int n, char *text, size_t len)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	enum cozk_shape shape;

	random_state = 7;
	for (int i = 0; i < 8 * (n + 1); i++) {
		int k = i % (n + 1);
		double left = k ? 1 - effects[k - 1] : 1;

		add(&p, "a.c:1", (double)k / n, 100000000, (int64_t)(1000 / left * (1 + 0.01 * normal())), 0);
	}
	analyse(&p, &defaults, &a);
	shape = a.findings[0].shape;
	cozk_shape_text(&a.findings[0], text, len);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
	return shape;
}

static void test_shapes(void **state)
{
	static const double linear[] = { 0.1, 0.2, 0.3, 0.4, 0.5 }, plateau[] = { 0.1, 0.2, 0.2, 0.2, 0.2 };
	static const double peak[] = { 0.1, 0.2, 0.1, 0, -0.1 }, slower[] = { -0.05, -0.1, -0.15, -0.2, -0.25 };
	static const double none[] = { 0, 0, 0, 0, 0 }, early[] = { 0.2, 0.2, 0.2, 0.2, 0.2 };
	char text[64];

	(void)state;
	assert_int_equal(shape_of(linear, 5, text, sizeof(text)), COZK_SHAPE_LINEAR);
	assert_string_equal(text, "linear");
	assert_int_equal(shape_of(plateau, 5, text, sizeof(text)), COZK_SHAPE_PLATEAU);
	assert_string_equal(text, "plateau at 40 %");
	shape_of(early, 5, text, sizeof(text));
	assert_string_equal(text, "plateau at 20 %");
	assert_int_equal(shape_of(peak, 5, text, sizeof(text)), COZK_SHAPE_PEAK);
	assert_string_equal(text, "peak at 40 %");
	assert_int_equal(shape_of(slower, 5, text, sizeof(text)), COZK_SHAPE_SLOWER);
	assert_string_equal(text, "contention: getting slower");
	assert_int_equal(shape_of(none, 5, text, sizeof(text)), COZK_SHAPE_NONE);
	assert_string_equal(text, "no effect");
}

static void test_noise_is_no_finding(void **state)
{
	int found = 0;

	(void)state;
	random_state = 8;
	for (int round = 0; round < 20; round++) {
		struct plan plan = { .speedups = 5,
				     .per_cell = 3,
				     .baselines = 3,
				     .window_ns = 30e6,
				     .program = { .noise = 0.4, .window_noise = 0.05 } };
		struct cozk_profile p = { 0 };
		struct cozk_analysis a;
		char name[16];

		for (int t = 0; t < 20; t++) {
			snprintf(name, sizeof(name), "a.c:%d", t);
			simulate(&p, &plan, name);
		}
		analyse(&p, &defaults, &a);
		for (size_t i = 0; i < a.findings_len; i++)
			found += a.findings[i].significant;
		cozk_analysis_deinit(&a);
		cozk_profile_deinit(&p);
	}
	/* 400 targets without effect: without the rule for many targets about 20 would be found. */
	print_message("# %d of 400 targets without effect were found\n", found);
	assert_true(found <= 8);
}

/* ---- latency ---- */

static void add_latency(struct cozk_profile *p, double s, int64_t duration, int64_t arrivals, int64_t in_flight)
{
	struct cozk_visits v = { .name = "request",
				 .type = COZK_VISITS_LATENCY,
				 .arrivals = arrivals,
				 .departures = arrivals,
				 .difference = in_flight };
	struct cozk_experiment e = { .selected = "a.c:1",
				     .speedup_ppm = (uint32_t)lround(s * 1e6),
				     .duration_ns = duration,
				     .visits = &v,
				     .visits_len = 1 };

	assert_int_equal(cozk_profile_add_window(p, &e), 0);
}

static void test_latency_definition(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;

	(void)state;
	add_latency(&p, 0, 1000000000, 1000, 20);
	add_latency(&p, 0, 3000000000, 3000, 16);
	add_latency(&p, 0.5, 2000000000, 1600, 10);
	analyse(&p, &defaults, &a);
	/* in flight (20 + 3 * 16) / 4 = 17, at 1000 a second; 10 at 800 a second */
	near(a.baseline.period_ns, 17e6, 1);
	near(a.findings[0].effects[0].period_ns, 12.5e6, 1);
	/* less latency is better, so up */
	near(a.findings[0].effects[0].x.value, (17 - 12.5) / 17, 1e-9);
	cozk_analysis_deinit(&a);
	cozk_profile_deinit(&p);
}

static void test_latency(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_analysis a;
	int covered = 0, profiles = 200;

	(void)state;
	random_state = 9;
	for (int r = 0; r < profiles; r++) {
		for (int i = 0; i < 24; i++) {
			bool half = i % 3 == 0;

			/* 1000 requests a second; 20 ms in the system, 15 ms when sped up */
			add_latency(&p, half ? 0.5 : 0, 1000000000, lround(1000 + 20 * normal()),
				    lround((half ? 15 : 20) + 3 * normal()));
		}
		analyse(&p, &defaults, &a);
		covered += a.findings[0].effects[0].x.lo <= 0.25 && a.findings[0].effects[0].x.hi >= 0.25;
		cozk_analysis_deinit(&a);
		cozk_profile_deinit(&p);
	}
	print_message("# latency: %d of %d intervals hold the truth\n", covered, profiles);
	assert_true(covered >= profiles * 0.90);
}

static void test_throughput(void **state)
{
	(void)state;
	near(cozk_stats_throughput(0.5), 1, 1e-12);
	near(cozk_stats_throughput(0.2), 0.25, 1e-12);
	near(cozk_stats_throughput(-0.25), -0.2, 1e-12);
	assert_true(isinf(cozk_stats_throughput(1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_baseline_rules),
		cmocka_unit_test(test_runs_are_strata),
		cmocka_unit_test(test_end_to_end),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_no_visits),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_noise_is_no_finding),
		cmocka_unit_test(test_latency_definition),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_bootstrap_agrees),
		cmocka_unit_test(test_coverage_regular),
		cmocka_unit_test(test_coverage_many_windows),
		cmocka_unit_test(test_coverage_single_windows),
		cmocka_unit_test(test_coverage_clockwork),
		cmocka_unit_test(test_coverage_few_visits),
		cmocka_unit_test(test_coverage_no_effect),
		cmocka_unit_test(test_coverage_drift),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
