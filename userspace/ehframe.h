/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_EHFRAME_H
#define COZK_EHFRAME_H

#include <stdint.h>

#include "binary.h"

/*
 * Function bounds from the unwind table's index (.eh_frame_hdr), which survives stripping.
 * Returns 0, or -ENOENT if there is no index or no entry for @vaddr.
 */
int cozk_ehframe_find(struct cozk_binary *binary, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end);

#endif
