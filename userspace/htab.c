// SPDX-License-Identifier: GPL-2.0-or-later
#include "htab.h"

#include <errno.h>
#include <stdlib.h>

struct cozk_hnode *cozk_htab_find(const struct cozk_htab *tab, uint64_t hash, cozk_heq *equal, const void *key)
{
	struct cozk_hnode *node = tab->nbuckets ? tab->buckets[hash % tab->nbuckets] : NULL;

	while (node && (node->hash != hash || !equal(node, key)))
		node = node->next;
	return node;
}

static void link_node(struct cozk_hnode **buckets, size_t nbuckets, struct cozk_hnode *node)
{
	struct cozk_hnode **head = &buckets[node->hash % nbuckets];

	node->next = *head;
	*head = node;
}

int cozk_htab_add(struct cozk_htab *tab, uint64_t hash, struct cozk_hnode *node)
{
	node->hash = hash;
	if (tab->len >= tab->nbuckets) {
		size_t nbuckets = tab->nbuckets ? tab->nbuckets * 2 : 64;
		struct cozk_hnode **buckets = calloc(nbuckets, sizeof(struct cozk_hnode *));

		if (!buckets)
			return -ENOMEM;
		for (size_t i = 0; i < tab->nbuckets; i++) {
			for (struct cozk_hnode *old = tab->buckets[i], *next; old; old = next) {
				next = old->next;
				link_node(buckets, nbuckets, old);
			}
		}
		free(tab->buckets);
		tab->buckets = buckets;
		tab->nbuckets = nbuckets;
	}
	link_node(tab->buckets, tab->nbuckets, node);
	tab->len++;
	return 0;
}

void cozk_htab_deinit(struct cozk_htab *tab, void (*free_node)(struct cozk_hnode *node))
{
	for (size_t i = 0; i < tab->nbuckets; i++) {
		for (struct cozk_hnode *node = tab->buckets[i], *next; node; node = next) {
			next = node->next;
			free_node(node);
		}
	}
	free(tab->buckets);
	*tab = (struct cozk_htab){ 0 };
}

uint64_t cozk_hash_u64(uint64_t seed, uint64_t value)
{
	/* The finaliser of splitmix64: every input bit reaches every output bit. */
	value = (seed + value) * UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

uint64_t cozk_hash_string(uint64_t seed, const char *text)
{
	for (; *text; text++)
		seed = (seed ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return cozk_hash_u64(seed, 0);
}
