// SPDX-License-Identifier: GPL-2.0-or-later
#include "scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cozk_scope_init(struct cozk_scope *scope)
{
	memset(scope, 0, sizeof(*scope));
}

void cozk_scope_deinit(struct cozk_scope *scope)
{
	for (int list = 0; list < COZK_SCOPE_LISTS; list++) {
		for (size_t i = 0; i < scope->lists[list].len; i++)
			free(scope->lists[list].v[i]);
		free(scope->lists[list].v);
	}
	cozk_scope_init(scope);
}

int cozk_scope_add(struct cozk_scope *scope, enum cozk_scope_list list, const char *pattern)
{
	size_t len = scope->lists[list].len;
	char **v, *copy;

	if (!*pattern)
		return -EINVAL;
	v = reallocarray(scope->lists[list].v, len + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	scope->lists[list].v = v;
	copy = strdup(pattern);
	if (!copy)
		return -ENOMEM;
	v[len] = copy;
	scope->lists[list].len = len + 1;
	return 0;
}

bool cozk_scope_match(const char *pattern, const char *text)
{
	const char *retry_pattern = NULL, *retry_text = NULL;

	/*
	 * Going back to the last '%' only is enough: an earlier one could not match less text than
	 * it has.
	 */
	while (*text || *pattern) {
		if (*pattern == '%') {
			retry_pattern = ++pattern;
			retry_text = text;
		} else if (*text && *pattern == *text) {
			pattern++;
			text++;
		} else if (retry_pattern && *retry_text) {
			pattern = retry_pattern;
			text = ++retry_text;
		} else {
			return false;
		}
	}
	return true;
}

static bool list_matches(const struct cozk_scope *scope, enum cozk_scope_list list, const char *text)
{
	for (size_t i = 0; i < scope->lists[list].len; i++) {
		if (cozk_scope_match(scope->lists[list].v[i], text))
			return true;
	}
	return false;
}

static bool list_has(const struct cozk_scope *scope, enum cozk_scope_list list, const char *word)
{
	for (size_t i = 0; i < scope->lists[list].len; i++) {
		if (!strcmp(scope->lists[list].v[i], word))
			return true;
	}
	return false;
}

bool cozk_scope_binary(const struct cozk_scope *scope, const char *path, bool is_main)
{
	if (list_matches(scope, COZK_SCOPE_BINARY_EXCLUDE, path))
		return false;
	if (is_main && list_has(scope, COZK_SCOPE_BINARY_EXCLUDE, "MAIN"))
		return false;
	if (!scope->lists[COZK_SCOPE_BINARY].len)
		return is_main;
	return (is_main && list_has(scope, COZK_SCOPE_BINARY, "MAIN")) || list_matches(scope, COZK_SCOPE_BINARY, path);
}

bool cozk_scope_source(const struct cozk_scope *scope, const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	if (!strcmp(base, "coz.h") || !strcmp(base, "cozk.h"))
		return false;
	if (list_matches(scope, COZK_SCOPE_SOURCE_EXCLUDE, path))
		return false;
	return !scope->lists[COZK_SCOPE_SOURCE].len || list_matches(scope, COZK_SCOPE_SOURCE, path);
}
