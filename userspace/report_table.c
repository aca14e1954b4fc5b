// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see report_internal.h) The report for people. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"
#include "table.h"

enum { PLACES_SHOWN = 10, WIDE = 130 };

/* ---- numbers ---- */

/* As many decimals as the interval is worth. */
static int decimals(const struct cozk_estimate *e, double scale)
{
	double half = (e->hi - e->lo) / 2 * scale;

	return half < 2 ? 1 : 0;
}

/* Adding 0.0 turns a negative zero into zero. */
static double rounded(double value, int digits)
{
	double scale = pow(10, digits);

	return round(value * scale) / scale + 0.0;
}

/* Where there is room for one number only, the further end of the interval is the safe one. */
static void percent_text(const struct cozk_estimate *e, bool both_ends, char *buf, size_t len)
{
	int digits = decimals(e, 100);

	if (isnan(e->value))
		snprintf(buf, len, "?");
	else if (isnan(e->lo))
		snprintf(buf, len, "%+.0f \xc2\xb1? %%", rounded(e->value * 100, 0));
	else if (both_ends)
		snprintf(buf, len, "%+.*f %% [%.*f, %.*f]", digits, rounded(e->value * 100, digits), digits,
			 rounded(e->lo * 100, digits), digits, rounded(e->hi * 100, digits));
	else
		snprintf(buf, len, "%+.*f \xc2\xb1%.*f %%", digits, rounded(e->value * 100, digits), digits,
			 fmax(e->hi - e->value, e->value - e->lo) * 100);
}

static void slope_text(const struct cozk_estimate *e, char *buf, size_t len)
{
	if (isnan(e->value))
		snprintf(buf, len, "?");
	else if (isnan(e->lo))
		snprintf(buf, len, "%.2f \xc2\xb1?", rounded(e->value, 2));
	else
		snprintf(buf, len, "%.2f \xc2\xb1%.2f", rounded(e->value, 2), ceil((e->hi - e->lo) / 2 * 100) / 100);
}

static void count_text(uint64_t n, char *buf, size_t len)
{
	if (n < 10000)
		snprintf(buf, len, "%" PRIu64, n);
	else if (n < 10000000)
		snprintf(buf, len, "%.0fk", (double)n / 1e3);
	else
		snprintf(buf, len, "%.0fM", (double)n / 1e6);
}

static void time_text(double ns, char *buf, size_t len)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {
		{ 1e9, "s" },
		{ 1e6, "ms" },
		{ 1e3, "\xc2\xb5s" },
		{ 1, "ns" },
	};
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(*units) && ns < units[i].ns)
		i++;
	snprintf(buf, len, "%.3g %s", ns / units[i].ns, units[i].unit);
}

/* ---- the table of one point ---- */

static bool several_modules(const struct cozk_report *r, const struct cozk_finding **findings, size_t n)
{
	const char *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *binary = r->profile->targets[findings[i]->target].binary;

		if (binary && first && strcmp(binary, first) != 0)
			return true;
		first = first ? first : binary;
	}
	return false;
}

static enum cozk_style effect_style(const struct cozk_finding *f)
{
	if (!f->significant)
		return COZK_STYLE_DIM;
	return f->effects[f->best].x.value > 0 ? COZK_STYLE_GOOD : COZK_STYLE_BAD;
}

struct layout {
	bool module, wide, throughput;
};

static bool is_wide(const struct cozk_report *r)
{
	return r->options->width == 0 || r->options->width >= WIDE;
}

static void add_columns(struct cozk_table *t, const struct layout *layout)
{
	cozk_table_column(t, "target", COZK_ALIGN_LEFT, COZK_CUT_PLACE);
	if (layout->module)
		cozk_table_column(t, "module", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "share", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "if by", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "then program", COZK_ALIGN_LEFT, COZK_CUT_NEVER);
	if (layout->throughput)
		cozk_table_column(t, "throughput", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "slope", COZK_ALIGN_LEFT, COZK_CUT_NEVER);
	cozk_table_column(t, "shape", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "windows", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "hits", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "visits", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
}

static void add_row(struct cozk_table *t, const struct cozk_report *r, const struct layout *layout,
		    const struct cozk_finding *f)
{
	const struct cozk_profile_target *target = &r->profile->targets[f->target];
	const struct cozk_effect *best = f->best == SIZE_MAX ? NULL : &f->effects[f->best];
	char text[1024];

	cozk_table_cell(t, COZK_STYLE_PLAIN, cozk_report_target_name(target, text, sizeof(text)));
	if (layout->module)
		cozk_table_cell(t, COZK_STYLE_DIM, target->binary ? cozk_report_base(target->binary) : "?");
	if (isnan(r->shares[f->target]))
		cozk_table_cell(t, COZK_STYLE_PLAIN, "?");
	else
		cozk_table_cellf(t, COZK_STYLE_PLAIN, "%.1f %%", r->shares[f->target] * 100);
	if (best) {
		cozk_table_cellf(t, COZK_STYLE_PLAIN, "%.3g %%", best->speedup_ppm / 1e4);
		percent_text(&best->x, layout->wide, text, sizeof(text));
		cozk_table_cell(t, effect_style(f), text);
	} else {
		cozk_table_cell(t, COZK_STYLE_PLAIN, "?");
		cozk_table_cell(t, COZK_STYLE_DIM, f->visits ? "?" : "no visit");
	}
	if (layout->throughput && best)
		cozk_table_cellf(t, COZK_STYLE_PLAIN, "%+.0f %%",
				 rounded(cozk_stats_throughput(best->x.value) * 100, 0));
	else if (layout->throughput)
		cozk_table_cell(t, COZK_STYLE_PLAIN, "?");
	slope_text(&f->slope, text, sizeof(text));
	cozk_table_cell(t, COZK_STYLE_PLAIN, text);
	cozk_table_cell(t, COZK_STYLE_PLAIN, cozk_shape_text(f, text, sizeof(text)));
	cozk_table_cellf(t, COZK_STYLE_DIM, "%zu", f->windows);
	count_text(f->hits, text, sizeof(text));
	cozk_table_cell(t, COZK_STYLE_DIM, text);
	count_text(f->visits > 0 ? (uint64_t)f->visits : 0, text, sizeof(text));
	cozk_table_cell(t, COZK_STYLE_DIM, text);
}

static void print_held(const size_t held[COZK_HELD_KINDS], FILE *out)
{
	static const char *const why[COZK_HELD_KINDS] = {
		[COZK_HELD_NO_VISITS] = "without a visit or a baseline to compare with",
		[COZK_HELD_FEW] = "with too few windows to know the noise",
		[COZK_HELD_NOISE] = "not told from noise",
	};
	size_t total = 0;
	const char *before = ": ";

	for (size_t i = 1; i < COZK_HELD_KINDS; i++)
		total += held[i];
	if (!total)
		return;
	fprintf(out, "%zu target%s held back", total, total == 1 ? "" : "s");
	for (size_t i = 1; i < COZK_HELD_KINDS; i++) {
		if (!held[i])
			continue;
		fprintf(out, "%s%zu %s", before, held[i], why[i]);
		before = ", ";
	}
	fputs(" (--all shows them)\n", out);
}

/*
 * With nothing told from noise, how large an effect could still hide says what the run was worth.
 */
static void print_no_finding(const struct cozk_analysis *a, FILE *out)
{
	double widest = NAN;

	for (size_t i = 0; i < a->findings_len; i++) {
		double half = (a->findings[i].slope.hi - a->findings[i].slope.lo) / 2;

		widest = fmax(widest, half);
	}
	fputs("No target is told from noise", out);
	if (!isnan(widest))
		fprintf(out, " (slopes are known to \xc2\xb1%.2f at worst)", widest);
	fputs(".\n  hint: more windows make intervals narrower: run for longer, or try less "
	      "(--fixed-line, fewer --speedups)\n",
	      out);
}

static bool is_end_to_end(const struct cozk_report *r, const struct cozk_analysis *a)
{
	return strcmp(r->profile->points[a->point].name, COZK_END_TO_END_POINT) == 0;
}

/* The two numbers that people take for each other, with the first row as the example. */
static void print_legend(const struct cozk_report *r, const struct cozk_analysis *a, const struct cozk_finding *f,
			 FILE *out)
{
	const char *interval = is_wide(r) ? "[ ]" : "\xc2\xb1";
	double x = f->effects[f->best].x.value, less = rounded(-x * 100, 0);

	if (is_end_to_end(r, a))
		fprintf(out, "First row: time from start to end %+.0f %%.", less);
	else if (r->profile->points[a->point].type == COZK_VISITS_LATENCY)
		fprintf(out, "First row: latency %+.0f %%.", less);
	else
		fprintf(out, "First row: time a visit %+.0f %%, which is throughput %+.0f %%.", less,
			rounded(cozk_stats_throughput(x) * 100, 0));
	fprintf(out, " %s: 95 %% interval.\n", interval);
}

static int64_t all_visits(const struct cozk_analysis *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->findings_len; i++)
		sum += a->findings[i].visits;
	return sum;
}

static void print_heading(const struct cozk_report *r, const struct cozk_analysis *a, FILE *out)
{
	const struct cozk_profile_point *point = &r->profile->points[a->point];
	char period[32];

	if (is_end_to_end(r, a)) {
		fprintf(out, "No progress point: measured end to end, in %zu windows (%zu at speedup 0)\n",
			a->faults[COZK_WINDOW_GOOD], a->baseline.windows);
		return;
	}
	time_text(a->baseline.period_ns, period, sizeof(period));
	fprintf(out, "%s point %s", point->type == COZK_VISITS_LATENCY ? "Latency" : "Progress", point->name);
	if (!isnan(a->baseline.period_ns))
		fprintf(out, ": %s %s at speedup 0; %" PRId64 " visits in %zu windows (%zu at speedup 0)", period,
			point->type == COZK_VISITS_LATENCY ? "mean" : "a visit", all_visits(a),
			a->faults[COZK_WINDOW_GOOD], a->baseline.windows);
	if (a->by_block)
		fputs("\nIt changed over time, so windows are compared within their blocks.", out);
	putc('\n', out);
}

static int print_rows(const struct cozk_report *r, const struct cozk_analysis *a, const struct cozk_finding **findings,
		      FILE *out)
{
	size_t held[COZK_HELD_KINDS] = { 0 }, shown = 0;
	struct layout layout = { .wide = is_wide(r) };
	struct cozk_table *t = cozk_table_create();
	bool latency = r->profile->points[a->point].type == COZK_VISITS_LATENCY;
	int err = 0;

	for (size_t i = 0; i < a->findings_len; i++) {
		enum cozk_held why = cozk_report_held(findings[i]);

		if (why == COZK_HELD_NOT || r->options->all)
			findings[shown++] = findings[i];
		else
			held[why]++;
	}
	layout.module = several_modules(r, findings, shown);
	layout.throughput = layout.wide && !latency;
	add_columns(t, &layout);
	for (size_t i = 0; i < shown; i++)
		add_row(t, r, &layout, findings[i]);
	if (shown)
		err = cozk_table_print(t, out, r->options->width, r->options->colour);
	else
		print_no_finding(a, out);
	cozk_table_destroy(t);
	if (shown && cozk_report_held(findings[0]) == COZK_HELD_NOT)
		print_legend(r, a, findings[0], out);
	print_held(held, out);
	return err;
}

static int print_point(const struct cozk_report *r, const struct cozk_analysis *a, FILE *out)
{
	const struct cozk_finding **findings;
	int err;

	print_heading(r, a, out);
	if (!a->findings_len) {
		fputs("It was read in no usable window.\n", out);
		return 0;
	}
	if (isnan(a->baseline.period_ns) && a->baseline.windows) {
		fprintf(out, "No visit in its %zu windows at speedup 0, so there is no estimate.\n",
			a->baseline.windows);
		return 0;
	}
	findings = cozk_report_sorted(r, a);
	if (!findings)
		return -ENOMEM;
	err = print_rows(r, a, findings, out);
	free(findings);
	return err;
}

static void print_run_note(const struct cozk_report *r, FILE *out)
{
	const struct cozk_profile *p = r->profile;

	if (p->runs_len > 1 && r->stats.run == COZK_RUN_ALL)
		fprintf(out, "All %zu runs of the profile together\n", p->runs_len);
	else if (p->runs_len > 1)
		fprintf(out, "Run %zu of %zu in the profile (--run all: all together)\n", r->stats.run + 1,
			p->runs_len);
}

int cozk_report_table(const struct cozk_report *r, FILE *out)
{
	int err = 0;

	print_run_note(r, out);
	for (size_t i = 0; i < r->analyses_len && !err; i++) {
		if (i)
			putc('\n', out);
		err = print_point(r, &r->analyses[i], out);
	}
	return err;
}

/* ---- where time goes ---- */

int cozk_report_where(const struct cozk_report *r, FILE *out)
{
	struct cozk_report_place *places;
	size_t n = PLACES_SHOWN;
	struct cozk_table *t;
	int err = cozk_report_places(r, &places, &n);

	if (err || !n) {
		if (!err)
			free(places);
		return err;
	}
	t = cozk_table_create();
	cozk_table_column(t, "samples", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "function", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "place", COZK_ALIGN_LEFT, COZK_CUT_START);
	cozk_table_column(t, "module", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "scope", COZK_ALIGN_LEFT, COZK_CUT_NEVER);
	for (size_t i = 0; i < n; i++) {
		const struct cozk_sample_count *s = places[i].sample;

		cozk_table_cellf(t, COZK_STYLE_PLAIN, "%.1f %%",
				 r->samples.total > 0 ? places[i].weight / r->samples.total * 100 : 0);
		cozk_table_cell(t, COZK_STYLE_PLAIN, s->function ? s->function : "?");
		cozk_table_cell(t, COZK_STYLE_PLAIN, s->location);
		cozk_table_cell(t, COZK_STYLE_DIM, s->binary ? cozk_report_base(s->binary) : "?");
		cozk_table_cell(t, s->in_scope ? COZK_STYLE_PLAIN : COZK_STYLE_DIM, s->in_scope ? "in" : "out");
	}
	fputs("\nWhere the time goes:\n", out);
	err = cozk_table_print(t, out, r->options->width, r->options->colour);
	cozk_table_destroy(t);
	free(places);
	return err;
}

/* ---- the last lines ---- */

static void print_windows(const struct cozk_report *r, FILE *out)
{
	size_t faults[COZK_WINDOW_FAULTS] = { 0 }, windows = 0, left_out = 0;
	const char *before = ": ";

	for (size_t i = 0; i < r->profile->windows_len; i++) {
		if (!cozk_report_has_run(r, r->profile->windows[i].run))
			continue;
		windows++;
		faults[cozk_window_judge(r->profile, &r->profile->windows[i])]++;
	}
	/* Outliers depend on the point; name the most of any. */
	for (size_t i = 0; i < r->analyses_len; i++) {
		if (r->analyses[i].faults[COZK_WINDOW_OUTLIER] > faults[COZK_WINDOW_OUTLIER])
			faults[COZK_WINDOW_OUTLIER] = r->analyses[i].faults[COZK_WINDOW_OUTLIER];
	}
	for (size_t i = COZK_WINDOW_GOOD + 1; i < COZK_WINDOW_FAULTS; i++)
		left_out += faults[i];
	fprintf(out, "windows: %zu", windows);
	if (!left_out || r->stats.keep_all)
		return;
	fprintf(out, ", %zu left out", left_out);
	for (size_t i = COZK_WINDOW_GOOD + 1; i < COZK_WINDOW_FAULTS; i++) {
		if (!faults[i])
			continue;
		fprintf(out, "%s%zu %s", before, faults[i], cozk_window_fault_text((enum cozk_window_fault)i));
		before = ", ";
	}
}

int cozk_report_footer(const struct cozk_report *r, FILE *out)
{
	const struct cozk_profile *p = r->profile;
	uint64_t time_ns = 0, threads_lost = 0;
	const char *status = NULL;

	for (size_t i = 0; i < p->runs_len; i++) {
		if (!cozk_report_has_run(r, i))
			continue;
		time_ns += p->runs[i].runtime.time_ns;
		threads_lost += p->runs[i].runtime.threads_lost;
		status = p->runs[i].runtime.status;
	}
	if (r->samples.known)
		fprintf(out,
			"samples: %" PRIu64 " in scope, %" PRIu64 " out of scope, %" PRIu64 " unresolved, %" PRIu64
			" lost\n",
			r->samples.in_scope, r->samples.out_of_scope, r->samples.unresolved, r->samples.lost);
	else
		fputs("samples: not in the profile\n", out);
	print_windows(r, out);
	if (time_ns)
		fprintf(out, "; run time %.1f s", (double)time_ns / 1e9);
	if (status)
		fprintf(out, "; %s", status);
	putc('\n', out);
	if (threads_lost)
		fprintf(out, "%" PRIu64 " threads could not be followed: effects may be too small\n", threads_lost);
	return 0;
}
