// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see stats_internal.h) From ratios of rates to effects, slopes, shapes and verdicts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats_internal.h"
#include "student.h"

static const double ALPHA = 0.05;
static const double SPEEDUP_ONE = 1e6;
/* A slope whose whole interval is within this of 0 is no effect; a wider one is not known. */
static const double SLOPE_OF_NOTE = 0.15;
/*
 * How much better, in units of variance, a bent curve must fit than a straight one, and how steep
 * its end must be.
 */
static const double BEND_GAIN = 7;
static const double BEND_Z = 2.5;

const char *cozk_window_fault_text(enum cozk_window_fault fault)
{
	switch (fault) {
	case COZK_WINDOW_GOOD:
		return "good";
	case COZK_WINDOW_NO_DURATION:
		return "without a valid duration";
	case COZK_WINDOW_CUT:
		return "cut short by the end of the program";
	case COZK_WINDOW_UNPAID:
		return "whose delays were not carried out as owed";
	case COZK_WINDOW_OUTLIER:
		return "far from all others of their kind";
	case COZK_WINDOW_FAULTS:
		break;
	}
	return "?";
}

bool cozk_window_is_whole_run(const struct cozk_profile *p, const struct cozk_experiment *e)
{
	if (p->runs[e->run].windows != 1)
		return false;
	for (size_t i = 0; i < e->visits_len; i++) {
		if (strcmp(e->visits[i].name, COZK_END_TO_END_POINT) == 0)
			return true;
	}
	return e->unit == COZK_UNIT_END_TO_END;
}

enum cozk_window_fault cozk_window_judge(const struct cozk_profile *p, const struct cozk_experiment *e)
{
	const double unpaid_share = 0.1, unpaid_wall = 0.02, surplus_wall = 0.05, forgiven_wall = 0.1;
	double threads = e->threads ? e->threads : 1, wall = (double)e->wall_ns * threads;
	/*
	 * owed is what pauses had to set off; what edges credited or settling forgave is not in it
	 * (uapi/cozk.h).
	 */
	double gap = fabs((double)e->owed_ns - (double)e->paid_ns);

	if (e->duration_ns <= 0)
		return COZK_WINDOW_NO_DURATION;
	if (e->end_reason && strcmp(e->end_reason, "exit") == 0 && !cozk_window_is_whole_run(p, e))
		return COZK_WINDOW_CUT;
	/* Sums over threads, so the slack is per thread; a file of Coz's has zeros here. */
	if (gap > unpaid_share * (double)e->owed_ns + unpaid_wall * wall ||
	    (double)e->surplus_ns > surplus_wall * wall || (double)e->forgiven_ns > forgiven_wall * wall)
		return e->wall_ns ? COZK_WINDOW_UNPAID : COZK_WINDOW_GOOD;
	return COZK_WINDOW_GOOD;
}

/* Degrees of freedom of a sum of two estimated variances, after Welch and Satterthwaite. */
static double welch(double a, double a_df, double b, double b_df)
{
	double by = (a > 0 ? a * a / a_df : 0) + (b > 0 ? b * b / b_df : 0);

	return by > 0 ? (a + b) * (a + b) / by : NAN;
}

void cozk_effect_estimate(struct cozk_effect *e, const struct cozk_ratio *r)
{
	double var = r->var_own + r->var_base, se = sqrt(var), margin;

	e->x = (struct cozk_estimate){ .value = -expm1(-r->log_ratio), .lo = NAN, .hi = NAN, .se = NAN, .df = NAN };
	e->p_value = NAN;
	if (!isfinite(var))
		return;
	e->x.df = welch(r->var_own, r->df_own, r->var_base, r->df_base);
	e->x.se = exp(-r->log_ratio) * se;
	margin = cozk_student_critical(ALPHA, e->x.df) * se;
	e->x.lo = -expm1(-(r->log_ratio - margin));
	e->x.hi = -expm1(-(r->log_ratio + margin));
	e->p_value = cozk_student_two_sided(r->log_ratio / se, e->x.df);
}

/* ---- slope ---- */

static bool usable(const struct cozk_effect *e)
{
	return isfinite(e->x.value) && e->x.value < 1;
}

static double speedup(const struct cozk_effect *e)
{
	return e->speedup_ppm / SPEEDUP_ONE;
}

/* Sums of a weighted least squares fit through the origin, and of its variance. */
struct fit {
	double sxx, sxy;
	double own, own_by_df; /* variance from the cells' own noise, and for Welch's rule */
	double base, base_df;  /* square root of the variance from the baseline */
};

/*
 * x = 1 - exp(-log_ratio), so noise of the logarithm counts 1 - x times, and weights go with
 * 1 / (1 - x)^2 and with the visits, which go with 1 / (1 - x). Taking x there from @slope and not
 * from each effect keeps lucky ones from getting more weight. All effects share the baseline and
 * its error, which therefore does not average out: its part is summed before it is squared.
 */
static void fit_add(struct fit *fit, const struct cozk_effect *e, const struct cozk_ratio *r, double slope)
{
	const double least = 0.02;
	double s = speedup(e), g = fmax(1 - slope * s, least);
	double w = r->weight * (1 - e->x.value) / (g * g * g);
	double part = w * s * g * w * s * g * r->var_own;

	fit->sxx += w * s * s;
	fit->sxy += w * s * e->x.value;
	fit->own += part;
	fit->own_by_df += part * part / r->df_own;
	fit->base += w * s * g * sqrt(r->var_base);
	fit->base_df = r->df_base;
}

static void fit_slope(struct cozk_finding *f, const struct cozk_ratio *ratios)
{
	const int rounds = 4;
	struct fit fit = { 0 };
	double slope = 0, var, margin;

	f->slope = (struct cozk_estimate){ NAN, NAN, NAN, NAN, NAN };
	for (int round = 0; round < rounds; round++) {
		fit = (struct fit){ 0 };
		for (size_t i = 0; i < f->effects_len; i++) {
			if (usable(&f->effects[i]))
				fit_add(&fit, &f->effects[i], &ratios[i], slope);
		}
		if (!(fit.sxx > 0))
			return;
		slope = fit.sxy / fit.sxx;
	}
	f->slope.value = slope;
	var = fit.own + fit.base * fit.base;
	if (!isfinite(var) || !(var > 0))
		return;
	f->slope.df = var * var / (fit.own_by_df + pow(fit.base, 4) / fit.base_df);
	f->slope.se = sqrt(var) / fit.sxx;
	margin = cozk_student_critical(ALPHA, f->slope.df) * f->slope.se;
	f->slope.lo = slope - margin;
	f->slope.hi = slope + margin;
}

/* ---- verdict ---- */

/*
 * Two looks at the same data, the slope and the strongest single effect, so the smaller p counts
 * twice (Bonferroni); among k effects the smallest counts k times.
 */
static void judge_finding(struct cozk_finding *f)
{
	double smallest = NAN, tried = 0;
	double p_slope = cozk_student_two_sided(f->slope.value / f->slope.se, f->slope.df);

	for (size_t i = 0; i < f->effects_len; i++) {
		if (isnan(f->effects[i].p_value))
			continue;
		tried++;
		smallest = fmin(smallest, f->effects[i].p_value);
	}
	if (tried == 1)
		f->p_value = smallest;
	else
		f->p_value = fmin(1, 2 * fmin(p_slope, smallest * tried));
}

/*
 * The most useful tried speedup is the one that surely gains most; for a slope down, the one that
 * surely loses most.
 */
static void find_best(struct cozk_finding *f)
{
	bool down = f->slope.value < 0;
	double score = -INFINITY;

	f->best = SIZE_MAX;
	for (size_t i = 0; i < f->effects_len; i++) {
		const struct cozk_estimate *x = &f->effects[i].x;
		double sure = down ? -x->hi : x->lo, guess = down ? -x->value : x->value;

		if (!isfinite(x->value))
			continue;
		if (isnan(sure))
			sure = guess - 1e9; /* any known interval is better than none */
		if (f->best == SIZE_MAX || sure > score) {
			f->best = i;
			score = sure;
		}
	}
}

static int p_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* ---- shape ---- */

/* x = k * min(s, at) + m * max(0, s - at), fitted with weights. */
struct bend {
	double at, k, m;
	double m_se;
	double sse;
};

/* Weights are inverse variances: residuals are then in standard deviations. */
static double effect_weight(const struct cozk_effect *e)
{
	return usable(e) && e->x.se > 0 ? 1 / (e->x.se * e->x.se) : 0;
}

static void fit_bend(const struct cozk_finding *f, double at, struct bend *b)
{
	double aa = 0, ab = 0, bb = 0, ay = 0, by = 0, det;

	*b = (struct bend){ .at = at, .sse = INFINITY };
	for (size_t i = 0; i < f->effects_len; i++) {
		double w = effect_weight(&f->effects[i]), s = speedup(&f->effects[i]);
		double below = fmin(s, at), above = fmax(0, s - at);

		if (w <= 0)
			continue;
		aa += w * below * below;
		ab += w * below * above;
		bb += w * above * above;
		ay += w * below * f->effects[i].x.value;
		by += w * above * f->effects[i].x.value;
	}
	det = aa * bb - ab * ab;
	if (!(det > 1e-9 * aa * bb))
		return;
	b->k = (ay * bb - by * ab) / det;
	b->m = (by * aa - ay * ab) / det;
	b->m_se = sqrt(aa / det);
	b->sse = 0;
	for (size_t i = 0; i < f->effects_len; i++) {
		double w = effect_weight(&f->effects[i]), s = speedup(&f->effects[i]);
		double r = f->effects[i].x.value - b->k * fmin(s, at) - b->m * fmax(0, s - at);

		if (w > 0)
			b->sse += w * r * r;
	}
}

/*
 * What a straight line leaves, with the weights of fit_bend(). Returns the number of effects it
 * saw.
 */
static size_t straight_fit(const struct cozk_finding *f, double *sse)
{
	double sxx = 0, sxy = 0, yy = 0;
	size_t n = 0;

	for (size_t i = 0; i < f->effects_len; i++) {
		double w = effect_weight(&f->effects[i]), s = speedup(&f->effects[i]);
		double x = f->effects[i].x.value;

		if (w <= 0)
			continue;
		sxx += w * s * s;
		sxy += w * s * x;
		yy += w * x * x;
		n++;
	}
	*sse = n ? yy - sxy * sxy / sxx : 0;
	return n;
}

static enum cozk_shape shape_of_effect(struct cozk_finding *f)
{
	struct bend best = { .sse = INFINITY }, b;
	double straight;
	size_t n = straight_fit(f, &straight);

	for (size_t i = 0; n >= 3 && i + 1 < f->effects_len; i++) {
		fit_bend(f, speedup(&f->effects[i]), &b);
		if (b.sse < best.sse)
			best = b;
	}
	if (straight - best.sse > BEND_GAIN && best.k > 0) {
		f->shape_at = best.at;
		if (best.m < -BEND_Z * best.m_se)
			return COZK_SHAPE_PEAK;
		if (best.m < BEND_Z * best.m_se || best.m < best.k / 4)
			return COZK_SHAPE_PLATEAU;
	}
	f->shape_at = NAN;
	if (f->slope.hi < 0 || (f->best != SIZE_MAX && f->effects[f->best].x.hi < 0))
		return COZK_SHAPE_SLOWER;
	return n >= 2 ? COZK_SHAPE_LINEAR : COZK_SHAPE_UNKNOWN;
}

static void find_shape(struct cozk_finding *f)
{
	f->shape_at = NAN;
	if (f->significant)
		f->shape = shape_of_effect(f);
	else if (isnan(f->slope.lo))
		f->shape = COZK_SHAPE_UNKNOWN;
	else if (f->slope.lo > -SLOPE_OF_NOTE && f->slope.hi < SLOPE_OF_NOTE)
		f->shape = COZK_SHAPE_NONE;
	else
		f->shape = COZK_SHAPE_NOISE;
}

void cozk_finding_conclude(struct cozk_finding *f, const struct cozk_ratio *ratios)
{
	fit_slope(f, ratios);
	judge_finding(f);
	find_best(f);
}

/*
 * Of many targets without effect one in twenty looks as if it had one. Benjamini and Hochberg's
 * rule keeps the share of such among the findings below ALPHA.
 */
int cozk_analysis_conclude(struct cozk_analysis *a)
{
	double *p = calloc(a->findings_len + 1, sizeof(*p)), threshold = -1;
	size_t n = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < a->findings_len; i++) {
		if (!isnan(a->findings[i].p_value))
			p[n++] = a->findings[i].p_value;
	}
	qsort(p, n, sizeof(*p), p_compare);
	for (size_t i = 0; i < n; i++) {
		if (p[i] <= ALPHA * (double)(i + 1) / (double)n)
			threshold = p[i];
	}
	free(p);
	for (size_t i = 0; i < a->findings_len; i++) {
		a->findings[i].significant = a->findings[i].p_value <= threshold;
		find_shape(&a->findings[i]);
	}
	return 0;
}

double cozk_stats_throughput(double x)
{
	return x >= 1 ? INFINITY : x / (1 - x);
}

const char *cozk_shape_text(const struct cozk_finding *f, char *buf, size_t len)
{
	long at = isnan(f->shape_at) ? 0 : lround(f->shape_at * 100);

	switch (f->shape) {
	case COZK_SHAPE_UNKNOWN:
		snprintf(buf, len, "?");
		break;
	case COZK_SHAPE_NONE:
		snprintf(buf, len, "no effect");
		break;
	case COZK_SHAPE_NOISE:
		snprintf(buf, len, "lost in noise");
		break;
	case COZK_SHAPE_LINEAR:
		snprintf(buf, len, "linear");
		break;
	case COZK_SHAPE_PLATEAU:
		snprintf(buf, len, "plateau at %ld %%", at);
		break;
	case COZK_SHAPE_PEAK:
		snprintf(buf, len, "peak at %ld %%", at);
		break;
	case COZK_SHAPE_SLOWER:
		snprintf(buf, len, "contention: getting slower");
		break;
	}
	return buf;
}
