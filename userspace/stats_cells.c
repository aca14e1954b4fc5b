// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * (no .h: see stats_internal.h) Windows as seen from one point, grouped into cells, and how noisy
 * they are.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats_internal.h"

static const double PRIOR_DF = 4;
/*
 * A count over a window that starts at no special moment is off by this variance even if the
 * program is a clock.
 */
static const double COUNT_VARIANCE = 1.0 / 6;

/* End of the windows that share a cell, and a stratum of it, with *o. */
static const struct cozk_obs *cell_end(const struct cozk_obs *o, const struct cozk_obs *end)
{
	const struct cozk_obs *first = o;

	while (o < end && o->group == first->group && o->speedup_ppm == first->speedup_ppm)
		o++;
	return o;
}

const struct cozk_obs *cozk_obs_stratum_end(const struct cozk_obs *o, const struct cozk_obs *end, enum cozk_level level)
{
	const struct cozk_obs *first = o;

	while (o < end && o->run == first->run && (level == COZK_LEVEL_RUN || o->block == first->block))
		o++;
	return o;
}

/* ---- outliers ---- */

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), double_compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * Distance of a window's count from what its fellows' median rate expects, in Poisson standard
 * deviations.
 */
static double deviation(const struct cozk_obs *o, double rate)
{
	return rate > 0 ? (o->v - rate * o->d) / sqrt(rate * o->d) : 0;
}

static double median_rate(const struct cozk_obs *o, size_t n, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = o[i].v / o[i].d;
	return median(scratch, n);
}

int cozk_cells_mark_outliers(struct cozk_cells *w)
{
	const size_t min_fellows = 4;
	const double far = 6, min_visits = 3, most = 0.1, mad_to_sd = 1.4826;
	double *z = calloc(2 * w->obs_len + 1, sizeof(*z)), *scratch, spread;
	struct cozk_obs *end = w->obs + w->obs_len;
	size_t judged = 0, marked = 0;

	if (!z)
		return -ENOMEM;
	scratch = z + w->obs_len;
	for (int pass = 0; pass < 2; pass++) {
		spread = pass && judged ? mad_to_sd * median(z, judged) : 0;
		for (struct cozk_obs *o = w->obs, *next; o < end; o = next) {
			double rate;

			next = (struct cozk_obs *)cozk_obs_stratum_end(o, cell_end(o, end), COZK_LEVEL_RUN);
			if ((size_t)(next - o) < min_fellows)
				continue;
			rate = median_rate(o, (size_t)(next - o), scratch);
			for (struct cozk_obs *i = o; i < next; i++) {
				if (!pass) {
					z[judged++] = fabs(deviation(i, rate));
					continue;
				}
				i->outlier = rate > 0 && fabs(deviation(i, rate)) > far * spread &&
					     fabs(i->v - rate * i->d) > min_visits;
				marked += i->outlier;
			}
		}
	}
	free(z);
	if ((double)marked > most * (double)judged) {
		for (size_t i = 0; i < w->obs_len; i++)
			w->obs[i].outlier = false;
		marked = 0;
	}
	return (int)marked;
}

void cozk_cells_drop_outliers(struct cozk_cells *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->obs_len; i++) {
		if (!w->obs[i].outlier)
			w->obs[kept++] = w->obs[i];
	}
	w->obs_len = kept;
}

/* ---- cells and their noise ---- */

double cozk_obs_duration(const struct cozk_obs *o, const struct cozk_obs *end)
{
	double sum = 0;

	for (; o < end; o++)
		sum += o->d;
	return sum;
}

double cozk_obs_visits(const struct cozk_obs *o, const struct cozk_obs *end)
{
	double sum = 0;

	for (; o < end; o++)
		sum += o->v;
	return sum;
}

double cozk_obs_in_flight(const struct cozk_obs *o, const struct cozk_obs *end)
{
	double sum = 0, d = cozk_obs_duration(o, end);

	for (; o < end; o++)
		sum += o->l * o->d;
	return sum / d;
}

/*
 * Squared residuals of a stratum. Throughput: in units of Poisson variance. Latency: relative, per
 * window, of log(mean latency) = log(in flight) + log(duration) - log(arrivals).
 */
static double residuals(const struct cozk_obs *o, const struct cozk_obs *end, bool latency)
{
	double d = cozk_obs_duration(o, end), v = cozk_obs_visits(o, end), l = cozk_obs_in_flight(o, end);
	double n = (double)(end - o), x2 = 0;

	for (; o < end; o++) {
		double expected = v * o->d / d, r = o->v - expected;

		if (latency) {
			r = n * (o->d / d * (o->l - l) / l - r / v);
			x2 += r * r;
		} else {
			x2 += r * r / expected;
		}
	}
	return x2;
}

static void cell_measure(struct cozk_cell *c, bool latency)
{
	const struct cozk_obs *end = c->o + c->n, *next;

	c->d = cozk_obs_duration(c->o, end);
	c->v = cozk_obs_visits(c->o, end);
	for (const struct cozk_obs *o = c->o; o < end; o = next) {
		next = cozk_obs_stratum_end(o, end, COZK_LEVEL_RUN);
		if (cozk_obs_visits(o, next) <= 0 || (latency && cozk_obs_in_flight(o, next) <= 0))
			continue;
		c->x2 += residuals(o, next, latency);
		c->df += (double)(next - o) - 1;
	}
}

int cozk_cells_make(struct cozk_cells *w)
{
	const struct cozk_obs *end = w->obs + w->obs_len, *next;
	double x2 = 0;

	w->cells = calloc(w->obs_len + 1, sizeof(*w->cells));
	if (!w->cells)
		return -ENOMEM;
	for (const struct cozk_obs *o = w->obs; o < end; o = next) {
		struct cozk_cell *c = &w->cells[w->cells_len++];

		next = cell_end(o, end);
		*c = (struct cozk_cell){ .o = o, .n = (size_t)(next - o) };
		cell_measure(c, w->latency);
		x2 += c->x2;
		w->pool_df += c->df;
	}
	w->pool = w->pool_df > 0 ? x2 / w->pool_df : NAN;
	return 0;
}

double cozk_cells_moderate(double pool, double pool_df, double x2, double own_df, double *df)
{
	double prior = fmin(PRIOR_DF, pool_df);

	*df = prior + own_df;
	return *df > 0 ? (prior * pool + x2) / *df : NAN;
}

double cozk_cell_dispersion_floor(const struct cozk_cells *w, const struct cozk_cell *c)
{
	return w->latency || w->exact ? 0 : COUNT_VARIANCE * (double)c->n / c->v;
}

double cozk_cell_dispersion(const struct cozk_cells *w, const struct cozk_cell *c, double *df)
{
	double phi = cozk_cells_moderate(w->pool, w->pool_df, c->x2, c->df, df);
	double floor = cozk_cell_dispersion_floor(w, c);

	/* not fmax(): unknown noise stays unknown */
	return phi < floor ? floor : phi;
}
