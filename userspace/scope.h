/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_SCOPE_H
#define COZK_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What may be a target. Patterns are Coz's: '%' matches any text, also none and also '/'; the rest
 * is literal and the whole path must match. "MAIN" as a binary pattern is the main executable.
 * Excludes win over includes.
 */
enum cozk_scope_list {
	COZK_SCOPE_BINARY,
	COZK_SCOPE_BINARY_EXCLUDE,
	COZK_SCOPE_SOURCE,
	COZK_SCOPE_SOURCE_EXCLUDE,
	COZK_SCOPE_LISTS,
};

struct cozk_scope {
	struct {
		char **v;
		size_t len;
	} lists[COZK_SCOPE_LISTS];
};

/* An empty scope means the defaults: binary MAIN, source '%'. Zeroed memory is the same. */
void cozk_scope_init(struct cozk_scope *scope);
void cozk_scope_deinit(struct cozk_scope *scope);

/* Adds a copy of @pattern. Returns 0, -EINVAL for an empty pattern or -ENOMEM. */
int cozk_scope_add(struct cozk_scope *scope, enum cozk_scope_list list, const char *pattern);

/*
 * Is the binary at @path (as in /proc/PID/maps) in scope? @is_main: it is its process's executable.
 */
bool cozk_scope_binary(const struct cozk_scope *scope, const char *path, bool is_main);

/*
 * Is the source file in scope? @path is absolute, or "" for code without line information, which
 * only '%' and no exclude lets in. Files named coz.h and cozk.h are the profiler's own and never in
 * scope.
 */
bool cozk_scope_source(const struct cozk_scope *scope, const char *path);

/* Does @text as a whole match @pattern ('%' is any text)? */
bool cozk_scope_match(const char *pattern, const char *text);

#endif
