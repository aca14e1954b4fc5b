// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char deleted_suffix[] = " (deleted)";

static bool cut_suffix(char *text, const char *suffix)
{
	size_t len = strlen(text), cut = strlen(suffix);

	if (len < cut || strcmp(text + len - cut, suffix))
		return false;
	text[len - cut] = '\0';
	return true;
}

/* The kernel writes a newline in a path as \012, and nothing else. */
static void unescape_newlines(char *path)
{
	char *out = path;

	for (; *path; out++) {
		if (!strncmp(path, "\\012", 4)) {
			*out = '\n';
			path += 4;
		} else {
			*out = *path++;
		}
	}
	*out = '\0';
}

static int map_name(struct cozk_map *map, const char *name)
{
	map->path = strdup(*name ? name : "[anon]");
	if (!map->path)
		return -ENOMEM;
	if (!*name || !strncmp(name, "[anon", 5) || !strncmp(name, "//anon", 6) || !strcmp(name, "[heap]") ||
	    !strncmp(name, "[stack", 6)) {
		map->kind = COZK_MAP_ANON;
	} else if (*name == '[' || !map->inode) {
		map->kind = COZK_MAP_SPECIAL;
	} else {
		map->kind = COZK_MAP_FILE;
		unescape_newlines(map->path);
	}
	return 0;
}

/* One line of /proc/PID/maps. Returns 1 for an executable mapping, 0 for another, or -errno. */
static int map_parse(char *line, const char *exe, struct cozk_map *ret)
{
	struct cozk_map map = { 0 };
	char perms[5];
	int name = 0, rc;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map.start, &map.end, perms,
		   &map.offset, &map.dev_major, &map.dev_minor, &map.inode, &name) < 7 ||
	    !name)
		return -EBADMSG;
	if (perms[2] != 'x')
		return 0;
	rc = map_name(&map, line + name);
	if (rc)
		return rc;
	if (map.kind == COZK_MAP_FILE) {
		/* /proc/PID/exe carries the same mark, so compare before it is taken off. */
		map.is_main = exe && !strcmp(map.path, exe);
		map.deleted = cut_suffix(map.path, deleted_suffix);
	}
	*ret = map;
	return 1;
}

static int maps_push(struct cozk_maps *maps, const struct cozk_map *map)
{
	if (maps->len == maps->cap) {
		size_t cap = maps->cap ? maps->cap * 2 : 16;
		struct cozk_map *v = reallocarray(maps->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		maps->v = v;
		maps->cap = cap;
	}
	maps->v[maps->len++] = *map;
	return 0;
}

int cozk_maps_parse(const char *text, const char *exe, struct cozk_maps *ret)
{
	struct cozk_maps maps = { 0 };
	char *copy = strdup(text), *rest = copy, *line;
	int rc = copy ? 0 : -ENOMEM;

	while (rc >= 0 && rest && (line = strsep(&rest, "\n"))) {
		struct cozk_map map;

		if (!*line)
			continue;
		rc = map_parse(line, exe, &map);
		if (rc == 1) {
			rc = maps_push(&maps, &map);
			if (rc)
				free(map.path);
		}
	}
	free(copy);
	if (rc < 0) {
		cozk_maps_deinit(&maps);
		return rc;
	}
	cozk_maps_deinit(ret);
	*ret = maps;
	return 0;
}

/* Whole content of a file of /proc, whose size is not known beforehand. */
static int read_all(const char *path, char **ret)
{
	size_t len = 0, cap = 16384;
	char *buf = malloc(cap), *bigger;
	ssize_t got;
	int fd, rc = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !buf) {
		rc = fd < 0 ? -errno : -ENOMEM;
		goto out;
	}
	while ((got = read(fd, buf + len, cap - len - 1)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			rc = -errno;
			goto out;
		}
		len += got;
		if (len + 1 < cap)
			continue;
		bigger = realloc(buf, cap *= 2);
		if (!bigger) {
			rc = -ENOMEM;
			goto out;
		}
		buf = bigger;
	}
	buf[len] = '\0';
	*ret = buf;
	buf = NULL;
out:
	if (fd >= 0)
		close(fd);
	free(buf);
	return rc;
}

int cozk_maps_read(pid_t pid, struct cozk_maps *ret)
{
	char path[64], exe[PATH_MAX], *text = NULL;
	struct cozk_maps maps = { 0 };
	ssize_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	exe[len > 0 ? len : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	rc = read_all(path, &text);
	if (rc)
		return rc == -ENOENT ? -ESRCH : rc;
	rc = cozk_maps_parse(text, *exe ? exe : NULL, &maps);
	free(text);
	/* A process that is exiting still has a file, but an empty one. */
	if (!rc && !maps.len)
		rc = -ESRCH;
	if (rc) {
		cozk_maps_deinit(&maps);
		return rc;
	}
	cozk_maps_deinit(ret);
	*ret = maps;
	return 0;
}

int cozk_maps_copy(const struct cozk_maps *maps, struct cozk_maps *ret)
{
	struct cozk_maps copy = { 0 };

	for (size_t i = 0; i < maps->len; i++) {
		struct cozk_map map = maps->v[i];

		map.path = strdup(map.path);
		if (!map.path || maps_push(&copy, &map)) {
			free(map.path);
			cozk_maps_deinit(&copy);
			return -ENOMEM;
		}
	}
	cozk_maps_deinit(ret);
	*ret = copy;
	return 0;
}

const struct cozk_map *cozk_maps_find(const struct cozk_maps *maps, uint64_t addr)
{
	size_t lo = 0, hi = maps->len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (maps->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < maps->len && maps->v[lo].start <= addr ? &maps->v[lo] : NULL;
}

/*
 * Device numbers are not compared: on overlay and btrfs those in maps differ from those of stat().
 */
static int open_checked(const char *path, uint64_t inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	if (!S_ISREG(st.st_mode) || (inode && st.st_ino != inode)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int cozk_map_open(pid_t pid, const struct cozk_map *map)
{
	char path[PATH_MAX + 32];
	int fd, first;

	if (map->kind != COZK_MAP_FILE)
		return -ENOEXEC;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, map->path);
	first = open_checked(path, map->inode);
	if (first >= 0)
		return first;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, map->start, map->end);
	fd = open_checked(path, 0);
	if (fd >= 0)
		return fd;
	fd = open_checked(map->path, map->inode);
	/*
	 * Where even inode numbers differ (overlay), the path is the best there is, unless the
	 * kernel said it is gone.
	 */
	if (fd == -ESTALE && !map->deleted)
		fd = open_checked(map->path, 0);
	return fd >= 0 ? fd : first;
}

void cozk_maps_deinit(struct cozk_maps *maps)
{
	for (size_t i = 0; i < maps->len; i++)
		free(maps->v[i].path);
	free(maps->v);
	*maps = (struct cozk_maps){ 0 };
}
