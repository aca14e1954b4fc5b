// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "diag.h"
#include "list.h"

enum {
	OPT_BINARY_EXCLUDE = 256,
	OPT_SOURCE_EXCLUDE,
	OPT_JSON,
};

static const struct argp_option option_table[] = {
	{ "binary-scope", 'b', "PATTERN", 0,
	  "Binaries; % is any text, MAIN the main program (default MAIN; repeatable)", 1 },
	{ "binary-exclude", OPT_BINARY_EXCLUDE, "PATTERN", 0, "Leave these binaries out", 1 },
	{ "source-scope", 's', "PATTERN", 0, "Source files (default %; repeatable)", 1 },
	{ "source", 's', "PATTERN", OPTION_ALIAS, NULL, 1 },
	{ "source-exclude", OPT_SOURCE_EXCLUDE, "PATTERN", 0, "Leave these source files out", 1 },
	{ "json", OPT_JSON, NULL, 0, "A JSON array for programs instead of text", 2 },
	{ 0 },
};

static const char args_doc[] = "sessions\nfunctions PROG|PID\nlines PROG|PID\npoints PROG|PID";
static const char doc[] =
	"List the open sessions, or what of a program or running process can be a target."
	"\v"
	"sessions   who profiles what now; you see your own, root sees all. PAUSED is the time that its "
	"threads were held, all together, in percent of its age.\n"
	"functions  names that --fixed-function takes\n"
	"lines      FILE:LINE that --fixed-line takes: lines with code, in scope\n"
	"points     where the program counts progress (COZ_PROGRESS, COZ_BEGIN, COZ_END)\n\n"
	"Examples:\n"
	"  cozk list sessions --json\n"
	"  cozk list lines -s %/parser/% ./prog\n"
	"  cozk list functions -b MAIN -b %/libz% 4711\n\n"
	"Status: 0; 2 wrong use; 3 there is none of it; 65 not an ELF program; 69 the module is not "
	"loaded; 77 not permitted; 126, 127 as for the shell.";

/* What can be listed: its name, and the function for it. */
static const struct {
	const char *name;
	bool of_program;
	int (*list)(const struct cozk_list_options *options);
} kinds[] = {
	{ "sessions", false, cozk_list_sessions },
	{ "functions", true, cozk_list_functions },
	{ "lines", true, cozk_list_lines },
	{ "points", true, cozk_list_points },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static size_t kind_of(const char *name)
{
	size_t kind = 0;

	while (kind < KINDS && strcmp(kinds[kind].name, name))
		kind++;
	return kind;
}

static error_t add_scope(struct argp_state *state, enum cozk_scope_list list, const char *pattern)
{
	struct cozk_list_options *options = state->input;
	int rc = cozk_scope_add(&options->scope, list, pattern);

	if (rc == -EINVAL)
		argp_error(state, "an empty pattern matches nothing");
	return -rc;
}

static void check_end(struct argp_state *state)
{
	struct cozk_list_options *options = state->input;
	size_t kind;

	if (!options->what)
		argp_error(state, "say what to list: sessions, functions, lines or points");
	kind = kind_of(options->what);
	if (kind == KINDS)
		argp_error(state, "cannot list '%s': sessions, functions, lines or points", options->what);
	else if (kinds[kind].of_program && !options->program)
		argp_error(state, "%s of which program? Give its name, path or process id", options->what);
	else if (!kinds[kind].of_program && options->program)
		argp_error(state, "%s takes no argument: %s", options->what, options->program);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cozk_list_options *options = state->input;

	switch (key) {
	case 'b':
		return add_scope(state, COZK_SCOPE_BINARY, arg);
	case OPT_BINARY_EXCLUDE:
		return add_scope(state, COZK_SCOPE_BINARY_EXCLUDE, arg);
	case 's':
		return add_scope(state, COZK_SCOPE_SOURCE, arg);
	case OPT_SOURCE_EXCLUDE:
		return add_scope(state, COZK_SCOPE_SOURCE_EXCLUDE, arg);
	case OPT_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			options->what = arg;
		else if (state->arg_num == 1)
			options->program = arg;
		else
			argp_error(state, "one program at a time: '%s' is too much", arg);
		return 0;
	case ARGP_KEY_END:
		check_end(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_list(int argc, char **argv)
{
	static const struct argp argp = { option_table, parse_option, args_doc, doc, NULL, NULL, NULL };
	struct cozk_list_options options = { 0 };
	int status = COZK_EXIT_FAILURE;
	error_t error;

	argp_err_exit_status = COZK_EXIT_USAGE;
	error = argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (error)
		cozk_errorf(NULL, "list: %s", strerror(error));
	else
		status = kinds[kind_of(options.what)].list(&options);
	cozk_scope_deinit(&options.scope);
	if (status == COZK_EXIT_OK && (fflush(stdout) || ferror(stdout))) {
		cozk_errorf(NULL, "list: cannot write: %s", strerror(errno));
		status = COZK_EXIT_IOERR;
	}
	return status;
}

int cozk_list_array_add(struct cozk_list_array *array, json_t *element)
{
	if (!element)
		return -ENOMEM;
	fputs(array->any ? ",\n " : "[\n ", stdout);
	array->any = true;
	json_dumpf(element, stdout, JSON_COMPACT);
	json_decref(element);
	return ferror(stdout) ? -EIO : 0;
}

void cozk_list_array_end(struct cozk_list_array *array)
{
	puts(array->any ? "\n]" : "[]");
}
