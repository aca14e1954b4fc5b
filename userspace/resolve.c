// SPDX-License-Identifier: GPL-2.0-or-later
#include "resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "binary.h"
#include "htab.h"
#include "maps.h"
#include "resolve_private.h"

enum {
	/*
	 * Maps change with dlopen only, so look again for an unknown address, but not for every
	 * sample of it.
	 */
	MAPS_INTERVAL_NS = 100 * 1000 * 1000,
};

struct process {
	struct cozk_hnode node;
	pid_t pid;
	bool stale;
	uint64_t read_ns; /* when the maps were last asked for, 0 for never */
	struct cozk_maps maps;
	struct cozk_mapped **mapped; /* by mapping; NULL: not needed yet */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

struct cozk_resolver *cozk_resolver_create(const struct cozk_scope *scope)
{
	struct cozk_resolver *r = calloc(1, sizeof(*r));

	if (r)
		r->scope = scope;
	return r;
}

static void process_free(struct cozk_hnode *node)
{
	struct process *process = (struct process *)node;

	free(process->mapped);
	cozk_maps_deinit(&process->maps);
	free(process);
}

static void mapped_free(struct cozk_hnode *node)
{
	struct cozk_mapped *mapped = (struct cozk_mapped *)node;

	cozk_binary_close(mapped->binary);
	free(mapped->path);
	free(mapped);
}

static void node_free(struct cozk_hnode *node)
{
	free(node);
}

static void search_free(struct cozk_hnode *node)
{
	cozk_search_free((struct cozk_search *)node);
}

void cozk_resolver_destroy(struct cozk_resolver *r)
{
	if (!r)
		return;
	cozk_htab_deinit(&r->processes, process_free);
	cozk_htab_deinit(&r->searches, search_free);
	cozk_htab_deinit(&r->places, node_free);
	cozk_htab_deinit(&r->binaries, mapped_free);
	cozk_htab_deinit(&r->texts, node_free);
	free(r);
}

static int process_equal(const struct cozk_hnode *node, const void *key)
{
	return ((const struct process *)node)->pid == *(const pid_t *)key;
}

static struct process *process_find(const struct cozk_resolver *r, pid_t pid)
{
	return (struct process *)cozk_htab_find(&r->processes, cozk_hash_u64(0, pid), process_equal, &pid);
}

/* The record of @pid, new if need be; NULL on ENOMEM. */
static struct process *process_get(struct cozk_resolver *r, pid_t pid)
{
	struct process *process = process_find(r, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->stale = true;
	if (cozk_htab_add(&r->processes, cozk_hash_u64(0, pid), &process->node)) {
		free(process);
		return NULL;
	}
	return process;
}

/* Replaces the maps by @maps, which is consumed. Returns 0 or -ENOMEM. */
static int process_set_maps(struct process *process, struct cozk_maps *maps)
{
	struct cozk_mapped **mapped = calloc(maps->len ? maps->len : 1, sizeof(struct cozk_mapped *));

	if (!mapped) {
		cozk_maps_deinit(maps);
		return -ENOMEM;
	}
	free(process->mapped);
	cozk_maps_deinit(&process->maps);
	process->mapped = mapped;
	process->maps = *maps;
	return 0;
}

/*
 * Reads the maps if they are stale, or if @again and the last time is long enough ago. Old ones are
 * kept on failure.
 */
static int process_load(struct cozk_resolver *r, struct process *process, bool again)
{
	uint64_t now = now_ns();
	bool soon = process->read_ns && now - process->read_ns < MAPS_INTERVAL_NS;
	struct cozk_maps maps = { 0 };
	int rc;

	if (!process->stale && (!again || soon))
		return process->maps.len ? 0 : -ESRCH;
	process->stale = false;
	process->read_ns = now;
	r->stats.maps_reads++;
	rc = cozk_maps_read(process->pid, &maps);
	return rc ? rc : process_set_maps(process, &maps);
}

int cozk_resolver_load(struct cozk_resolver *r, pid_t pid)
{
	struct process *process = process_get(r, pid);

	return process ? process_load(r, process, false) : -ENOMEM;
}

void cozk_resolver_stale(struct cozk_resolver *r, pid_t pid)
{
	struct process *process = process_find(r, pid);

	if (process)
		process->stale = true;
}

int cozk_resolver_fork(struct cozk_resolver *r, pid_t parent, pid_t child)
{
	struct process *from = process_find(r, parent), *to = process_get(r, child);
	struct cozk_maps maps = { 0 };
	int rc;

	if (!to)
		return -ENOMEM;
	to->stale = true;
	if (!from)
		return 0;
	rc = cozk_maps_copy(&from->maps, &maps);
	return rc ? rc : process_set_maps(to, &maps);
}

static int mapped_equal(const struct cozk_hnode *node, const void *key)
{
	const struct cozk_mapped *mapped = (const struct cozk_mapped *)node;
	const struct cozk_map *map = key;

	return mapped->inode == map->inode && mapped->dev_major == map->dev_major &&
	       mapped->dev_minor == map->dev_minor && !strcmp(mapped->path, map->path);
}

static struct cozk_mapped *mapped_new(struct cozk_resolver *r, pid_t pid, const struct cozk_map *map)
{
	struct cozk_mapped *mapped = calloc(1, sizeof(*mapped));
	int fd;

	if (!mapped)
		return NULL;
	mapped->inode = map->inode;
	mapped->dev_major = map->dev_major;
	mapped->dev_minor = map->dev_minor;
	mapped->path = strdup(map->path);
	if (!mapped->path) {
		free(mapped);
		return NULL;
	}
	if (map->kind != COZK_MAP_FILE)
		return mapped;
	fd = cozk_map_open(pid, map);
	if (fd >= 0 && cozk_binary_open(fd, map->path, &mapped->binary))
		close(fd);
	if (mapped->binary)
		r->stats.binaries++;
	else
		r->stats.binaries_failed++;
	return mapped;
}

/* What is mapped by mapping @index of the process; NULL on ENOMEM. */
static struct cozk_mapped *mapped_get(struct cozk_resolver *r, struct process *process, size_t index)
{
	const struct cozk_map *map = &process->maps.v[index];
	struct cozk_mapped *mapped = process->mapped[index];
	uint64_t hash;

	if (mapped)
		return mapped;
	hash = cozk_hash_u64(cozk_hash_string(0, map->path), map->inode);
	mapped = (struct cozk_mapped *)cozk_htab_find(&r->binaries, hash, mapped_equal, map);
	if (!mapped) {
		mapped = mapped_new(r, process->pid, map);
		if (mapped && cozk_htab_add(&r->binaries, hash, &mapped->node)) {
			mapped_free(&mapped->node);
			mapped = NULL;
		}
	}
	process->mapped[index] = mapped;
	return mapped;
}

static uint64_t map_vaddr(const struct cozk_mapped *mapped, const struct cozk_map *map, uint64_t ip)
{
	uint64_t offset = ip - map->start + map->offset, vaddr;

	if (map->kind == COZK_MAP_ANON)
		return ip;
	if (mapped->binary && cozk_binary_vaddr(mapped->binary, offset, &vaddr))
		return vaddr;
	return offset;
}

static bool map_in_scope(const struct cozk_resolver *r, const struct cozk_map *map)
{
	return cozk_scope_binary(r->scope, map->path, map->is_main);
}

static void place_unmapped(uint64_t ip, struct cozk_place *ret)
{
	*ret = (struct cozk_place){
		.binary = "[unmapped]",
		.build_id = "",
		.vaddr = ip,
		.function = "[unmapped]",
		.file = "",
		.chain = "[unmapped]",
	};
}

int cozk_resolve(struct cozk_resolver *r, pid_t pid, uint64_t ip, struct cozk_place *ret)
{
	struct process *process = process_get(r, pid);
	const struct cozk_map *map;
	const struct cozk_mapped *mapped;
	const struct cozk_place *place;

	place_unmapped(ip, ret);
	if (!process)
		return -ENOMEM;
	process_load(r, process, false);
	map = cozk_maps_find(&process->maps, ip);
	if (!map) {
		process_load(r, process, true);
		map = cozk_maps_find(&process->maps, ip);
	}
	if (!map)
		return -ENOENT;
	mapped = mapped_get(r, process, map - process->maps.v);
	if (!mapped)
		return -ENOMEM;
	place = cozk_resolver_place(r, mapped, map_vaddr(mapped, map, ip));
	if (!place)
		return -ENOMEM;
	*ret = *place;
	ret->in_scope = place->in_scope && map_in_scope(r, map);
	return 0;
}

int cozk_resolver_scope_ranges(struct cozk_resolver *r, pid_t pid, struct cozk_ranges *ret)
{
	struct process *process = process_get(r, pid);

	ret->len = 0;
	if (!process)
		return -ENOMEM;
	process_load(r, process, true);
	if (!process->maps.len)
		return -ESRCH;
	for (size_t i = 0; i < process->maps.len; i++) {
		const struct cozk_map *map = &process->maps.v[i];

		if (map_in_scope(r, map) && cozk_ranges_add(ret, map->start, map->end))
			return -ENOMEM;
	}
	cozk_ranges_merge(ret);
	return 0;
}

int cozk_resolver_each_in_scope(struct cozk_resolver *r, pid_t pid,
				int (*fn)(const struct cozk_map *map, struct cozk_mapped *mapped, void *arg), void *arg)
{
	struct process *process = process_get(r, pid);

	if (!process)
		return -ENOMEM;
	process_load(r, process, true);
	if (!process->maps.len)
		return -ESRCH;
	for (size_t i = 0; i < process->maps.len; i++) {
		const struct cozk_map *map = &process->maps.v[i];
		struct cozk_mapped *mapped;
		int rc;

		if (map->kind != COZK_MAP_FILE || !map_in_scope(r, map))
			continue;
		mapped = mapped_get(r, process, i);
		rc = mapped ? 0 : -ENOMEM;
		if (mapped && mapped->binary)
			rc = fn(map, mapped, arg);
		if (rc)
			return rc;
	}
	return 0;
}

static void count_skipped(const struct cozk_htab *binaries, struct cozk_resolver_stats *stats)
{
	for (size_t i = 0; i < binaries->nbuckets; i++) {
		for (const struct cozk_hnode *node = binaries->buckets[i]; node; node = node->next) {
			const struct cozk_mapped *mapped = (const struct cozk_mapped *)node;

			if (mapped->binary)
				stats->units_skipped += mapped->binary->units_skipped;
		}
	}
}

void cozk_resolver_stats(const struct cozk_resolver *r, struct cozk_resolver_stats *ret)
{
	*ret = r->stats;
	count_skipped(&r->binaries, ret);
}
