/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_STATS_H
#define COZK_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/*
 * From windows to effects. Pure: no I/O, no clock, no randomness.
 *
 * p(s) is time per visit at virtual speedup s, duration over visits; program speedup x(s) = (p(0) -
 * p(s)) / p(0), Coz's definition. For latency points p is the mean latency by Little's law, and
 * less is better: x > 0 is an improvement for both. A number that cannot be given is NaN.
 */

/* An estimate with its 95 % interval; lo and hi are NaN when the noise is not known. */
struct cozk_estimate {
	double value;
	double lo;
	double hi;
	double se; /* standard error */
	double df; /* degrees of freedom behind se */
};

/* Why a window does not count; 0 is a good window. */
enum cozk_window_fault {
	COZK_WINDOW_GOOD,
	COZK_WINDOW_NO_DURATION, /* zero, negative or underflowed */
	COZK_WINDOW_CUT,	 /* the program ended in it */
	COZK_WINDOW_UNPAID,	 /* debts not paid as owed: not the experiment it says */
	COZK_WINDOW_OUTLIER,	 /* far from its fellows, and few are */
	COZK_WINDOW_FAULTS,
};

const char *cozk_window_fault_text(enum cozk_window_fault fault);

/* Judges a window of @p by its own numbers; never COZK_WINDOW_OUTLIER. */
enum cozk_window_fault cozk_window_judge(const struct cozk_profile *p, const struct cozk_experiment *e);

/*
 * An end-to-end measurement: the only window of its run, from start to exit. Runs are then what
 * windows are otherwise.
 */
bool cozk_window_is_whole_run(const struct cozk_profile *p, const struct cozk_experiment *e);

/* One (target, point, speedup). */
struct cozk_effect {
	uint32_t speedup_ppm;
	size_t windows;
	uint64_t hits;
	int64_t visits; /* delta, or arrivals of a latency point */
	int64_t duration_ns;
	double period_ns;	/* p(s) */
	struct cozk_estimate x; /* program speedup, 1 is 100 % */
	double p_value;		/* of no effect */
};

enum cozk_shape {
	COZK_SHAPE_UNKNOWN, /* too little data to say */
	COZK_SHAPE_NONE,    /* no effect: the interval holds 0 and is narrow */
	COZK_SHAPE_NOISE,   /* the interval holds 0 and is so wide that it says nothing */
	COZK_SHAPE_LINEAR,
	COZK_SHAPE_PLATEAU, /* no further gain beyond shape_at */
	COZK_SHAPE_PEAK,    /* gains up to shape_at, losses beyond */
	COZK_SHAPE_SLOWER,  /* contention: the faster this is, the slower the program */
};

/* One (target, point). */
struct cozk_finding {
	uint32_t target;	     /* index into cozk_profile.targets */
	struct cozk_effect *effects; /* speedups > 0 in rising order */
	size_t effects_len;
	size_t windows; /* good ones, of this target, speedup 0 included */
	uint64_t hits;
	int64_t visits;
	struct cozk_estimate slope; /* of x against s, through the origin */
	size_t best;		    /* index of the most useful tried speedup; SIZE_MAX: none */
	enum cozk_shape shape;
	double shape_at;  /* a speedup, 0 to 1 */
	double p_value;	  /* of no effect at any speedup */
	bool significant; /* told from noise, with all targets of the point in view */
};

/* What all findings for one point are compared with. */
struct cozk_baseline {
	size_t windows;
	int64_t visits;
	int64_t duration_ns;
	double period_ns;
};

/* All about one point. */
struct cozk_analysis {
	uint32_t point;
	struct cozk_baseline baseline;
	struct cozk_finding *findings; /* in the order of targets, without those never tried */
	size_t findings_len;
	size_t faults[COZK_WINDOW_FAULTS]; /* windows by fault, good ones too */
	bool by_block;			   /* compared within blocks: the program changed over time */
	double dispersion;		   /* noise relative to Poisson counts; NaN if not known */
};

enum cozk_baseline_rule {
	COZK_BASELINE_POOLED, /* all windows at speedup 0: physically they are the same */
	COZK_BASELINE_OWN,    /* only the target's own, as Coz's viewer does */
};

#define COZK_RUN_ALL SIZE_MAX

struct cozk_stats_options {
	size_t run; /* index, or COZK_RUN_ALL: effects within runs, then combined */
	enum cozk_baseline_rule baseline;
	bool keep_all; /* no window is left out but those without a duration */
};

/*
 * Analyses @point (index into cozk_profile.points). Returns 0 or -ENOMEM; a point without data
 * gives an empty analysis. Free with cozk_analysis_deinit().
 */
int cozk_stats_analyse(const struct cozk_profile *p, uint32_t point, const struct cozk_stats_options *options,
		       struct cozk_analysis *ret);
void cozk_analysis_deinit(struct cozk_analysis *a);

/* More throughput, as a ratio, from less time per visit: x / (1 - x). Infinite at x >= 1. */
double cozk_stats_throughput(double x);

/*
 * "linear", "plateau at 30 %", "contention: getting slower", "no effect", ... into @buf; returns
 * @buf.
 */
const char *cozk_shape_text(const struct cozk_finding *f, char *buf, size_t len);

#endif
