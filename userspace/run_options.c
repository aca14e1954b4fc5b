// SPDX-License-Identifier: GPL-2.0-or-later
#include "run_options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cozk.h"
#include "diag.h"

enum {
	OPT_BINARY_EXCLUDE = 256,
	OPT_SOURCE_EXCLUDE,
	OPT_BY,
	OPT_FIXED_LINE,
	OPT_FIXED_FUNCTION,
	OPT_FIXED_SPEEDUP,
	OPT_SPEEDUPS,
	OPT_SEED,
	OPT_DURATION,
	OPT_WINDOW,
	OPT_PERIOD,
	OPT_WINDOW_PERIOD,
	OPT_EVENT_PERIOD,
	OPT_END_TO_END,
	OPT_TRUNCATE,
	OPT_PRELOAD,
	OPT_NO_REPORT,
	OPT_DASHES,
};

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What may be a target:", 1 },
	{ "binary-scope", 'b', "PATTERN", 0,
	  "Binaries; % is any text, MAIN the main program (default MAIN; repeatable)", 1 },
	{ "binary-exclude", OPT_BINARY_EXCLUDE, "PATTERN", 0, "Leave these binaries out", 1 },
	{ "source-scope", 's', "PATTERN", 0, "Source files (default %; repeatable)", 1 },
	{ "source-exclude", OPT_SOURCE_EXCLUDE, "PATTERN", 0, "Leave these source files out", 1 },
	{ "by", OPT_BY, "line|function", 0,
	  "Try lines (default) or whole functions; code without line information goes by function", 1 },
	{ "fixed-line", OPT_FIXED_LINE, "FILE:LINE", 0, "Try only this line (repeatable)", 1 },
	{ "fixed-function", OPT_FIXED_FUNCTION, "NAME", 0, "Try only this function (repeatable)", 1 },
	{ NULL, 0, NULL, 0, "How it is tried:", 2 },
	{ "speedups", OPT_SPEEDUPS, "LIST|A-B:STEP", 0,
	  "Virtual speedups in percent (default 0-100:25); 0 is always among them", 2 },
	{ "fixed-speedup", OPT_FIXED_SPEEDUP, "PERCENT", 0, "The same as --speedups with one number", 2 },
	{ "seed", OPT_SEED, "N", 0, "Seed of the order of experiments (default: the time)", 2 },
	{ "duration", OPT_DURATION, "SECONDS", 0,
	  "End the program, and what it has started, by SIGTERM after this time", 2 },
	{ "window", OPT_WINDOW, "MS", 0, "Length of an experiment (default: adapted to the visits)", 2 },
	{ "end-to-end", OPT_END_TO_END, NULL, 0, "One experiment, which is the whole run", 2 },
	{ NULL, 0, NULL, 0, "Sampling:", 3 },
	{ "event", 'e', "EVENT", 0, "Sample on this event, by its libpfm4 name (default: the CPU clock)", 3 },
	{ "event-period", OPT_EVENT_PERIOD, "N", 0, "Events between two samples (default 1000000)", 3 },
	{ "period", OPT_PERIOD, "US", 0, "CPU time between two samples (default 1000)", 3 },
	{ "window-period", OPT_WINDOW_PERIOD, "US", 0, "The same inside experiments (default 100)", 3 },
	{ NULL, 0, NULL, 0, "Output and the program:", 4 },
	{ "output", 'o', "FILE", 0, "Profile to append to (default " COZK_PROFILE_DEFAULT ")", 4 },
	{ "truncate", OPT_TRUNCATE, NULL, 0, "Overwrite the profile", 4 },
	{ "no-report", OPT_NO_REPORT, NULL, 0, "Print no table at the end", 4 },
	{ "quiet", 'q', NULL, 0, "Only errors and the table", 4 },
	{ "preload", OPT_PRELOAD, "auto|always|never", 0,
	  "Load libcoz-lite into the program: if it has progress points (auto)", 4 },
	/* Coz's "---" is a long option to getopt, whose name is one dash. */
	{ "-", OPT_DASHES, NULL, OPTION_HIDDEN, NULL, 4 },
	{ "progress", 'p', "POINT", OPTION_HIDDEN, NULL, 4 },
	{ 0 },
};

static const char doc[] = "Run a program and measure what it would gain from each of its parts being faster."
			  "\vExamples:\n"
			  "  cozk run ./prog arg                        lines of prog, while it runs\n"
			  "  cozk run --by function --duration 60 ./server\n"
			  "  cozk run --fixed-line hot.c:42 --speedups 0,50 -o hot.jsonl ./prog\n"
			  "  cozk run -b MAIN -b %libz% --- ./prog      Coz's separator works too\n\n"
			  "The status is the program's own, or 128+N when signal N ended it; cozk's are in cozk(1).";

static uint64_t number(struct argp_state *state, const char *text, const char *what, double min, double max,
		       double scale)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !(value >= min && value <= max))
		argp_error(state, "%s '%s' is not a number from %g to %g", what, text, min, max);
	return value * scale;
}

static void append(const char ***list, size_t *len, const char *item)
{
	const char **bigger = reallocarray(*list, *len + 1, sizeof(*bigger));

	if (!bigger) {
		cozk_error("out of memory", NULL);
		exit(COZK_EXIT_FAILURE);
	}
	*list = bigger;
	bigger[(*len)++] = item;
}

static void add_scope(struct argp_state *state, struct cozk_run_options *options, enum cozk_scope_list list,
		      const char *pattern)
{
	if (cozk_scope_add(&options->scope, list, pattern))
		argp_error(state, "an empty pattern matches nothing");
}

static void parse_line(struct argp_state *state, const char *text)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		argp_error(state, "--fixed-line '%s': give FILE:LINE, as in main.c:42", text);
}

static int choose(struct argp_state *state, const char *option, const char *text, const char *const *choices)
{
	int i;

	for (i = 0; choices[i]; i++)
		if (!strcmp(text, choices[i]))
			return i;
	argp_error(state, "--%s '%s': it is %s or %s%s%s", option, text, choices[0], choices[1],
		   choices[2] ? " or " : "", choices[2] ? choices[2] : "");
	return 0;
}

static error_t parse_target(int key, char *arg, struct argp_state *state, struct cozk_run_options *options)
{
	static const char *const units[] = { "line", "function", NULL };

	switch (key) {
	case 'b':
		add_scope(state, options, COZK_SCOPE_BINARY, arg);
		return 0;
	case OPT_BINARY_EXCLUDE:
		add_scope(state, options, COZK_SCOPE_BINARY_EXCLUDE, arg);
		return 0;
	case 's':
		add_scope(state, options, COZK_SCOPE_SOURCE, arg);
		return 0;
	case OPT_SOURCE_EXCLUDE:
		add_scope(state, options, COZK_SCOPE_SOURCE_EXCLUDE, arg);
		return 0;
	case OPT_BY:
		options->by = choose(state, "by", arg, units) ? COZK_UNIT_FUNCTION : COZK_UNIT_LINE;
		return 0;
	case OPT_FIXED_LINE:
		parse_line(state, arg);
		append(&options->lines, &options->lines_len, arg);
		return 0;
	case OPT_FIXED_FUNCTION:
		append(&options->functions, &options->functions_len, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_experiment(int key, char *arg, struct argp_state *state, struct cozk_run_options *options)
{
	switch (key) {
	case OPT_SPEEDUPS:
	case OPT_FIXED_SPEEDUP:
		options->speedups = arg;
		return 0;
	case OPT_SEED:
		/* 2^53: every JSON reader keeps all digits of the record. */
		options->seed = number(state, arg, "seed", 0, 9007199254740991.0, 1);
		options->has_seed = true;
		return 0;
	case OPT_DURATION:
		options->duration_ns = number(state, arg, "duration", 0.001, 1e6, 1e9);
		return 0;
	case OPT_WINDOW:
		options->window_ns = number(state, arg, "window", 1, COZK_MAX_WINDOW_NS / 1e6, 1e6);
		return 0;
	case OPT_END_TO_END:
		options->end_to_end = true;
		return 0;
	case 'e':
		options->event = arg;
		return 0;
	case OPT_EVENT_PERIOD:
		options->event_period = number(state, arg, "event period", 1, 1e15, 1);
		return 0;
	case OPT_PERIOD:
		options->period_ns =
			number(state, arg, "period", COZK_MIN_PERIOD_NS / 1e3, COZK_MAX_PERIOD_NS / 1e3, 1e3);
		return 0;
	case OPT_WINDOW_PERIOD:
		options->window_period_ns =
			number(state, arg, "window period", COZK_MIN_PERIOD_NS / 1e3, COZK_MAX_PERIOD_NS / 1e3, 1e3);
		return 0;
	case 'p':
		argp_error(state, "-p: this version has no progress points on unchanged programs yet; add COZ_PROGRESS "
				  "from cozk.h "
				  "to the source, or leave -p out to measure end to end");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_output(int key, char *arg, struct argp_state *state, struct cozk_run_options *options)
{
	static const char *const modes[] = { "auto", "always", "never", NULL };

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case OPT_TRUNCATE:
		options->mode = COZK_PROFILE_TRUNCATE;
		return 0;
	case OPT_NO_REPORT:
		options->no_report = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case OPT_PRELOAD:
		options->preload = choose(state, "preload", arg, modes);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct cozk_run_options *options = state->input;

	if (key == ARGP_KEY_ARG) {
		/* Everything from the first word that is no option on is the program's. */
		options->program = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	}
	if (key == OPT_DASHES) {
		options->program = state->argv + state->next;
		state->next = state->argc;
		return 0;
	}
	if (key == ARGP_KEY_END) {
		if (!options->program || !options->program[0])
			argp_error(state, "which program? give it after the options");
		return 0;
	}
	if (parse_target(key, arg, state, options) == 0 || parse_experiment(key, arg, state, options) == 0)
		return 0;
	return parse_output(key, arg, state, options);
}

void cozk_run_options_parse(struct cozk_run_options *ret, int argc, char **argv)
{
	static const struct argp argp = {
		option_table, parse, "[--|---] PROGRAM [ARGUMENTS...]", doc, NULL, NULL, NULL
	};

	*ret = (struct cozk_run_options){
		.output = COZK_PROFILE_DEFAULT,
		.mode = COZK_PROFILE_APPEND,
		.by = COZK_UNIT_LINE,
		.period_ns = 1000000,
		.window_period_ns = 100000,
		.event_period = 1000000,
	};
	cozk_scope_init(&ret->scope);
	argp_err_exit_status = COZK_EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, ret);
}

void cozk_run_options_deinit(struct cozk_run_options *options)
{
	cozk_scope_deinit(&options->scope);
	free(options->lines);
	free(options->functions);
}
