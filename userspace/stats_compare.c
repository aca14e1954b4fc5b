// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see stats_internal.h) Cells against the baseline, within runs or within blocks. */
#include <math.h>

#include "stats_internal.h"

/* Comparing within blocks must promise this much less variance: below 1, or chance would choose. */
static const double BLOCK_GAIN = 0.6;
static const double BLOCK_MIN_DF = 8;

/* ---- comparing a cell with the baseline ---- */

/* Adds one stratum's share of Mantel and Haenszel's ratio of rates. */
struct mantel {
	double num, den;	     /* the ratio */
	double from_cell, from_base; /* parts of Greenland and Robins' variance */
	size_t strata;
};

static void mantel_add(struct mantel *m, double ds, double vs, double d0, double v0)
{
	double d = ds + d0;

	m->num += vs * d0 / d;
	m->den += v0 * ds / d;
	m->from_cell += ds * d0 * v0 / (d * d);
	m->from_base += ds * d0 * vs / (d * d);
	m->strata++;
}

static bool same_stratum(const struct cozk_obs *a, const struct cozk_obs *b, enum cozk_level level)
{
	return a->run == b->run && (level == COZK_LEVEL_RUN || a->block == b->block);
}

static bool stratum_before(const struct cozk_obs *a, const struct cozk_obs *b)
{
	return a->run != b->run ? a->run < b->run : a->block < b->block;
}

/*
 * The next stratum that both lists have windows in, as [*a, *a_end) and [*b, *b_end); false at the
 * end of either.
 */
static bool next_common(const struct cozk_obs **a, const struct cozk_obs **a_end, const struct cozk_obs *a_last,
			const struct cozk_obs **b, const struct cozk_obs **b_end, const struct cozk_obs *b_last,
			enum cozk_level level)
{
	*a = *a_end;
	*b = *b_end;
	while (*a < a_last && *b < b_last) {
		if (same_stratum(*a, *b, level)) {
			*a_end = cozk_obs_stratum_end(*a, a_last, level);
			*b_end = cozk_obs_stratum_end(*b, b_last, level);
			return true;
		}
		if (stratum_before(*a, *b))
			*a = cozk_obs_stratum_end(*a, a_last, level);
		else
			*b = cozk_obs_stratum_end(*b, b_last, level);
	}
	return false;
}

#define FOR_EACH_COMMON(cell, base, level)                                                       \
	for (const struct cozk_obs *a = NULL, *a_end = (cell)->o, *b = NULL, *b_end = (base)->o; \
	     next_common(&a, &a_end, (cell)->o + (cell)->n, &b, &b_end, (base)->o + (base)->n, level);)

static void compare_throughput(const struct cozk_cells *w, const struct cozk_cell *c, const struct cozk_cell *base,
			       enum cozk_level level, struct cozk_ratio *ret)
{
	struct mantel m = { 0 };
	double phi_c, phi_0;

	FOR_EACH_COMMON(c, base, level)
	mantel_add(&m, cozk_obs_duration(a, a_end), cozk_obs_visits(a, a_end), cozk_obs_duration(b, b_end),
		   cozk_obs_visits(b, b_end));
	if (!(m.num > 0 && m.den > 0))
		return;
	phi_c = cozk_cell_dispersion(w, c, &ret->df_own);
	phi_0 = cozk_cell_dispersion(w, base, &ret->df_base);
	ret->log_ratio = log(m.num / m.den);
	ret->var_own = phi_c * m.from_cell / (m.num * m.den);
	ret->var_base = phi_0 * m.from_base / (m.num * m.den);
	ret->weight = m.num * m.den / (m.from_cell + m.from_base);
}

/* Runs are combined by how many windows they bring. */
static void compare_latency(const struct cozk_cells *w, const struct cozk_cell *c, const struct cozk_cell *base,
			    struct cozk_ratio *ret)
{
	double kappa_c = cozk_cell_dispersion(w, c, &ret->df_own);
	double kappa_0 = cozk_cell_dispersion(w, base, &ret->df_base);
	double sum = 0, weight = 0, own = 0, shared = 0;

	FOR_EACH_COMMON(c, base, COZK_LEVEL_RUN)
	{
		double ns = (double)(a_end - a), n0 = (double)(b_end - b);
		double share = ns * n0 / (ns + n0);
		double ps = cozk_obs_in_flight(a, a_end) * cozk_obs_duration(a, a_end) / cozk_obs_visits(a, a_end);
		double p0 = cozk_obs_in_flight(b, b_end) * cozk_obs_duration(b, b_end) / cozk_obs_visits(b, b_end);

		if (!(ps > 0 && p0 > 0 && isfinite(ps) && isfinite(p0)))
			continue;
		sum += share * log(p0 / ps);
		own += share * share / ns;
		shared += share * share / n0;
		weight += share;
	}
	if (!(weight > 0))
		return;
	ret->log_ratio = sum / weight;
	ret->var_own = kappa_c * own / (weight * weight);
	ret->var_base = kappa_0 * shared / (weight * weight);
	ret->weight = weight;
}

/*
 * How much a cell's blocks disagree about its ratio to the baseline: what is left of the noise
 * within blocks.
 */
static void block_disagreement(const struct cozk_cell *c, const struct cozk_cell *base, double ratio, double *x2,
			       double *df)
{
	double blocks = 0;

	*x2 = 0;
	FOR_EACH_COMMON(c, base, COZK_LEVEL_BLOCK)
	{
		double vs = cozk_obs_visits(a, a_end), total = vs + cozk_obs_visits(b, b_end);
		double odds = ratio * cozk_obs_duration(a, a_end) / cozk_obs_duration(b, b_end);
		double q = odds / (1 + odds), r = vs - total * q;

		if (total <= 0)
			continue;
		*x2 += r * r / (total * q * (1 - q));
		blocks++;
	}
	*df = fmax(blocks - 1, 0);
}

/* ---- one point ---- */

static const struct cozk_cell *find_cell(const struct cozk_cells *w, uint32_t group, uint32_t speedup_ppm)
{
	for (size_t i = 0; i < w->cells_len; i++) {
		if (w->cells[i].o->group == group && w->cells[i].o->speedup_ppm == speedup_ppm)
			return &w->cells[i];
	}
	return NULL;
}

static const struct cozk_cell *baseline_of(const struct cozk_cells *w, const struct cozk_cell *c,
					   enum cozk_baseline_rule rule)
{
	return find_cell(w, rule == COZK_BASELINE_POOLED ? 0 : c->o->group, 0);
}

void cozk_cells_compare(const struct cozk_cells *w, enum cozk_baseline_rule rule, enum cozk_level level,
			struct cozk_ratio *ratios)
{
	for (size_t i = 0; i < w->cells_len; i++) {
		const struct cozk_cell *c = &w->cells[i], *base = baseline_of(w, c, rule);

		ratios[i] = (struct cozk_ratio){ .log_ratio = NAN, .var_own = NAN, .var_base = NAN, .weight = NAN };
		if (c->o->speedup_ppm == 0 || !base)
			continue;
		if (w->latency)
			compare_latency(w, c, base, &ratios[i]);
		else
			compare_throughput(w, c, base, level, &ratios[i]);
	}
}

/*
 * How much the blocks of all cells disagree: the noise within blocks. Returns false if a cell lost
 * its estimate.
 */
static bool pool_blocks(const struct cozk_cells *w, enum cozk_baseline_rule rule, const struct cozk_ratio *plain,
			const struct cozk_ratio *ratios, double *pool, double *pool_df)
{
	double sum = 0, x2, df;

	*pool_df = 0;
	for (size_t i = 0; i < w->cells_len; i++) {
		if (isnan(plain[i].log_ratio))
			continue;
		if (isnan(ratios[i].log_ratio))
			return false;
		block_disagreement(&w->cells[i], baseline_of(w, &w->cells[i], rule), exp(ratios[i].log_ratio), &x2,
				   &df);
		sum += x2;
		*pool_df += df;
	}
	*pool = sum / *pool_df;
	return true;
}

bool cozk_cells_compare_in_blocks(const struct cozk_cells *w, enum cozk_baseline_rule rule,
				  const struct cozk_ratio *plain, struct cozk_ratio *ratios)
{
	double pool, pool_df, gain = 0, cells = 0;

	cozk_cells_compare(w, rule, COZK_LEVEL_BLOCK, ratios);
	if (!pool_blocks(w, rule, plain, ratios, &pool, &pool_df) || pool_df < BLOCK_MIN_DF)
		return false;
	for (size_t i = 0; i < w->cells_len; i++) {
		const struct cozk_cell *c = &w->cells[i], *base = baseline_of(w, c, rule);
		struct cozk_ratio *r = &ratios[i];
		double phi, known, x2, df;

		if (isnan(plain[i].log_ratio))
			continue;
		block_disagreement(c, base, exp(r->log_ratio), &x2, &df);
		phi = cozk_cells_moderate(pool, pool_df, x2, df, &known);
		/* cozk_cells_compare() has put in the noise of whole runs: take it out again. */
		r->var_own *= fmax(phi, cozk_cell_dispersion_floor(w, c)) / cozk_cell_dispersion(w, c, &df);
		r->var_base *= fmax(phi, cozk_cell_dispersion_floor(w, base)) / cozk_cell_dispersion(w, base, &df);
		r->df_own = r->df_base = known;
		gain += log((r->var_own + r->var_base) / (plain[i].var_own + plain[i].var_base));
		cells++;
	}
	return cells > 0 && exp(gain / cells) < BLOCK_GAIN;
}
