// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see report_internal.h) The report for programs: JSON and CSV. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report_internal.h"

/*
 * ---- JSON; jansson's _new() calls take NULL for an error, so it need not be looked at before the
 * end ----
 */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *value)
{
	return value ? json_string(value) : json_null();
}

static json_t *estimate(const struct cozk_estimate *e)
{
	return json_pack("{so so so so}", "value", number(e->value), "lo", number(e->lo), "hi",
			 number(e->hi), "se", number(e->se));
}

static json_t *effect(const struct cozk_effect *e)
{
	return json_pack("{sf sI sI sI sI so so so so}", "speedup", e->speedup_ppm / 1e6, "windows",
			 (json_int_t)e->windows, "hits", (json_int_t)e->hits, "visits",
			 (json_int_t)e->visits, "duration_ns", (json_int_t)e->duration_ns,
			 "period_ns", number(e->period_ns), "program_speedup", estimate(&e->x),
			 "throughput", number(cozk_stats_throughput(e->x.value)), "p_value",
			 number(e->p_value));
}

static json_t *finding(const struct cozk_report *r, const struct cozk_finding *f)
{
	static const char *const held[COZK_HELD_KINDS] = {
		[COZK_HELD_NOT] = "finding",
		[COZK_HELD_NO_VISITS] = "no visits",
		[COZK_HELD_FEW] = "too few windows",
		[COZK_HELD_NOISE] = "noise",
	};
	const struct cozk_profile_target *t = &r->profile->targets[f->target];
	json_t *effects = json_array();
	char shape[64];

	for (size_t i = 0; i < f->effects_len; i++)
		json_array_append_new(effects, effect(&f->effects[i]));
	return json_pack(
		"{ss ss so so so so so ss ss so so sI sI sI so}", "target", t->name, "kind",
		cozk_unit_name(t->unit), "function", text(t->function), "binary", text(t->binary),
		"chain", text(t->chain), "samples_share", number(r->shares[f->target]), "slope",
		estimate(&f->slope), "shape", cozk_shape_text(f, shape, sizeof(shape)), "verdict",
		held[cozk_report_held(f)], "p_value", number(f->p_value), "best_speedup",
		f->best == SIZE_MAX ? json_null() : number(f->effects[f->best].speedup_ppm / 1e6),
		"windows", (json_int_t)f->windows, "hits", (json_int_t)f->hits, "visits",
		(json_int_t)f->visits, "effects", effects);
}

static json_t *point(const struct cozk_report *r, const struct cozk_analysis *a)
{
	const struct cozk_profile_point *p = &r->profile->points[a->point];
	const struct cozk_finding **sorted = cozk_report_sorted(r, a);
	json_t *findings = json_array(), *left_out = json_object();

	for (size_t i = 0; sorted && i < a->findings_len; i++) {
		if (r->options->all || cozk_report_held(sorted[i]) == COZK_HELD_NOT)
			json_array_append_new(findings, finding(r, sorted[i]));
	}
	for (size_t i = COZK_WINDOW_GOOD + 1; i < COZK_WINDOW_FAULTS; i++)
		json_object_set_new(left_out, cozk_window_fault_text((enum cozk_window_fault)i),
				    json_integer((json_int_t)a->faults[i]));
	free(sorted);
	return json_pack(
		"{ss ss s{sI sI sI so} sI so so sb sI so}", "name", p->name, "type",
		p->type == COZK_VISITS_LATENCY ? "latency" : "throughput", "baseline", "windows",
		(json_int_t)a->baseline.windows, "visits", (json_int_t)a->baseline.visits,
		"duration_ns", (json_int_t)a->baseline.duration_ns, "period_ns",
		number(a->baseline.period_ns), "windows", (json_int_t)a->faults[COZK_WINDOW_GOOD],
		"left_out", left_out, "dispersion", number(a->dispersion), "by_block",
		(int)a->by_block, "targets", (json_int_t)a->findings_len, "findings", findings);
}

int cozk_report_json(const struct cozk_report *r, FILE *out)
{
	char why[256], hint[256];
	json_t *points = json_array(), *root;
	int err;

	for (size_t i = 0; i < r->analyses_len; i++)
		json_array_append_new(points, point(r, &r->analyses[i]));
	cozk_report_reason(r->profile, r->options, why, sizeof(why), hint, sizeof(hint));
	root = json_pack("{so sI so so s{so so so so} so}", "run",
			 r->stats.run == COZK_RUN_ALL ? json_string("all")
						      : json_integer((json_int_t)r->stats.run + 1),
			 "runs", (json_int_t)r->profile->runs_len, "nothing",
			 *why ? json_string(why) : json_null(), "hint",
			 *hint ? json_string(hint) : json_null(), "samples", "in_scope",
			 json_integer((json_int_t)r->samples.in_scope), "out_of_scope",
			 json_integer((json_int_t)r->samples.out_of_scope), "unresolved",
			 json_integer((json_int_t)r->samples.unresolved), "lost",
			 json_integer((json_int_t)r->samples.lost), "points", points);
	if (!root)
		return -ENOMEM;
	err = json_dumpf(root, out, JSON_INDENT(1)) ? -ENOMEM : 0;
	json_decref(root);
	putc('\n', out);
	return err;
}

/* ---- CSV: one line an effect ---- */

static void put_text(const char *value, FILE *out)
{
	if (!value)
		return;
	putc('"', out);
	for (; *value; value++) {
		if (*value == '"')
			putc('"', out);
		putc(*value, out);
	}
	putc('"', out);
}

/* An unknown number is an empty field. */
static void put_number(double value, FILE *out)
{
	if (isfinite(value))
		fprintf(out, ",%.9g", value);
	else
		putc(',', out);
}

static void put_effect(const struct cozk_report *r, const struct cozk_analysis *a,
		       const struct cozk_finding *f, const struct cozk_effect *e, FILE *out)
{
	const struct cozk_profile_target *t = &r->profile->targets[f->target];
	char shape[64];

	put_text(r->profile->points[a->point].name, out);
	putc(',', out);
	put_text(t->name, out);
	fprintf(out, ",%s,", cozk_unit_name(t->unit));
	put_text(t->function, out);
	putc(',', out);
	put_text(t->binary, out);
	put_number(r->shares[f->target], out);
	put_number(e->speedup_ppm / 1e6, out);
	put_number(e->x.value, out);
	put_number(e->x.lo, out);
	put_number(e->x.hi, out);
	put_number(f->slope.value, out);
	put_number(f->slope.lo, out);
	put_number(f->slope.hi, out);
	putc(',', out);
	put_text(cozk_shape_text(f, shape, sizeof(shape)), out);
	fprintf(out, ",%d,%zu,%" PRIu64 ",%" PRId64 ",%" PRId64 "\r\n", f->significant, e->windows,
		e->hits, e->visits, e->duration_ns);
}

int cozk_report_csv(const struct cozk_report *r, FILE *out)
{
	fputs("point,target,kind,function,binary,samples_share,speedup,program_speedup,lo,hi,slope,slope_lo,slope_hi,shape,"
	      "significant,windows,hits,visits,duration_ns\r\n",
	      out);
	for (size_t i = 0; i < r->analyses_len; i++) {
		const struct cozk_analysis *a = &r->analyses[i];
		const struct cozk_finding **sorted = cozk_report_sorted(r, a);

		if (!sorted)
			return -ENOMEM;
		for (size_t k = 0; k < a->findings_len; k++) {
			const struct cozk_finding *f = sorted[k];

			if (!r->options->all && cozk_report_held(f) != COZK_HELD_NOT)
				continue;
			for (size_t e = 0; e < f->effects_len; e++)
				put_effect(r, a, f, &f->effects[e], out);
		}
		free(sorted);
	}
	return 0;
}
