/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_PROFILE_READ_H
#define COZK_PROFILE_READ_H

#include <stddef.h>
#include <stdio.h>

#include "profile.h"

enum { COZK_READ_WARNINGS_MAX = 8 }; /* kept in words; the rest is counted */

/* What a reading met besides good records. All zero before reading. */
struct cozk_read_report {
	size_t lines;				    /* not empty */
	size_t records;				    /* understood */
	size_t bad_lines;			    /* no JSON object, or a needed key missing or of the wrong type */
	size_t bad_durations;			    /* windows whose duration underflowed; kept in the profile with
				   duration 0 */
	char warnings[COZK_READ_WARNINGS_MAX][160]; /* "line 12: ..." */
	size_t warnings_len;			    /* found, maybe more than are kept */
};

/*
 * Adds the profile at @path ("-": standard input), ours or Coz's JSON Lines, to @profile. Unknown
 * keys and record types are passed over (types with a warning); a line that makes no sense is
 * reported and skipped. Returns 0, -EINVAL when no line is a record (@err says what the file seems
 * to be instead), -ENOMEM, or the -errno of opening or reading; @err then holds one line, "PATH:
 * reason". What was read before an error stays in @profile.
 */
int cozk_profile_read(const char *path, struct cozk_profile *profile, struct cozk_read_report *report, char *err,
		      size_t errlen);

/* The same from a stream; @name is for messages. */
int cozk_profile_read_stream(FILE *in, const char *name, struct cozk_profile *profile, struct cozk_read_report *report,
			     char *err, size_t errlen);

#endif
