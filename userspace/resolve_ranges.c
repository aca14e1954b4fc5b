// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "funcsearch.h"
#include "resolve.h"
#include "resolve_private.h"
#include "symbols.h"

/* One call of cozk_resolver_ranges(). */
struct query {
	struct cozk_resolver *r;
	enum cozk_target_kind kind;
	const char *target;
	char *file; /* of a line target */
	unsigned int line;
	struct cozk_ranges *ret;
	struct cozk_lines_found found;
	size_t binaries;
	const char *binary; /* path of the first one */
};

void cozk_search_free(struct cozk_search *search)
{
	if (!search)
		return;
	cozk_ranges_deinit(&search->vaddrs);
	free(search->target);
	free(search);
}

struct search_key {
	const struct cozk_mapped *mapped;
	enum cozk_target_kind kind;
	const char *target;
};

static int search_equal(const struct cozk_hnode *node, const void *key)
{
	const struct cozk_search *search = (const struct cozk_search *)node;
	const struct search_key *want = key;

	return search->mapped == want->mapped && search->kind == want->kind && !strcmp(search->target, want->target);
}

static int search_run(const struct query *q, struct cozk_mapped *mapped, struct cozk_search *search)
{
	int rc;

	if (q->kind == COZK_TARGET_LINE) {
		rc = cozk_lines_ranges(mapped->binary, q->r->scope, q->file, q->line, &search->vaddrs, &search->found);
	} else {
		rc = cozk_symbols_ranges(mapped->binary, q->target, &search->vaddrs);
		if (!rc)
			rc = cozk_funcs_ranges(mapped->binary, q->target, &search->vaddrs);
	}
	cozk_ranges_merge(&search->vaddrs);
	return rc;
}

/*
 * The search's result in this binary, remembered: targets are asked for again with every process
 * and every window.
 */
static const struct cozk_search *search_get(const struct query *q, struct cozk_mapped *mapped)
{
	struct search_key key = { mapped, q->kind, q->target };
	uint64_t hash = cozk_hash_string((uintptr_t)mapped + q->kind, q->target);
	struct cozk_search *search = (struct cozk_search *)cozk_htab_find(&q->r->searches, hash, search_equal, &key);

	if (search)
		return search;
	search = calloc(1, sizeof(*search));
	if (!search)
		return NULL;
	search->mapped = mapped;
	search->kind = q->kind;
	search->target = strdup(q->target);
	if (!search->target || search_run(q, mapped, search) || cozk_htab_add(&q->r->searches, hash, &search->node)) {
		cozk_search_free(search);
		return NULL;
	}
	return search;
}

/* Adds what of ELF range [start, end) this mapping shows. */
static int add_runtime(const struct query *q, const struct cozk_map *map, const struct cozk_binary *binary,
		       uint64_t start, uint64_t end)
{
	uint64_t offset, left, lo, hi;

	if (!cozk_binary_offset(binary, start, &offset, &left))
		return 0;
	if (end - start < left)
		left = end - start;
	lo = offset > map->offset ? offset : map->offset;
	hi = offset + left;
	if (hi > map->offset + (map->end - map->start))
		hi = map->offset + (map->end - map->start);
	if (lo >= hi)
		return 0;
	return cozk_ranges_add(q->ret, lo - map->offset + map->start, hi - map->offset + map->start);
}

static int query_map(const struct cozk_map *map, struct cozk_mapped *mapped, void *arg)
{
	struct query *q = arg;
	const struct cozk_search *search = search_get(q, mapped);
	const struct cozk_lines_found *found;

	if (!search)
		return -ENOMEM;
	found = &search->found;
	if (!q->binaries++)
		q->binary = map->path;
	q->found.files += found->files;
	q->found.have_lines |= found->have_lines;
	q->found.out_of_scope |= found->out_of_scope;
	if (found->below > q->found.below)
		q->found.below = found->below;
	if (found->above && (!q->found.above || found->above < q->found.above))
		q->found.above = found->above;
	for (size_t i = 0; i < search->vaddrs.len; i++) {
		if (add_runtime(q, map, mapped->binary, search->vaddrs.v[i].start, search->vaddrs.v[i].end))
			return -ENOMEM;
	}
	return 0;
}

static void explain_line(const struct query *q, char *err, size_t errlen)
{
	const struct cozk_lines_found *found = &q->found;

	if (!found->have_lines)
		snprintf(err, errlen, "no line information in %s%s: build with -g, or install its debug symbols",
			 q->binary, q->binaries > 1 ? " (nor in others in scope)" : "");
	else if (found->out_of_scope)
		snprintf(err, errlen, "%s has code, but the source scope (-s) leaves it out", q->target);
	else if (!found->files)
		snprintf(err, errlen, "no code from a file %s in the binaries in scope (-b)", q->file);
	else if (found->below && found->above)
		snprintf(err, errlen, "no code at %s; nearest lines with code: %u, %u", q->target, found->below,
			 found->above);
	else
		snprintf(err, errlen, "no code at %s; nearest line with code: %u", q->target,
			 found->below ? found->below : found->above);
}

static void explain(const struct query *q, pid_t pid, int rc, char *err, size_t errlen)
{
	if (rc == -ESRCH)
		snprintf(err, errlen, "process %d is not known, or has ended", (int)pid);
	else if (rc)
		snprintf(err, errlen, "%s", strerror(-rc));
	else if (!q->binaries)
		snprintf(err, errlen, "process %d maps no ELF file in the binary scope (-b)", (int)pid);
	else if (q->kind == COZK_TARGET_LINE)
		explain_line(q, err, errlen);
	else
		snprintf(err, errlen, "no function %s in %s%s", q->target, q->binary,
			 q->binaries > 1 ? " or the others in scope (-b)" : "");
}

/* Splits "FILE:LINE". Returns 0, -EINVAL or -ENOMEM. */
static int parse_line(struct query *q)
{
	const char *colon = strrchr(q->target, ':');
	unsigned long line;
	char *end;

	if (!colon || colon == q->target || colon[1] < '0' || colon[1] > '9')
		return -EINVAL;
	errno = 0;
	line = strtoul(colon + 1, &end, 10);
	if (errno || *end || !line || line > UINT_MAX)
		return -EINVAL;
	q->line = line;
	q->file = strndup(q->target, colon - q->target);
	return q->file ? 0 : -ENOMEM;
}

int cozk_resolver_ranges(struct cozk_resolver *r, pid_t pid, enum cozk_target_kind kind, const char *target,
			 struct cozk_ranges *ret, char *err, size_t errlen)
{
	struct query q = { .r = r, .kind = kind, .target = target, .ret = ret };
	int rc;

	ret->len = 0;
	if (errlen)
		*err = '\0';
	rc = kind == COZK_TARGET_LINE ? parse_line(&q) : 0;
	if (rc == -EINVAL || !*target) {
		snprintf(err, errlen, "'%s' is not %s", target,
			 kind == COZK_TARGET_LINE ? "of the form FILE:LINE" : "a function's name");
		return -EINVAL;
	}
	if (!rc)
		rc = cozk_resolver_each_in_scope(r, pid, query_map, &q);
	cozk_ranges_merge(ret);
	if (rc || !ret->len) {
		explain(&q, pid, rc, err, errlen);
		rc = rc ? rc : -ENOENT;
	}
	free(q.file);
	return rc;
}
