// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranges.h"

#include <errno.h>
#include <stdlib.h>

int cozk_ranges_add(struct cozk_ranges *ranges, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	if (ranges->len == ranges->cap) {
		size_t cap = ranges->cap ? ranges->cap * 2 : 16;
		struct cozk_range *v = reallocarray(ranges->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		ranges->v = v;
		ranges->cap = cap;
	}
	ranges->v[ranges->len++] = (struct cozk_range){ start, end };
	return 0;
}

static int range_cmp(const void *a, const void *b)
{
	const struct cozk_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void cozk_ranges_merge(struct cozk_ranges *ranges)
{
	size_t kept = 0;

	if (!ranges->len)
		return;
	qsort(ranges->v, ranges->len, sizeof(*ranges->v), range_cmp);
	for (size_t i = 1; i < ranges->len; i++) {
		struct cozk_range *last = &ranges->v[kept];

		if (ranges->v[i].start > last->end)
			ranges->v[++kept] = ranges->v[i];
		else if (ranges->v[i].end > last->end)
			last->end = ranges->v[i].end;
	}
	ranges->len = kept + 1;
}

bool cozk_ranges_have(const struct cozk_ranges *ranges, uint64_t addr)
{
	size_t lo = 0, hi = ranges->len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ranges->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ranges->len && ranges->v[lo].start <= addr;
}

void cozk_ranges_deinit(struct cozk_ranges *ranges)
{
	free(ranges->v);
	*ranges = (struct cozk_ranges){ 0 };
}
