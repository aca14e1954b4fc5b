// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "report_internal.h"
#include "table.h"

enum { WIDTH_WITHOUT_TERMINAL = 100 };

void cozk_report_defaults(struct cozk_report_options *options, FILE *out)
{
	unsigned int width = cozk_terminal_width(out);

	*options = (struct cozk_report_options){
		.stats = { .run = COZK_RUN_LAST },
		.width = width ? width : WIDTH_WITHOUT_TERMINAL,
		.colour = cozk_terminal_colour(out),
	};
}

/* ---- small helpers ---- */

size_t cozk_report_run(const struct cozk_profile *p, const struct cozk_report_options *options)
{
	size_t run = options->stats.run;

	if (run != COZK_RUN_LAST)
		return run;
	if (p->runs_len == 0)
		return COZK_RUN_ALL;
	run = p->runs_len - 1;
	for (size_t i = 0; i < p->windows_len; i++) {
		if (p->windows[i].run == run && cozk_window_is_whole_run(p, &p->windows[i]))
			return COZK_RUN_ALL;
	}
	return run;
}

static bool run_selected(size_t selected, size_t run)
{
	return selected == COZK_RUN_ALL || selected == run;
}

bool cozk_report_has_run(const struct cozk_report *r, size_t run)
{
	return run_selected(r->stats.run, run);
}

const char *cozk_report_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *cozk_report_target_name(const struct cozk_profile_target *t, char *buf, size_t len)
{
	const char *name = t->unit == COZK_UNIT_LINE ? cozk_report_base(t->name) : t->name;
	const char *first = t->chain ? strstr(t->chain, " > ") : NULL;

	/* The function a line was inlined into last is the one a person would look for. */
	if (t->unit != COZK_UNIT_LINE)
		snprintf(buf, len, "%s", name);
	else if (first && t->function)
		snprintf(buf, len, "%s %s (in %.*s)", name, t->function, (int)(first - t->chain), t->chain);
	else if (t->function)
		snprintf(buf, len, "%s %s", name, t->function);
	else
		snprintf(buf, len, "%s", name);
	return buf;
}

/* ---- samples ---- */

/* Times where every run has them, counts else: the two do not add up. */
static bool samples_have_weights(const struct cozk_report *r)
{
	for (size_t i = 0; i < r->profile->runs_len; i++) {
		const struct cozk_profile_run *run = &r->profile->runs[i];

		for (size_t k = 0; cozk_report_has_run(r, i) && k < run->samples_len; k++) {
			if (run->samples[k].count && !run->samples[k].weight_ns)
				return false;
		}
	}
	return true;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool sample_is_on(const struct cozk_sample_count *s, const struct cozk_profile_target *t)
{
	if (t->binary && s->binary && strcmp(t->binary, s->binary) != 0)
		return false;
	if (strcmp(s->location, t->name) == 0)
		return true;
	return t->unit == COZK_UNIT_FUNCTION && same_text(s->function, t->name);
}

static void add_run_samples(struct cozk_report *r, const struct cozk_profile_run *run, bool weights)
{
	const struct cozk_profile *p = r->profile;

	r->samples.lost += run->runtime.samples_lost;
	r->samples.unresolved += run->runtime.samples_unresolved;
	for (size_t i = 0; i < run->samples_len; i++) {
		const struct cozk_sample_count *s = &run->samples[i];
		double weight = (double)(weights ? s->weight_ns : s->count);

		r->samples.known = true;
		r->samples.total += weight;
		*(s->in_scope ? &r->samples.in_scope : &r->samples.out_of_scope) += s->count;
		for (size_t t = 0; t < p->targets_len; t++) {
			if (sample_is_on(s, &p->targets[t]))
				r->shares[t] += weight;
		}
	}
}

static void add_samples(struct cozk_report *r)
{
	bool weights = samples_have_weights(r);

	for (size_t i = 0; i < r->profile->runs_len; i++) {
		if (cozk_report_has_run(r, i))
			add_run_samples(r, &r->profile->runs[i], weights);
	}
	for (size_t t = 0; t < r->profile->targets_len; t++)
		r->shares[t] = r->samples.total > 0 ? r->shares[t] / r->samples.total : NAN;
}

static int place_compare(const void *a, const void *b)
{
	const struct cozk_report_place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->sample->location, y->sample->location);
}

int cozk_report_places(const struct cozk_report *r, struct cozk_report_place **ret, size_t *len)
{
	bool weights = samples_have_weights(r);
	struct cozk_report_place *places;
	size_t n = 0;

	for (size_t i = 0; i < r->profile->runs_len; i++)
		n += cozk_report_has_run(r, i) ? r->profile->runs[i].samples_len : 0;
	places = calloc(n + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < r->profile->runs_len; i++) {
		const struct cozk_profile_run *run = &r->profile->runs[i];

		for (size_t k = 0; cozk_report_has_run(r, i) && k < run->samples_len; k++) {
			const struct cozk_sample_count *s = &run->samples[k];

			places[n++] = (struct cozk_report_place){ s, (double)(weights ? s->weight_ns : s->count) };
		}
	}
	qsort(places, n, sizeof(*places), place_compare);
	*ret = places;
	*len = n < *len ? n : *len;
	return 0;
}

/* ---- building ---- */

int cozk_report_build(const struct cozk_profile *p, const struct cozk_report_options *options, struct cozk_report *ret)
{
	int err = 0;

	*ret = (struct cozk_report){ .profile = p, .options = options, .stats = options->stats };
	ret->stats.run = cozk_report_run(p, options);
	ret->analyses = calloc(p->points_len + 1, sizeof(*ret->analyses));
	ret->shares = calloc(p->targets_len + 1, sizeof(*ret->shares));
	if (!ret->analyses || !ret->shares)
		err = -ENOMEM;
	for (size_t i = 0; i < p->points_len && !err; i++) {
		if (options->point && strcmp(options->point, p->points[i].name) != 0)
			continue;
		err = cozk_stats_analyse(p, (uint32_t)i, &ret->stats, &ret->analyses[ret->analyses_len]);
		ret->analyses_len += !err;
	}
	if (!err)
		add_samples(ret);
	else
		cozk_report_deinit(ret);
	return err;
}

void cozk_report_deinit(struct cozk_report *r)
{
	for (size_t i = 0; i < r->analyses_len; i++)
		cozk_analysis_deinit(&r->analyses[i]);
	free(r->analyses);
	free(r->shares);
	*r = (struct cozk_report){ 0 };
}

enum cozk_held cozk_report_held(const struct cozk_finding *f)
{
	if (f->best == SIZE_MAX)
		return COZK_HELD_NO_VISITS;
	if (isnan(f->effects[f->best].x.lo))
		return COZK_HELD_FEW;
	return f->significant ? COZK_HELD_NOT : COZK_HELD_NOISE;
}

/* ---- order ---- */

/* What qsort() needs to know. */
struct sort_entry {
	const struct cozk_finding *finding;
	double key;
	const char *name;
};

static int sort_compare(const void *a, const void *b)
{
	const struct sort_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return strcmp(x->name, y->name);
}

static double sort_key(const struct cozk_report *r, const struct cozk_finding *f)
{
	double key = 0;

	if (r->options->sort == COZK_SORT_POTENTIAL && f->best != SIZE_MAX)
		key = f->effects[f->best].x.value;
	else if (r->options->sort == COZK_SORT_POTENTIAL)
		key = NAN;
	else if (r->options->sort == COZK_SORT_SLOPE)
		key = f->slope.value;
	else if (r->options->sort == COZK_SORT_SAMPLES)
		key = r->shares[f->target];
	return isnan(key) ? -INFINITY : key;
}

const struct cozk_finding **cozk_report_sorted(const struct cozk_report *r, const struct cozk_analysis *a)
{
	struct sort_entry *entries = calloc(a->findings_len + 1, sizeof(*entries));
	const struct cozk_finding **sorted = calloc(a->findings_len + 1, sizeof(*sorted));

	if (!entries || !sorted) {
		free(entries);
		free(sorted);
		return NULL;
	}
	for (size_t i = 0; i < a->findings_len; i++) {
		const struct cozk_finding *f = &a->findings[i];

		entries[i] = (struct sort_entry){ f, sort_key(r, f), r->profile->targets[f->target].name };
	}
	qsort(entries, a->findings_len, sizeof(*entries), sort_compare);
	for (size_t i = 0; i < a->findings_len; i++)
		sorted[i] = entries[i].finding;
	free(entries);
	return sorted;
}

/* ---- printing ---- */

static int print_nothing(const struct cozk_report *r, const char *why, const char *hint, FILE *out)
{
	int err;

	fprintf(out, "Nothing to report: %s.\n", why);
	if (*hint)
		fprintf(out, "  hint: %s\n", hint);
	err = cozk_report_where(r, out);
	if (!err)
		err = cozk_report_footer(r, out);
	return err;
}

int cozk_report_print(const struct cozk_profile *p, const struct cozk_report_options *options, FILE *out)
{
	char why[256], hint[256];
	bool nothing = cozk_report_reason(p, options, why, sizeof(why), hint, sizeof(hint));
	struct cozk_report r;
	int err = cozk_report_build(p, options, &r);

	if (err)
		return err;
	if (options->format == COZK_REPORT_JSON) {
		err = cozk_report_json(&r, out);
	} else if (options->format == COZK_REPORT_CSV) {
		err = cozk_report_csv(&r, out);
	} else if (nothing) {
		err = print_nothing(&r, why, hint, out);
	} else {
		err = cozk_report_table(&r, out);
		if (!err)
			err = cozk_report_footer(&r, out);
	}
	cozk_report_deinit(&r);
	return err ? err : nothing ? COZK_EXIT_NOTHING : 0;
}
