/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_REPORT_H
#define COZK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profile.h"
#include "stats.h"

/* What a profile means, for people and for programs. */

enum cozk_report_format {
	COZK_REPORT_TABLE,
	COZK_REPORT_JSON,
	COZK_REPORT_CSV,
};

enum cozk_report_sort {
	COZK_SORT_POTENTIAL, /* largest surely gained program speedup first */
	COZK_SORT_SLOPE,
	COZK_SORT_SAMPLES,
	COZK_SORT_NAME,
};

#define COZK_RUN_LAST (SIZE_MAX - 1)

/* All zero but .stats.run is a good default; see cozk_report_defaults(). */
struct cozk_report_options {
	enum cozk_report_format format;
	enum cozk_report_sort sort;
	const char *point;		 /* only this one; NULL: all */
	bool all;			 /* noise too */
	struct cozk_stats_options stats; /* .run: an index, COZK_RUN_ALL or COZK_RUN_LAST */
	unsigned int width;		 /* of the table in columns; 0: no limit */
	bool colour;
};

/* The last run, as a table as wide as the terminal that @out is (100 columns if it is none). */
void cozk_report_defaults(struct cozk_report_options *options, FILE *out);

/*
 * Prints the report. Returns 0, COZK_EXIT_NOTHING if the profile holds no effect of anything (a
 * table then says why, and where the time went as far as known; the other formats are printed all
 * the same), or -ENOMEM.
 */
int cozk_report_print(const struct cozk_profile *p, const struct cozk_report_options *options, FILE *out);

/*
 * Why a profile has nothing to report, and what to try next, each in one line (@hint may become
 * empty). Returns false, and nothing in the buffers, if it has something.
 */
bool cozk_report_reason(const struct cozk_profile *p, const struct cozk_report_options *options, char *why,
			size_t whylen, char *hint, size_t hintlen);

/*
 * The run that .stats.run of the options means: COZK_RUN_LAST becomes an index; but where that run
 * is one single end-to-end measurement it becomes COZK_RUN_ALL, because only several runs together
 * tell anything then.
 */
size_t cozk_report_run(const struct cozk_profile *p, const struct cozk_report_options *options);

#endif
