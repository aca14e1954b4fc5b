/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of `cozk list`. */
#ifndef COZK_LIST_H
#define COZK_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "binary.h"
#include "scope.h"

struct cozk_list_options {
	const char *what;    /* sessions, functions, lines, points */
	const char *program; /* PROG or PID, NULL for sessions */
	struct cozk_scope scope;
	bool json;
};

/* Each prints to stdout, complains on stderr, and returns the exit status. */
int cozk_list_sessions(const struct cozk_list_options *options);
int cozk_list_functions(const struct cozk_list_options *options);
int cozk_list_lines(const struct cozk_list_options *options);
int cozk_list_points(const struct cozk_list_options *options);

/* The binaries in scope of the program or process; v[0] is the main one if has_main. */
struct cozk_list_binaries {
	struct cozk_binary **v;
	size_t len;
	bool has_main;
	bool is_process;
	char main_path[4096];
};

/* Returns 0, or says what is wrong and returns the exit status. */
int cozk_list_binaries_open(const struct cozk_list_options *options, struct cozk_list_binaries *ret);
void cozk_list_binaries_close(struct cozk_list_binaries *binaries);

/* A JSON array on stdout, element by element: it may be long. Zeroed to begin with. */
struct cozk_list_array {
	bool any;
};

/* Takes over @element; NULL (no memory) is -ENOMEM. Returns 0 or -errno. */
int cozk_list_array_add(struct cozk_list_array *array, json_t *element);
void cozk_list_array_end(struct cozk_list_array *array);

#endif
