/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_FUNCSEARCH_H
#define COZK_FUNCSEARCH_H

#include "binary.h"
#include "ranges.h"

/*
 * Adds the code of functions that the debug information calls @name, and of all their inlined
 * copies. Units that cannot contain the name are found by a plain search for its bytes and not
 * read. Returns 0 (also for none) or -ENOMEM.
 */
int cozk_funcs_ranges(struct cozk_binary *binary, const char *name, struct cozk_ranges *ret);

#endif
