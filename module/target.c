// SPDX-License-Identifier: GPL-2.0-only
#include "target.h"

static bool before(const struct cozk_span *range, u32 space, u64 addr)
{
	return range->space < space || (range->space == space && range->start <= addr);
}

/* How many ranges start at or before (space, addr). */
static u32 upper_bound(const struct cozk_span *ranges, u32 count, u32 space, u64 addr)
{
	u32 low = 0;

	while (low < count) {
		u32 mid = low + (count - low) / 2;

		if (before(&ranges[mid], space, addr))
			low = mid + 1;
		else
			count = mid;
	}
	return low;
}

bool cozk_ranges_valid(const struct cozk_span *ranges, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct cozk_span *r = &ranges[i];

		if (r->reserved || r->start >= r->end)
			return false;
		if (i &&
		    (r[-1].space > r->space || (r[-1].space == r->space && r[-1].end > r->start)))
			return false;
	}
	return true;
}

bool cozk_ranges_contain(const struct cozk_span *ranges, u32 count, u32 space, u64 addr)
{
	u32 n = upper_bound(ranges, count, space, addr);

	return n && ranges[n - 1].space == space && addr < ranges[n - 1].end;
}

bool cozk_ranges_know(const struct cozk_span *ranges, u32 count, u32 space)
{
	u32 n = upper_bound(ranges, count, space, ~0ULL);

	return n && ranges[n - 1].space == space;
}
