/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_SYMBOLS_H
#define COZK_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "binary.h"
#include "ranges.h"
#include "symname.h"

/* One function by the symbol table. */
struct cozk_symbol {
	uint64_t start; /* ELF virtual address */
	uint64_t end;
	const char *name; /* raw, owned by the binary; NULL for a piece without a symbol */
};

/*
 * The function that holds @vaddr: from .symtab, else from the debug file's, else .dynsym; else,
 * with name NULL, the bounds that the unwind table gives, or a small aligned piece of code. Returns
 * 0, -ENOENT (no code there) or -ENOMEM.
 */
int cozk_symbols_find(struct cozk_binary *binary, uint64_t vaddr, struct cozk_symbol *ret);

/*
 * Adds the ranges of every symbol called @name, and of "NAME+0xADDR" pieces. Returns 0 (also for
 * none) or -ENOMEM.
 */
int cozk_symbols_ranges(struct cozk_binary *binary, const char *name, struct cozk_ranges *ret);

/*
 * Calls @fn with every function in order of address, until it returns non-zero, which is returned;
 * or -ENOMEM.
 */
int cozk_symbols_each(struct cozk_binary *binary,
		      int (*fn)(const struct cozk_symbol *sym, const char *display, void *arg), void *arg);

void cozk_symbols_free(struct cozk_symbols *symbols);

#endif
