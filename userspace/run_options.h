/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of `cozk run`. */
#ifndef COZK_RUN_OPTIONS_H
#define COZK_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "scope.h"

enum cozk_preload_mode {
	COZK_PRELOAD_AUTO,
	COZK_PRELOAD_ALWAYS,
	COZK_PRELOAD_NEVER,
};

struct cozk_run_options {
	struct cozk_scope scope;
	const char *output;
	enum cozk_profile_mode mode;
	enum cozk_unit by;
	const char **lines, **functions; /* fixed targets */
	size_t lines_len, functions_len;
	const char *speedups; /* as text; NULL: the default */
	bool has_seed;
	uint64_t seed;
	uint64_t duration_ns;	   /* 0: to the end of the program */
	uint64_t period_ns;	   /* between samples while looking */
	uint64_t window_period_ns; /* and inside windows */
	uint64_t window_ns;	   /* fixed length of windows, 0: adapted */
	const char *event;	   /* libpfm4 name, NULL: the clock */
	uint64_t event_period;
	bool end_to_end;
	enum cozk_preload_mode preload;
	bool no_report;
	bool quiet;
	char **program; /* NULL-terminated */
};

/* Exits with the usage status, and one message, when the options make no sense. */
void cozk_run_options_parse(struct cozk_run_options *ret, int argc, char **argv);
void cozk_run_options_deinit(struct cozk_run_options *options);

#endif
