/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_REPORT_INTERNAL_H
#define COZK_REPORT_INTERNAL_H

#include "report.h"

/* Samples of the selected runs. */
struct cozk_report_samples {
	double total;			 /* CPU time in ns, or counts where no times are known */
	uint64_t in_scope, out_of_scope; /* counts */
	uint64_t unresolved, lost;
	bool known; /* false: no samples record, as after a kill */
};

/* One place of the "where time goes" table. */
struct cozk_report_place {
	const struct cozk_sample_count *sample;
	double weight;
};

/* A profile analysed as the options ask. */
struct cozk_report {
	const struct cozk_profile *profile;
	const struct cozk_report_options *options;
	struct cozk_stats_options stats; /* .run resolved: an index or COZK_RUN_ALL */
	struct cozk_analysis *analyses;	 /* of the points asked for, in their order */
	size_t analyses_len;
	struct cozk_report_samples samples;
	double *shares; /* by target, of all samples; NaN if not known */
};

/* Returns 0 or -ENOMEM. */
int cozk_report_build(const struct cozk_profile *p, const struct cozk_report_options *options, struct cozk_report *ret);
void cozk_report_deinit(struct cozk_report *r);

bool cozk_report_has_run(const struct cozk_report *r, size_t run);

/* Why a finding is not in the table. */
enum cozk_held {
	COZK_HELD_NOT,
	COZK_HELD_NO_VISITS, /* no estimate at all */
	COZK_HELD_FEW,	     /* no interval */
	COZK_HELD_NOISE,
	COZK_HELD_KINDS,
};

enum cozk_held cozk_report_held(const struct cozk_finding *f);

/* The findings of @a in the order asked for, as a new array of pointers; NULL without memory. */
const struct cozk_finding **cozk_report_sorted(const struct cozk_report *r, const struct cozk_analysis *a);

/* The places with most samples, at most *len; @ret is freed with free(). Returns 0 or -ENOMEM. */
int cozk_report_places(const struct cozk_report *r, struct cozk_report_place **ret, size_t *len);

/* "hash", "hash in main > run" cut to the ends of the chain: a short name of a target. */
const char *cozk_report_target_name(const struct cozk_profile_target *t, char *buf, size_t len);

/* The part of a path after the last '/'. */
const char *cozk_report_base(const char *path);

/* report_table.c, report_export.c: return 0 or -ENOMEM. */
int cozk_report_table(const struct cozk_report *r, FILE *out);
int cozk_report_where(const struct cozk_report *r, FILE *out);
int cozk_report_footer(const struct cozk_report *r, FILE *out);
int cozk_report_json(const struct cozk_report *r, FILE *out);
int cozk_report_csv(const struct cozk_report *r, FILE *out);

#endif
