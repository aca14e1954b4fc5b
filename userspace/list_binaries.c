// SPDX-License-Identifier: GPL-2.0-or-later
/* Which ELF files a listing is about: those of a program on disk, or of a running process. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "diag.h"
#include "elfimage.h"
#include "list.h"
#include "maps.h"
#include "program.h"

static int add(struct cozk_list_binaries *b, struct cozk_binary *binary)
{
	struct cozk_binary **v = reallocarray(b->v, b->len + 1, sizeof(struct cozk_binary *));

	if (!v) {
		cozk_binary_close(binary);
		return -ENOMEM;
	}
	b->v = v;
	v[b->len++] = binary;
	return 0;
}

struct program_walk {
	const struct cozk_scope *scope;
	struct cozk_list_binaries *binaries;
};

static int add_library(const char *path, void *arg)
{
	struct program_walk *walk = arg;
	struct cozk_binary *binary;
	int rc;

	if (!cozk_scope_binary(walk->scope, path, false))
		return 0;
	rc = cozk_binary_open_path(path, &binary);
	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		cozk_warningf(NULL, "cannot read %s: %s", path, strerror(-rc));
		return 0;
	}
	return add(walk->binaries, binary);
}

static int open_failed(const char *path, int error)
{
	if (error == -ENOEXEC) {
		cozk_errorf("for a script, give the process id while it runs, or its interpreter",
			    "%s is not an ELF program", path);
		return COZK_EXIT_DATAERR;
	}
	cozk_errorf(error == -EACCES ? "try it as root" : NULL, "cannot read %s: %s", path, strerror(-error));
	return error == -EACCES ? COZK_EXIT_NOPERM : COZK_EXIT_NOINPUT;
}

/* Libraries that need not be executable are fine, too: what is found by path is taken as it is. */
static int find_program(const char *name, char *buf, size_t len)
{
	char why[PATH_MAX + 128];
	int error = cozk_program_find(name, buf, len, why, sizeof(why));

	if (!error)
		return 0;
	if (error == -EACCES && strchr(name, '/') && !access(name, R_OK)) {
		snprintf(buf, len, "%s", name);
		return 0;
	}
	cozk_error(why, cozk_program_hint(error));
	return cozk_program_exit_status(error);
}

static int open_program(const struct cozk_list_options *options, struct cozk_list_binaries *b)
{
	struct program_walk walk = { &options->scope, b };
	char found[PATH_MAX], *real;
	struct cozk_binary *binary;
	int rc = find_program(options->program, found, sizeof(found));

	if (rc)
		return rc;
	/* The path that the kernel will show when the program runs: patterns are about that one. */
	real = realpath(found, NULL);
	snprintf(b->main_path, sizeof(b->main_path), "%s", real ? real : found);
	free(real);
	rc = cozk_binary_open_path(b->main_path, &binary);
	if (rc)
		return open_failed(options->program, rc);
	b->has_main = cozk_scope_binary(&options->scope, b->main_path, true);
	if (b->has_main)
		rc = add(b, binary);
	else
		cozk_binary_close(binary);
	if (!rc && options->scope.lists[COZK_SCOPE_BINARY].len)
		rc = cozk_elf_libraries(b->main_path, true, add_library, &walk);
	return rc;
}

static bool is_double(const struct cozk_maps *maps, size_t at)
{
	const struct cozk_map *map = &maps->v[at];

	for (size_t i = 0; i < at; i++) {
		const struct cozk_map *other = &maps->v[i];

		if (other->inode == map->inode && other->dev_major == map->dev_major &&
		    other->dev_minor == map->dev_minor && !strcmp(other->path, map->path))
			return true;
	}
	return false;
}

static int add_map(struct cozk_list_binaries *b, pid_t pid, const struct cozk_map *map)
{
	struct cozk_binary *binary;
	int fd = cozk_map_open(pid, map);
	int rc = fd < 0 ? fd : cozk_binary_open(fd, map->path, &binary);

	if (rc) {
		if (fd >= 0)
			close(fd);
		cozk_warningf(NULL, "cannot read %s: %s", map->path, strerror(-rc));
		return rc == -ENOMEM ? rc : 0;
	}
	if (map->is_main)
		b->has_main = true;
	rc = add(b, binary);
	if (!rc && map->is_main && b->len > 1) {
		b->v[b->len - 1] = b->v[0];
		b->v[0] = binary;
	}
	return rc;
}

static int process_failed(pid_t pid, int error)
{
	if (error == -ESRCH || error == -ENOENT) {
		cozk_errorf("`ps -e` lists them; kernel threads have no code of their own to list", "no process %d",
			    (int)pid);
		return COZK_EXIT_NOINPUT;
	}
	if (error == -EACCES || error == -EPERM) {
		cozk_errorf("try it as root, or as the process's own user", "not permitted to look at process %d",
			    (int)pid);
		return COZK_EXIT_NOPERM;
	}
	cozk_errorf(NULL, "cannot read the mappings of process %d: %s", (int)pid, strerror(-error));
	return COZK_EXIT_FAILURE;
}

static int open_process(const struct cozk_list_options *options, pid_t pid, struct cozk_list_binaries *b)
{
	struct cozk_maps maps = { 0 };
	int rc = cozk_maps_read(pid, &maps);

	if (rc)
		return process_failed(pid, rc);
	b->is_process = true;
	for (size_t i = 0; i < maps.len && !rc; i++) {
		const struct cozk_map *map = &maps.v[i];

		if (map->is_main)
			snprintf(b->main_path, sizeof(b->main_path), "%s", map->path);
		if (map->kind == COZK_MAP_FILE && !is_double(&maps, i) &&
		    cozk_scope_binary(&options->scope, map->path, map->is_main))
			rc = add_map(b, pid, map);
	}
	cozk_maps_deinit(&maps);
	return rc;
}

/* All digits is a process id; a program of such a name can still be given with a '/'. */
static bool parse_pid(const char *text, pid_t *ret)
{
	long long value = 0;

	for (const char *p = text; *p; p++) {
		if (!isdigit((unsigned char)*p) || value > INT32_MAX)
			return false;
		value = value * 10 + (*p - '0');
	}
	*ret = (pid_t)value;
	return *text && value <= INT32_MAX;
}

int cozk_list_binaries_open(const struct cozk_list_options *options, struct cozk_list_binaries *ret)
{
	pid_t pid;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (parse_pid(options->program, &pid))
		rc = open_process(options, pid, ret);
	else
		rc = open_program(options, ret);
	if (rc == -ENOMEM) {
		cozk_error("out of memory", NULL);
		rc = COZK_EXIT_FAILURE;
	} else if (!rc && !ret->len) {
		cozk_errorf("patterns match whole paths and % is any text: -b %/libfoo.so%",
			    "no binary of %s is in scope", options->program);
		rc = COZK_EXIT_NOTHING;
	}
	if (rc)
		cozk_list_binaries_close(ret);
	return rc;
}

void cozk_list_binaries_close(struct cozk_list_binaries *binaries)
{
	for (size_t i = 0; i < binaries->len; i++)
		cozk_binary_close(binaries->v[i]);
	free(binaries->v);
	memset(binaries, 0, sizeof(*binaries));
}
