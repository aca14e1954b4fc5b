// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How an effect gets its interval.
 *
 * A cell is all windows of one (target, speedup); all windows at speedup 0 are one cell, the
 * baseline. A cell's visits V over its duration D give its rate. Counts are noisy: their variance
 * is taken as proportional to what is expected, dispersion * V, with the dispersion measured from
 * how windows of a cell differ. Cells often hold one to five windows, too few to know their own
 * noise (a bootstrap over them gives intervals that cover far too little), so each cell's
 * dispersion is drawn towards that of all cells (stats_cells.c).
 *
 * A cell is compared with the baseline inside strata (runs, or blocks of a run) and the strata are
 * combined by Mantel and Haenszel's weights; with one stratum that is just the ratio of the two
 * rates. The logarithm of the ratio has, after Greenland and Robins, nearly a normal distribution:
 * its interval comes from Student's t with Welch's degrees of freedom.
 */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats_internal.h"

/* ---- collecting ---- */

static const struct cozk_visits *find_visits(const struct cozk_experiment *e, uint32_t point)
{
	for (size_t i = 0; i < e->visits_len; i++) {
		if (e->visits[i].point == point)
			return &e->visits[i];
	}
	return NULL;
}

static void obs_fill(struct cozk_obs *o, const struct cozk_experiment *e, const struct cozk_visits *v, bool whole,
		     enum cozk_baseline_rule rule)
{
	bool latency = v->type == COZK_VISITS_LATENCY;

	*o = (struct cozk_obs){
		.group = rule == COZK_BASELINE_POOLED && e->speedup_ppm == 0 ? 0 : e->target + 1,
		.target = e->target,
		.speedup_ppm = e->speedup_ppm,
		.run = whole ? 0 : e->run,
		.block = whole ? 0 : e->block,
		.d = (double)e->duration_ns,
		.v = (double)(latency ? v->arrivals : v->delta),
		.l = latency ? (double)v->difference : 0,
		.hits = e->hits,
	};
}

static int obs_compare(const void *a, const void *b)
{
	const struct cozk_obs *x = a, *y = b;

#define BY(field)                                            \
	do {                                                 \
		if (x->field != y->field)                    \
			return x->field < y->field ? -1 : 1; \
	} while (0)
	BY(group);
	BY(speedup_ppm);
	BY(run);
	BY(block);
#undef BY
	return 0;
}

static int collect(const struct cozk_profile *p, const struct cozk_stats_options *options, struct cozk_cells *w,
		   struct cozk_analysis *ret)
{
	w->obs = calloc(p->windows_len + 1, sizeof(*w->obs));
	if (!w->obs)
		return -ENOMEM;
	for (size_t i = 0; i < p->windows_len; i++) {
		const struct cozk_experiment *e = &p->windows[i];
		const struct cozk_visits *v = find_visits(e, ret->point);
		enum cozk_window_fault fault = cozk_window_judge(p, e);
		bool whole = cozk_window_is_whole_run(p, e);

		if (!v || (options->run != COZK_RUN_ALL && options->run != e->run))
			continue;
		if (options->keep_all && fault != COZK_WINDOW_NO_DURATION)
			fault = COZK_WINDOW_GOOD;
		ret->faults[fault]++;
		w->exact |= whole;
		if (fault == COZK_WINDOW_GOOD)
			obs_fill(&w->obs[w->obs_len++], e, v, whole, options->baseline);
	}
	qsort(w->obs, w->obs_len, sizeof(*w->obs), obs_compare);
	return 0;
}

static void fill_baseline(const struct cozk_cells *w, struct cozk_baseline *b)
{
	double d = 0, v = 0, l = 0;

	for (size_t i = 0; i < w->obs_len; i++) {
		if (w->obs[i].speedup_ppm)
			continue;
		b->windows++;
		d += w->obs[i].d;
		v += w->obs[i].v;
		l += w->obs[i].l * w->obs[i].d;
	}
	b->visits = (int64_t)v;
	b->duration_ns = (int64_t)d;
	b->period_ns = v > 0 ? (w->latency ? l / v : d / v) : NAN;
}

static void fill_effect(const struct cozk_cells *w, const struct cozk_cell *c, const struct cozk_ratio *ratio,
			struct cozk_effect *e)
{
	const struct cozk_obs *end = c->o + c->n;
	double scale = w->latency ? cozk_obs_in_flight(c->o, end) : 1;

	*e = (struct cozk_effect){
		.speedup_ppm = c->o->speedup_ppm,
		.windows = c->n,
		.visits = (int64_t)c->v,
		.duration_ns = (int64_t)c->d,
		.period_ns = c->v > 0 ? scale * c->d / c->v : NAN,
	};
	for (const struct cozk_obs *o = c->o; o < end; o++)
		e->hits += o->hits;
	cozk_effect_estimate(e, ratio);
}

static bool is_effect_on(const struct cozk_cell *c, uint32_t target)
{
	return c->o->group == target + 1 && c->o->speedup_ppm > 0;
}

/* The cells and ratios of one target become a finding. */
static int fill_finding(const struct cozk_cells *w, uint32_t target, const struct cozk_ratio *ratios,
			struct cozk_finding *f)
{
	struct cozk_ratio *own;
	size_t n = 0;

	*f = (struct cozk_finding){ .target = target };
	for (size_t i = 0; i < w->cells_len; i++)
		n += is_effect_on(&w->cells[i], target);
	own = calloc(n + 1, sizeof(*own));
	f->effects = calloc(n + 1, sizeof(*f->effects));
	if (!own || !f->effects) {
		free(own);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->cells_len; i++) {
		if (!is_effect_on(&w->cells[i], target))
			continue;
		own[f->effects_len] = ratios[i];
		fill_effect(w, &w->cells[i], &ratios[i], &f->effects[f->effects_len++]);
	}
	for (size_t i = 0; i < w->obs_len; i++) {
		if (w->obs[i].target != target)
			continue;
		f->windows++;
		f->hits += w->obs[i].hits;
		f->visits += (int64_t)w->obs[i].v;
	}
	cozk_finding_conclude(f, own);
	free(own);
	return 0;
}

static int fill_findings(const struct cozk_cells *w, size_t targets, const struct cozk_ratio *ratios,
			 struct cozk_analysis *ret)
{
	bool *seen = calloc(targets + 1, sizeof(*seen));
	int err = 0;

	ret->findings = calloc(targets + 1, sizeof(*ret->findings));
	if (!seen || !ret->findings) {
		free(seen);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->obs_len; i++)
		seen[w->obs[i].target] = true;
	for (size_t t = 0; t < targets && !err; t++) {
		if (seen[t])
			err = fill_finding(w, (uint32_t)t, ratios, &ret->findings[ret->findings_len++]);
	}
	free(seen);
	return err ? err : cozk_analysis_conclude(ret);
}

static int compare_and_fill(struct cozk_cells *w, const struct cozk_profile *p,
			    const struct cozk_stats_options *options, struct cozk_analysis *ret)
{
	struct cozk_ratio *plain = calloc(2 * w->cells_len + 1, sizeof(*plain)), *blocks;
	int err;

	if (!plain)
		return -ENOMEM;
	blocks = plain + w->cells_len;
	cozk_cells_compare(w, options->baseline, COZK_LEVEL_RUN, plain);
	ret->by_block = !w->latency && cozk_cells_compare_in_blocks(w, options->baseline, plain, blocks);
	err = fill_findings(w, p->targets_len, ret->by_block ? blocks : plain, ret);
	free(plain);
	return err;
}

int cozk_stats_analyse(const struct cozk_profile *p, uint32_t point, const struct cozk_stats_options *options,
		       struct cozk_analysis *ret)
{
	struct cozk_cells w = { .latency = p->points[point].type == COZK_VISITS_LATENCY };
	int err;

	*ret = (struct cozk_analysis){ .point = point };
	err = collect(p, options, &w, ret);
	if (!err && !options->keep_all && !w.latency) {
		int marked = cozk_cells_mark_outliers(&w);

		if (marked > 0) {
			cozk_cells_drop_outliers(&w);
			ret->faults[COZK_WINDOW_OUTLIER] += (size_t)marked;
			ret->faults[COZK_WINDOW_GOOD] -= (size_t)marked;
		}
		err = marked < 0 ? marked : 0;
	}
	if (!err)
		err = cozk_cells_make(&w);
	if (!err) {
		ret->dispersion = w.pool;
		fill_baseline(&w, &ret->baseline);
		err = compare_and_fill(&w, p, options, ret);
	}
	free(w.cells);
	free(w.obs);
	if (err)
		cozk_analysis_deinit(ret);
	return err;
}

void cozk_analysis_deinit(struct cozk_analysis *a)
{
	for (size_t i = 0; i < a->findings_len; i++)
		free(a->findings[i].effects);
	free(a->findings);
	*a = (struct cozk_analysis){ 0 };
}
