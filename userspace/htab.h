/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_HTAB_H
#define COZK_HTAB_H

#include <stddef.h>
#include <stdint.h>

/* Put first into what is to be stored; cast back on the way out. */
struct cozk_hnode {
	struct cozk_hnode *next;
	uint64_t hash;
};

/* A growing hash table of nodes that the user allocates. Zeroed memory is a valid empty table. */
struct cozk_htab {
	struct cozk_hnode **buckets;
	size_t nbuckets;
	size_t len;
};

/* Does the node have this key? */
typedef int cozk_heq(const struct cozk_hnode *node, const void *key);

struct cozk_hnode *cozk_htab_find(const struct cozk_htab *tab, uint64_t hash, cozk_heq *equal, const void *key);

/* Adds @node, which must not be there yet. Returns 0 or -ENOMEM. */
int cozk_htab_add(struct cozk_htab *tab, uint64_t hash, struct cozk_hnode *node);

/* Empties the table, giving every node to @free_node. */
void cozk_htab_deinit(struct cozk_htab *tab, void (*free_node)(struct cozk_hnode *node));

uint64_t cozk_hash_u64(uint64_t seed, uint64_t value);
uint64_t cozk_hash_string(uint64_t seed, const char *text);

#endif
