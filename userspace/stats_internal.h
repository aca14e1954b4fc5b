/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_STATS_INTERNAL_H
#define COZK_STATS_INTERNAL_H

#include "stats.h"

/* One good window, as seen from one point. */
struct cozk_obs {
	uint32_t group; /* target + 1; 0 for the pooled baseline */
	uint32_t target;
	uint32_t speedup_ppm;
	uint32_t run;
	uint32_t block;
	double d; /* duration, ns */
	double v; /* visits or arrivals */
	double l; /* mean number in flight, of a latency point */
	uint64_t hits;
	bool outlier;
};

struct cozk_cell {
	const struct cozk_obs *o;
	size_t n;
	double d, v;
	double x2; /* sum of squared standardised residuals */
	double df; /* what is left of n after each stratum's mean */
};

enum cozk_level { COZK_LEVEL_RUN, COZK_LEVEL_BLOCK };

struct cozk_cells {
	struct cozk_obs *obs;
	size_t obs_len;
	struct cozk_cell *cells; /* by (group, speedup) */
	size_t cells_len;
	bool latency;
	bool exact;  /* counts are no matter of where a window happens to start: end to end */
	double pool; /* dispersion over all cells */
	double pool_df;
};

/* stats_cells.c */
/* End of the windows that share a stratum of a cell with *o. */
const struct cozk_obs *cozk_obs_stratum_end(const struct cozk_obs *o, const struct cozk_obs *end,
					    enum cozk_level level);
double cozk_obs_duration(const struct cozk_obs *o, const struct cozk_obs *end);
double cozk_obs_visits(const struct cozk_obs *o, const struct cozk_obs *end);
/* Mean number in flight: each window's, weighted by its duration, as Coz's viewer does. */
double cozk_obs_in_flight(const struct cozk_obs *o, const struct cozk_obs *end);
/*
 * Marks windows that something else disturbed: far outside the spread of all windows around their
 * own stratum's median. Many such are no accident but what the program is like, and then none is
 * left out. Returns the number marked or -ENOMEM.
 */
int cozk_cells_mark_outliers(struct cozk_cells *w);
void cozk_cells_drop_outliers(struct cozk_cells *w);
/* Finds the cells among the sorted windows, and the noise. Returns 0 or -ENOMEM. */
int cozk_cells_make(struct cozk_cells *w);
/* A cell's own noise drawn towards that of all; *df tells how well it is known then. */
double cozk_cells_moderate(double pool, double pool_df, double x2, double own_df, double *df);
double cozk_cell_dispersion(const struct cozk_cells *w, const struct cozk_cell *c, double *df);
/*
 * Variance of the count of @c, relative to Poisson's, that is there even if the program is a clock;
 * 0 if none is.
 */
double cozk_cell_dispersion_floor(const struct cozk_cells *w, const struct cozk_cell *c);

/*
 * A cell's rate (inverse of time per visit) relative to the baseline's: NaN where nothing can be
 * said.
 */
struct cozk_ratio {
	double log_ratio;
	double var_own; /* variance of it from the cell's own windows ... */
	double df_own;
	double var_base; /* ... and from the baseline, which all cells share */
	double df_base;
	double weight; /* relative precision, known even where the noise is not */
};

/* stats_compare.c */
/* The ratio of each cell to its baseline; NaN for the baselines themselves. */
void cozk_cells_compare(const struct cozk_cells *w, enum cozk_baseline_rule rule, enum cozk_level level,
			struct cozk_ratio *ratios);
/*
 * Ratios within blocks into @ratios, where they are clearly better known than @plain; returns
 * whether they are.
 */
bool cozk_cells_compare_in_blocks(const struct cozk_cells *w, enum cozk_baseline_rule rule,
				  const struct cozk_ratio *plain, struct cozk_ratio *ratios);

/* stats_effect.c */
void cozk_effect_estimate(struct cozk_effect *e, const struct cozk_ratio *ratio);
/* Slope, best, shape and p-value from the effects; @ratios belong to the effects one by one. */
void cozk_finding_conclude(struct cozk_finding *f, const struct cozk_ratio *ratios);
/* Which findings stand out, with the number of targets tried in view. */
int cozk_analysis_conclude(struct cozk_analysis *a);

#endif
