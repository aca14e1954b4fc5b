/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_INLINES_H
#define COZK_INLINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary.h"
#include "units.h"

enum {
	COZK_INLINE_DEPTH = 64, /* levels of inlining that are followed */
};

/* The inlined calls around one instruction, outermost first. */
struct cozk_inline_chain {
	Dwarf_Die v[COZK_INLINE_DEPTH];
	size_t len;
};

/* Finds the calls inlined into @func that hold @vaddr. */
void cozk_inline_chain_find(const Dwarf_Die *func, uint64_t vaddr, struct cozk_inline_chain *ret);

/* Call site of an inlined call; false if it is not recorded. */
bool cozk_inline_call_site(Dwarf_Die *call, uint64_t *ret_file, unsigned int *ret_line);

/*
 * The raw (mangled, where there is such a name) name of a function or inlined call; NULL if it has
 * none.
 */
const char *cozk_die_name(Dwarf_Die *die);

/*
 * Calls @fn with every inlined call, and with @funcs also with every function that has code, in
 * @unit, until it returns non-zero, which is returned.
 */
int cozk_inline_each(struct cozk_binary *binary, struct cozk_cu *unit, bool funcs, int (*fn)(Dwarf_Die *die, void *arg),
		     void *arg);

#endif
