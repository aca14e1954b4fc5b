// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cozk.h"
#include "diag.h"
#include "lines.h"
#include "linesearch.h"
#include "list.h"
#include "points.h"
#include "preload.h"
#include "symbols.h"
#include "table.h"

static const char no_lines_hint[] = "build it with -g, or install its debug symbols (DEBUGINFOD_URLS also finds them)";

struct code_list {
	const struct cozk_list_options *options;
	const struct cozk_list_binaries *binaries;
	struct cozk_binary *binary; /* being listed */
	struct cozk_list_array array;
	struct cozk_table *table; /* of points */
	void *names;		  /* of the binary's functions that were printed: clones share one */
	size_t len;
};

static int out_of_memory(void)
{
	cozk_error("out of memory", NULL);
	return COZK_EXIT_FAILURE;
}

static int nothing(const struct cozk_list_options *options, const char *what, const char *hint)
{
	cozk_errorf(hint, "%s: %s", options->program, what);
	return COZK_EXIT_NOTHING;
}

/* Does source scope let the function in? Without patterns that need not be looked up. */
static int function_in_scope(const struct code_list *list, const struct cozk_symbol *sym)
{
	const struct cozk_scope *scope = &list->options->scope;
	struct cozk_frames frames;
	const char *file;
	int rc;

	if (!scope->lists[COZK_SCOPE_SOURCE].len && !scope->lists[COZK_SCOPE_SOURCE_EXCLUDE].len)
		return 1;
	rc = cozk_lines_frames(list->binary, sym->start, &frames);
	if (rc == -ENOENT)
		return cozk_scope_source(scope, "");
	if (rc)
		return rc;
	file = frames.len ? frames.v[frames.len - 1].file : NULL;
	rc = cozk_scope_source(scope, file ? file : "");
	cozk_frames_deinit(&frames);
	return rc;
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Returns 1 if the name is new, 0 if not, or -ENOMEM. */
static int name_add(struct code_list *list, const char *name)
{
	char *copy = strdup(name), **node;

	if (!copy)
		return -ENOMEM;
	node = tsearch(copy, &list->names, name_cmp);
	if (node && *node == copy)
		return 1;
	free(copy);
	return node ? 0 : -ENOMEM;
}

static int print_function(const struct cozk_symbol *sym, const char *display, void *arg)
{
	struct code_list *list = arg;
	int rc = function_in_scope(list, sym);

	if (rc <= 0)
		return rc;
	list->len++;
	if (list->options->json)
		return cozk_list_array_add(&list->array,
					   json_pack("{s:s, s:s, s:I, s:I}", "function", display, "binary",
						     list->binary->path, "address", (json_int_t)sym->start, "size",
						     (json_int_t)(sym->end - sym->start)));
	rc = name_add(list, display);
	if (rc <= 0)
		return rc;
	if (list->binaries->len > 1)
		rc = printf("%s\t%s\n", display, list->binary->path);
	else
		rc = puts(display);
	return rc < 0 ? -EIO : 0;
}

static int print_functions(struct code_list *list)
{
	int rc = 0;

	for (size_t i = 0; i < list->binaries->len && !rc; i++) {
		list->binary = list->binaries->v[i];
		rc = cozk_symbols_each(list->binary, print_function, list);
		tdestroy(list->names, free);
		list->names = NULL;
	}
	return rc;
}

int cozk_list_functions(const struct cozk_list_options *options)
{
	struct cozk_list_binaries binaries;
	struct code_list list = { .options = options, .binaries = &binaries };
	int rc = cozk_list_binaries_open(options, &binaries);

	if (rc)
		return rc;
	rc = print_functions(&list);
	if (options->json)
		cozk_list_array_end(&list.array);
	if (rc)
		rc = rc == -ENOMEM ? out_of_memory() : COZK_EXIT_IOERR;
	else if (!list.len)
		rc = nothing(options, "no function symbols in scope",
			     "a stripped program is tried in pieces named NAME+0xADDRESS; an unstripped one, or its "
			     "debug symbols, gives names");
	cozk_list_binaries_close(&binaries);
	return rc;
}

static int print_line(const char *file, unsigned int line, void *arg)
{
	struct code_list *list = arg;

	list->len++;
	if (list->options->json)
		return cozk_list_array_add(&list->array, json_pack("{s:s, s:I, s:s}", "file", file, "line",
								   (json_int_t)line, "binary", list->binary->path));
	return printf("%s:%u\n", file, line) < 0 ? -EIO : 0;
}

/* Returns 0 or -errno; *@ret_without counts the binaries that have no line information. */
static int print_lines(struct code_list *list, size_t *ret_without)
{
	*ret_without = 0;
	for (size_t i = 0; i < list->binaries->len; i++) {
		int rc;

		list->binary = list->binaries->v[i];
		rc = cozk_lines_each(list->binary, &list->options->scope, print_line, list);
		if (rc == -ENOENT && !cozk_binary_dwarf(list->binary))
			++*ret_without;
		else if (rc && rc != -ENOENT)
			return rc;
	}
	return 0;
}

/* Without any line information functions are what `cozk run` tries. */
static int lines_fallback(struct code_list *list)
{
	int rc;

	cozk_warningf(no_lines_hint, "%s has no line information: its functions are listed instead",
		      list->options->program);
	rc = print_functions(list);
	if (rc)
		return rc;
	if (list->len)
		return 0;
	return nothing(list->options, "no line information and no function symbols", no_lines_hint);
}

int cozk_list_lines(const struct cozk_list_options *options)
{
	struct cozk_list_binaries binaries;
	struct code_list list = { .options = options, .binaries = &binaries };
	size_t without;
	int rc = cozk_list_binaries_open(options, &binaries);

	if (rc)
		return rc;
	rc = print_lines(&list, &without);
	if (!rc && without == binaries.len)
		rc = lines_fallback(&list);
	if (options->json)
		cozk_list_array_end(&list.array);
	if (rc < 0)
		rc = rc == -ENOMEM ? out_of_memory() : COZK_EXIT_IOERR;
	else if (!rc && !list.len)
		rc = nothing(options, "no line with code is in scope",
			     "patterns match whole paths and % is any text: -s %/src/%");
	cozk_list_binaries_close(&binaries);
	return rc;
}

static const char *type_name(int type)
{
	switch (type) {
	case COZK_POINT_THROUGHPUT:
		return "throughput";
	case COZK_POINT_BEGIN:
		return "begin";
	case COZK_POINT_END:
		return "end";
	default:
		return NULL;
	}
}

static int add_point(const char *file, unsigned int line, void *arg)
{
	struct code_list *list = arg;
	struct cozk_point_text text;
	const char *type;

	list->len++;
	cozk_point_text_read(file, line, &text);
	type = type_name(text.type);
	if (list->options->json)
		return cozk_list_array_add(&list->array,
					   json_pack("{s:s, s:I, s:s, s:s?, s:s?, s:s?}", "file", file, "line",
						     (json_int_t)line, "binary", list->binary->path, "type", type,
						     "name", *text.name ? text.name : NULL, "source",
						     *text.source ? text.source : NULL));
	cozk_table_cellf(list->table, COZK_STYLE_PLAIN, "%s:%u", file, line);
	cozk_table_cell(list->table, COZK_STYLE_PLAIN, type ? type : "-");
	cozk_table_cell(list->table, COZK_STYLE_PLAIN, *text.source ? text.source : "(the source is not here)");
	return 0;
}

/* Nothing was found by debug information: what can be said all the same. */
static int explain_no_points(const struct code_list *list, bool has_lines)
{
	const struct cozk_list_options *options = list->options;
	bool in_text = false;

	for (size_t i = 0; i < list->binaries->len && !in_text; i++)
		in_text = cozk_preload_has_points(list->binaries->v[i]->path) > 0;
	if (in_text && !has_lines)
		return nothing(options, "has progress points; without debug information it cannot be told where",
			       no_lines_hint);
	if (in_text)
		return nothing(options, "looks progress points up, but its debug information shows none",
			       "`cozk run` shows those that are visited");
	return nothing(options, "has no progress points",
		       "put COZ_PROGRESS (cozk.h) where a unit of work is done; without, `cozk run` takes the whole "
		       "run as the unit");
}

/* Returns 0 or -errno; *@ret_has_lines: some binary had debug information. */
static int collect_points(struct code_list *list, bool *ret_has_lines)
{
	*ret_has_lines = false;
	for (size_t i = 0; i < list->binaries->len; i++) {
		int rc;

		list->binary = list->binaries->v[i];
		rc = cozk_points_each(list->binary, add_point, list);
		if (!rc)
			*ret_has_lines = true;
		else if (rc != -ENOENT)
			return rc;
	}
	return 0;
}

int cozk_list_points(const struct cozk_list_options *options)
{
	struct cozk_list_binaries binaries;
	struct code_list list = { .options = options, .binaries = &binaries };
	bool has_lines;
	int rc = cozk_list_binaries_open(options, &binaries);

	if (rc)
		return rc;
	if (!options->json) {
		list.table = cozk_table_create();
		cozk_table_column(list.table, "LOCATION", COZK_ALIGN_LEFT, COZK_CUT_NEVER);
		cozk_table_column(list.table, "TYPE", COZK_ALIGN_LEFT, COZK_CUT_NEVER);
		cozk_table_column(list.table, "SOURCE", COZK_ALIGN_LEFT, COZK_CUT_END);
	}
	rc = collect_points(&list, &has_lines);
	if (options->json)
		cozk_list_array_end(&list.array);
	else if (!rc && list.len)
		rc = cozk_table_print(list.table, stdout, cozk_terminal_width(stdout), cozk_terminal_colour(stdout));
	if (rc)
		rc = rc == -ENOMEM ? out_of_memory() : COZK_EXIT_IOERR;
	else if (!list.len)
		rc = explain_no_points(&list, has_lines);
	cozk_table_destroy(list.table);
	cozk_list_binaries_close(&binaries);
	return rc;
}
