/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_RANGES_H
#define COZK_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Half-open [start, end) in bytes of some address space. */
struct cozk_range {
	uint64_t start;
	uint64_t end;
};

/* A growing list of ranges. All zero is a valid empty list. */
struct cozk_ranges {
	struct cozk_range *v;
	size_t len;
	size_t cap;
};

/* Appends [start, end); an empty range is ignored. Returns 0 or -ENOMEM. */
int cozk_ranges_add(struct cozk_ranges *ranges, uint64_t start, uint64_t end);

/* Sorts, and joins ranges that touch or overlap. */
void cozk_ranges_merge(struct cozk_ranges *ranges);

/* Is @addr inside? Works on merged lists only (binary search). */
bool cozk_ranges_have(const struct cozk_ranges *ranges, uint64_t addr);

/* Frees the memory; the list is empty and usable afterwards. */
void cozk_ranges_deinit(struct cozk_ranges *ranges);

#endif
