/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_RESOLVE_PRIVATE_H
#define COZK_RESOLVE_PRIVATE_H

/*
 * Shared by the parts of the resolver: processes and their maps, address to place, and target to
 * addresses.
 */

#include "binary.h"
#include "htab.h"
#include "linesearch.h"
#include "maps.h"
#include "resolve.h"

/* What a mapping maps: a file once, however many processes have it. */
struct cozk_mapped {
	struct cozk_hnode node;
	char *path;
	uint64_t inode;
	unsigned int dev_major;
	unsigned int dev_minor;
	struct cozk_binary *binary; /* NULL: no file, or not readable as ELF */
};

/* A remembered search for a target in one binary. */
struct cozk_search {
	struct cozk_hnode node;
	const struct cozk_mapped *mapped;
	enum cozk_target_kind kind;
	char *target;
	struct cozk_ranges vaddrs; /* merged, in the ELF file's own terms */
	struct cozk_lines_found found;
};

struct cozk_resolver {
	const struct cozk_scope *scope;
	struct cozk_htab processes;
	struct cozk_htab binaries; /* struct cozk_mapped */
	struct cozk_htab places;
	struct cozk_htab searches; /* struct cozk_search */
	struct cozk_htab texts;
	struct cozk_resolver_stats stats;
};

/*
 * The remembered place of an address in the ELF file's own terms, made on first need; NULL on
 * ENOMEM.
 */
const struct cozk_place *cozk_resolver_place(struct cozk_resolver *r, const struct cozk_mapped *mapped, uint64_t vaddr);

/*
 * Calls @fn for every executable mapping of an ELF file in scope, until it returns non-zero, which
 * is returned. -ESRCH when nothing is known of the process.
 */
int cozk_resolver_each_in_scope(struct cozk_resolver *r, pid_t pid,
				int (*fn)(const struct cozk_map *map, struct cozk_mapped *mapped, void *arg),
				void *arg);

void cozk_search_free(struct cozk_search *search);

#endif
