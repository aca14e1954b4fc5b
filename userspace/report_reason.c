// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see report.h) Why a profile has nothing to say. */
#include <inttypes.h>
#include <string.h>

#include "report.h"

/* What the selected runs hold, in sums. */
struct totals {
	size_t runs;
	uint64_t samples; /* as the runs say, or as counted by place */
	uint64_t in_scope;
	bool samples_known;
	bool runtime_known;
	uint64_t time_ns;
	uint64_t windows; /* in the profile */
	uint64_t opened;  /* as the runs say */
	uint64_t points_seen;
	uint64_t faulty;
	uint64_t zero, tried; /* good windows at speedup 0, and above */
	uint64_t visited;     /* good windows with a visit of anything */
	const char *reason;   /* the run's own word */
	uint64_t faults[COZK_WINDOW_FAULTS];
};

static void add_run(struct totals *t, const struct cozk_profile_run *run)
{
	uint64_t counted = 0;

	t->runs++;
	t->runtime_known |= run->has_runtime;
	t->time_ns += run->runtime.time_ns;
	t->opened += run->runtime.windows;
	t->points_seen += run->runtime.points_seen;
	if (run->runtime.reason)
		t->reason = run->runtime.reason;
	for (size_t i = 0; i < run->samples_len; i++) {
		t->samples_known = true;
		counted += run->samples[i].count;
		t->in_scope += run->samples[i].in_scope ? run->samples[i].count : 0;
	}
	t->samples += run->runtime.samples > counted ? run->runtime.samples : counted;
}

static void add_window(struct totals *t, const struct cozk_profile *p, const struct cozk_experiment *e, bool keep_all)
{
	enum cozk_window_fault fault = cozk_window_judge(p, e);
	bool visited = false;

	if (keep_all && fault != COZK_WINDOW_NO_DURATION)
		fault = COZK_WINDOW_GOOD;
	t->windows++;
	t->faults[fault]++;
	if (fault != COZK_WINDOW_GOOD) {
		t->faulty++;
		return;
	}
	*(e->speedup_ppm ? &t->tried : &t->zero) += 1;
	for (size_t i = 0; i < e->visits_len; i++)
		visited |= e->visits[i].delta > 0 || e->visits[i].arrivals > 0;
	t->visited += visited;
}

static void sum_up(const struct cozk_profile *p, const struct cozk_report_options *options, struct totals *t)
{
	size_t run = cozk_report_run(p, options);

	*t = (struct totals){ 0 };
	for (size_t i = 0; i < p->runs_len; i++) {
		if (run == COZK_RUN_ALL || run == i)
			add_run(t, &p->runs[i]);
	}
	for (size_t i = 0; i < p->windows_len; i++) {
		if (run == COZK_RUN_ALL || run == p->windows[i].run)
			add_window(t, p, &p->windows[i], options->stats.keep_all);
	}
}

static const char *worst_fault(const struct totals *t)
{
	size_t worst = COZK_WINDOW_GOOD + 1;

	for (size_t i = worst; i < COZK_WINDOW_FAULTS; i++) {
		if (t->faults[i] > t->faults[worst])
			worst = i;
	}
	return cozk_window_fault_text((enum cozk_window_fault)worst);
}

static void why_no_windows(const struct totals *t, char *why, size_t whylen, char *hint, size_t hintlen)
{
	double seconds = (double)t->time_ns / 1e9;

	if (t->runtime_known && t->samples == 0) {
		snprintf(why, whylen, "the program took no CPU time that was sampled (it ran for %.2f s)", seconds);
		snprintf(hint, hintlen, "give it a larger input; a program should run for some seconds at least");
	} else if (t->samples_known && t->in_scope == 0) {
		snprintf(why, whylen, "none of %" PRIu64 " samples is in scope", t->samples);
		snprintf(hint, hintlen,
			 "widen the scope (--binary-scope %%, --source-scope %%) or build with -g; "
			 "see below where the time goes");
	} else if (t->runtime_known) {
		snprintf(why, whylen, "the program ended before the first window was over (it ran for %.2f s)",
			 seconds);
		snprintf(hint, hintlen, "give it a larger input, or let it do its work several times");
	} else {
		snprintf(why, whylen, "the profile holds no window; the run was cut short");
		snprintf(hint, hintlen, "let it run for some seconds at least");
	}
}

bool cozk_report_reason(const struct cozk_profile *p, const struct cozk_report_options *options, char *why,
			size_t whylen, char *hint, size_t hintlen)
{
	struct totals t;

	sum_up(p, options, &t);
	*why = *hint = '\0';
	if (t.windows == 0 && t.reason) {
		snprintf(why, whylen, "%s", t.reason);
	} else if (t.windows == 0 && t.runs == 0) {
		snprintf(why, whylen, "the profile is empty");
		snprintf(hint, hintlen, "make one: cozk run -- PROGRAM");
	} else if (t.windows == 0) {
		why_no_windows(&t, why, whylen, hint, hintlen);
	} else if (t.faulty == t.windows) {
		snprintf(why, whylen, "all %" PRIu64 " windows were unusable, most of them %s", t.windows,
			 worst_fault(&t));
		snprintf(hint, hintlen, "--keep-all-windows shows what they say all the same");
	} else if (t.visited == 0) {
		snprintf(why, whylen, "no progress point was visited in %" PRIu64 " windows", t.zero + t.tried);
		snprintf(hint, hintlen, "put COZK_PROGRESS where a unit of work is done, or use --end-to-end");
	} else if (t.zero == 0) {
		snprintf(why, whylen, "there is no window at speedup 0 to compare with");
		snprintf(hint, hintlen, "let the program run for longer, or include 0 in --speedups");
	} else if (t.tried == 0) {
		snprintf(why, whylen, "there are windows at speedup 0 only, so no effect can be seen");
		snprintf(hint, hintlen, "let the program run for longer, or allow more --speedups than 0");
	} else {
		return false;
	}
	return true;
}
