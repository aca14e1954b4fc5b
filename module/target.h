/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorted address ranges: the code under test, or in scope (pure: also in the unit tests). */
#ifndef COZK_TARGET_H
#define COZK_TARGET_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
#endif
#include "../include/uapi/cozk.h"

/* Are the @count ranges non-empty, sorted by (space, start), without overlap, reserved zero? */
bool cozk_ranges_valid(const struct cozk_span *ranges, u32 count);

/* Is @addr of @space inside one of the sorted ranges?  O(log count). */
bool cozk_ranges_contain(const struct cozk_span *ranges, u32 count, u32 space, u64 addr);

/* Does any range belong to @space?  O(log count). */
bool cozk_ranges_know(const struct cozk_span *ranges, u32 count, u32 space);

#endif
