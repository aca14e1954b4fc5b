// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see report_internal.h) The report for programs: JSON and CSV. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report_internal.h"

/* ---- JSON; jansson's setters take NULL for a value that could not be made, and then fail ---- */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *value)
{
	return value ? json_string(value) : json_null();
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *estimate(const struct cozk_estimate *e)
{
	json_t *o = json_object();

	json_object_set_new(o, "value", number(e->value));
	json_object_set_new(o, "lo", number(e->lo));
	json_object_set_new(o, "hi", number(e->hi));
	json_object_set_new(o, "se", number(e->se));
	return o;
}

static json_t *effect(const struct cozk_effect *e)
{
	json_t *o = json_object();

	json_object_set_new(o, "speedup", number(e->speedup_ppm / 1e6));
	json_object_set_new(o, "windows", integer(e->windows));
	json_object_set_new(o, "hits", integer(e->hits));
	json_object_set_new(o, "visits", json_integer(e->visits));
	json_object_set_new(o, "duration_ns", json_integer(e->duration_ns));
	json_object_set_new(o, "period_ns", number(e->period_ns));
	json_object_set_new(o, "program_speedup", estimate(&e->x));
	json_object_set_new(o, "throughput", number(cozk_stats_throughput(e->x.value)));
	json_object_set_new(o, "p_value", number(e->p_value));
	return o;
}

static json_t *finding(const struct cozk_report *r, const struct cozk_finding *f)
{
	static const char *const verdicts[COZK_HELD_KINDS] = {
		[COZK_HELD_NOT] = "finding",
		[COZK_HELD_NO_VISITS] = "no visits",
		[COZK_HELD_FEW] = "too few windows",
		[COZK_HELD_NOISE] = "noise",
	};
	const struct cozk_profile_target *t = &r->profile->targets[f->target];
	json_t *o = json_object(), *effects = json_array();
	char shape[64];

	for (size_t i = 0; i < f->effects_len; i++)
		json_array_append_new(effects, effect(&f->effects[i]));
	json_object_set_new(o, "target", text(t->name));
	json_object_set_new(o, "kind", text(cozk_unit_name(t->unit)));
	json_object_set_new(o, "function", text(t->function));
	json_object_set_new(o, "binary", text(t->binary));
	json_object_set_new(o, "chain", text(t->chain));
	json_object_set_new(o, "samples_share", number(r->shares[f->target]));
	json_object_set_new(o, "slope", estimate(&f->slope));
	json_object_set_new(o, "shape", text(cozk_shape_text(f, shape, sizeof(shape))));
	json_object_set_new(o, "verdict", text(verdicts[cozk_report_held(f)]));
	json_object_set_new(o, "p_value", number(f->p_value));
	json_object_set_new(o, "best_speedup",
			    number(f->best == SIZE_MAX ? NAN : f->effects[f->best].speedup_ppm / 1e6));
	json_object_set_new(o, "windows", integer(f->windows));
	json_object_set_new(o, "hits", integer(f->hits));
	json_object_set_new(o, "visits", json_integer(f->visits));
	json_object_set_new(o, "effects", effects);
	return o;
}

static json_t *baseline(const struct cozk_baseline *b)
{
	json_t *o = json_object();

	json_object_set_new(o, "windows", integer(b->windows));
	json_object_set_new(o, "visits", json_integer(b->visits));
	json_object_set_new(o, "duration_ns", json_integer(b->duration_ns));
	json_object_set_new(o, "period_ns", number(b->period_ns));
	return o;
}

static json_t *left_out(const struct cozk_analysis *a)
{
	json_t *o = json_object();

	for (size_t i = COZK_WINDOW_GOOD + 1; i < COZK_WINDOW_FAULTS; i++)
		json_object_set_new(o, cozk_window_fault_text((enum cozk_window_fault)i), integer(a->faults[i]));
	return o;
}

static json_t *point(const struct cozk_report *r, const struct cozk_analysis *a)
{
	const struct cozk_profile_point *p = &r->profile->points[a->point];
	const struct cozk_finding **sorted = cozk_report_sorted(r, a);
	json_t *o = json_object(), *findings = json_array();

	if (!sorted) {
		json_decref(o);
		json_decref(findings);
		return NULL;
	}
	for (size_t i = 0; i < a->findings_len; i++) {
		if (r->options->all || cozk_report_held(sorted[i]) == COZK_HELD_NOT)
			json_array_append_new(findings, finding(r, sorted[i]));
	}
	free(sorted);
	json_object_set_new(o, "name", text(p->name));
	json_object_set_new(o, "type", text(p->type == COZK_VISITS_LATENCY ? "latency" : "throughput"));
	json_object_set_new(o, "baseline", baseline(&a->baseline));
	json_object_set_new(o, "windows", integer(a->faults[COZK_WINDOW_GOOD]));
	json_object_set_new(o, "left_out", left_out(a));
	json_object_set_new(o, "dispersion", number(a->dispersion));
	json_object_set_new(o, "by_block", json_boolean(a->by_block));
	json_object_set_new(o, "targets", integer(a->findings_len));
	json_object_set_new(o, "findings", findings);
	return o;
}

static json_t *samples(const struct cozk_report_samples *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "in_scope", integer(s->in_scope));
	json_object_set_new(o, "out_of_scope", integer(s->out_of_scope));
	json_object_set_new(o, "unresolved", integer(s->unresolved));
	json_object_set_new(o, "lost", integer(s->lost));
	return o;
}

int cozk_report_json(const struct cozk_report *r, FILE *out)
{
	json_t *root = json_object(), *points = json_array();
	char why[256], hint[256];
	int err = 0;

	for (size_t i = 0; i < r->analyses_len && !err; i++)
		err = json_array_append_new(points, point(r, &r->analyses[i]));
	cozk_report_reason(r->profile, r->options, why, sizeof(why), hint, sizeof(hint));
	json_object_set_new(root, "run", r->stats.run == COZK_RUN_ALL ? json_string("all") : integer(r->stats.run + 1));
	json_object_set_new(root, "runs", integer(r->profile->runs_len));
	json_object_set_new(root, "nothing", text(*why ? why : NULL));
	json_object_set_new(root, "hint", text(*hint ? hint : NULL));
	json_object_set_new(root, "samples", samples(&r->samples));
	err |= json_object_set_new(root, "points", points);
	if (!err)
		err = json_dumpf(root, out, JSON_INDENT(1));
	json_decref(root);
	putc('\n', out);
	return err ? -ENOMEM : 0;
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

static void put_effect(const struct cozk_report *r, const struct cozk_analysis *a, const struct cozk_finding *f,
		       const struct cozk_effect *e, FILE *out)
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
	fprintf(out, ",%d,%zu,%" PRIu64 ",%" PRId64 ",%" PRId64 "\r\n", f->significant, e->windows, e->hits, e->visits,
		e->duration_ns);
}

int cozk_report_csv(const struct cozk_report *r, FILE *out)
{
	fputs("point,target,kind,function,binary,samples_share,speedup,program_speedup,lo,hi,slope,slope_lo,slope_hi,"
	      "shape,"
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
