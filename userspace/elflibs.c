// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding a program's libraries without running it or its dynamic linker. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elfimage.h"

enum { LIBRARIES_MAX = 512 };

/* In the order of the dynamic linker, without its cache. */
static const char system_folders[] =
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/usr/local/lib/x86_64-linux-gnu:"
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/local/lib/aarch64-linux-gnu:"
#endif
	"/usr/local/lib:/lib64:/usr/lib64:/lib:/usr/lib";

struct walk {
	char *names[LIBRARIES_MAX]; /* asked for, found or not */
	char *paths[LIBRARIES_MAX]; /* found; paths[0] is the program */
	size_t names_len, paths_len;
	bool system;
};

/* One folder of a search path, with $ORIGIN put in. Returns false if it is of no use. */
static bool expand_folder(const char *folder, size_t len, const char *origin, char *buf, size_t size)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t word = strlen(words[i]);

		if (len >= word && !strncmp(folder, words[i], word))
			return snprintf(buf, size, "%s%.*s", origin, (int)(len - word), folder + word) < (int)size;
	}
	return len && !memchr(folder, '$', len) && snprintf(buf, size, "%.*s", (int)len, folder) < (int)size;
}

/* Looks for @name in the folders of @list, separated by ':'. Returns a new string or NULL. */
static char *find_in(const char *list, const char *origin, const char *name)
{
	while (list && *list) {
		size_t len = strcspn(list, ":");
		char folder[PATH_MAX], path[PATH_MAX];

		if (expand_folder(list, len, origin, folder, sizeof(folder)) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) && !access(path, R_OK))
			return realpath(path, NULL);
		list += len + (list[len] == ':');
	}
	return NULL;
}

static char *find_library(const struct walk *w, const struct cozk_elf_dynamic *dynamic, const char *origin,
			  const char *name)
{
	char *path;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	path = find_in(dynamic->rpath, origin, name);
	if (!path)
		path = find_in(getenv("LD_LIBRARY_PATH"), origin, name);
	if (!path)
		path = find_in(origin, origin, name);
	if (!path && w->system)
		path = find_in(system_folders, origin, name);
	return path;
}

static bool is_known(char *const *list, size_t len, const char *text)
{
	for (size_t i = 0; i < len; i++) {
		if (!strcmp(list[i], text))
			return true;
	}
	return false;
}

static int add_library(struct walk *w, const struct cozk_elf_dynamic *dynamic, const char *origin, const char *name)
{
	char *path;

	if (w->names_len == LIBRARIES_MAX || is_known(w->names, w->names_len, name))
		return 0;
	w->names[w->names_len] = strdup(name);
	if (!w->names[w->names_len])
		return -ENOMEM;
	w->names_len++;
	path = find_library(w, dynamic, origin, name);
	if (!path || w->paths_len == LIBRARIES_MAX || is_known(w->paths, w->paths_len, path))
		free(path);
	else
		w->paths[w->paths_len++] = path;
	return 0;
}

/* Takes in what one file needs. */
static int add_needed(struct walk *w, const char *path)
{
	struct cozk_elf_dynamic dynamic;
	struct cozk_elfimage image;
	char origin[PATH_MAX];
	char *slash;
	int rc = 0;

	snprintf(origin, sizeof(origin), "%s", path);
	slash = strrchr(origin, '/');
	if (slash)
		*slash = '\0';
	/* A library that cannot be read is one that cannot be looked at: the rest still counts. */
	if (cozk_elfimage_open(path, &image))
		return 0;
	if (cozk_elfimage_dynamic(&image, &dynamic)) {
		for (size_t i = 0; i < dynamic.needed_len && !rc; i++)
			rc = add_library(w, &dynamic, origin, dynamic.needed[i]);
	}
	cozk_elfimage_close(&image);
	return rc;
}

int cozk_elf_libraries(const char *path, bool system, int (*fn)(const char *path, void *arg), void *arg)
{
	struct walk *w = calloc(1, sizeof(*w));
	int rc = 0;

	if (!w)
		return -ENOMEM;
	w->system = system;
	w->paths[0] = realpath(path, NULL);
	w->paths_len = w->paths[0] ? 1 : 0;
	for (size_t i = 0; i < w->paths_len && !rc; i++) {
		if (i)
			rc = fn(w->paths[i], arg);
		if (!rc)
			rc = add_needed(w, w->paths[i]);
	}
	for (size_t i = 0; i < w->paths_len; i++)
		free(w->paths[i]);
	for (size_t i = 0; i < w->names_len; i++)
		free(w->names[i]);
	free(w);
	return rc;
}
