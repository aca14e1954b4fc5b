// SPDX-License-Identifier: GPL-2.0-or-later
#include "linepath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Start of the last component in [path, end), which has no trailing '/'. */
static char *last_component(char *path, char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

void cozk_path_tidy(char *path)
{
	bool absolute = *path == '/';
	char *start = path + absolute, *out = start, *in = start;

	/*
	 * Output never overtakes input: every component but the first had a '/' before it there,
	 * too.
	 */
	while (*in) {
		size_t len = strcspn(in, "/");
		char *last = last_component(start, out);
		bool up = len == 2 && in[0] == '.' && in[1] == '.';

		if (!len || (len == 1 && in[0] == '.')) {
			/* nothing to keep */
		} else if (up && out > start && !(out - last == 2 && last[0] == '.' && last[1] == '.')) {
			out = last > start ? last - 1 : start;
		} else if (!up || !absolute) {
			if (out > start)
				*out++ = '/';
			memmove(out, in, len);
			out += len;
		}
		in += len;
		in += *in == '/';
	}
	*out = '\0';
}

char *cozk_path_join(const char *base, const char *dir, const char *name)
{
	char *path;

	if (*name == '/')
		dir = base = NULL;
	else if (dir && *dir == '/')
		base = NULL;
	if (asprintf(&path, "%s%s%s%s%s", base ? base : "", base ? "/" : "", dir ? dir : "", dir ? "/" : "", name) < 0)
		return NULL;
	cozk_path_tidy(path);
	return path;
}

bool cozk_path_ends(const char *path, const char *suffix)
{
	size_t len = strlen(path), cut;

	while (!strncmp(suffix, "./", 2))
		suffix += 2;
	cut = strlen(suffix);
	if (!cut || cut > len || strcmp(path + len - cut, suffix))
		return false;
	return cut == len || (*suffix != '/' && path[len - cut - 1] == '/');
}
