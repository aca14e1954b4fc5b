/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_UNITS_H
#define COZK_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary.h"
#include "linetab.h"

/* A stretch of one function's code (out of line) and its entry in the debug information. */
struct cozk_unit_func {
	uint64_t start;
	uint64_t end;
	Dwarf_Die die;
};

/* One compilation unit. */
struct cozk_cu {
	Dwarf_Die die;	/* with -gsplit-dwarf the skeleton in the binary */
	Dwarf_Die full; /* where the functions are: the same, or the root in the .dwo file */
	bool full_tried;
	bool has_full;
	bool has_lines;
	bool tab_tried;
	bool tab_ok;
	bool funcs_tried;
	bool funcs_deep;      /* nested functions are in funcs, too */
	uint64_t line_offset; /* in .debug_line */
	const char *comp_dir; /* may be NULL */
	struct cozk_linetab tab;
	struct cozk_line_row *rows; /* sorted by start; cozk_unit_rows() */
	size_t nrows;
	bool rows_tried;
	struct cozk_unit_func *funcs; /* sorted by start; cozk_unit_func_find() */
	size_t nfuncs;
};

struct cozk_unit_range {
	uint64_t start;
	uint64_t end;
	size_t unit;
};

/* All units of a binary: their root entries only, whatever the size of what is below. */
struct cozk_units {
	struct cozk_cu *v;
	size_t len;
	size_t cap;
	struct cozk_unit_range *ranges; /* sorted by start */
	size_t nranges;
	size_t ranges_cap;
	struct cozk_linetab_sections sections;
};

/* The units, read on first call. NULL if the binary has no debug information or memory ran out. */
struct cozk_units *cozk_units_get(struct cozk_binary *binary);

/* The unit that has the code at @vaddr, or NULL. */
struct cozk_cu *cozk_units_find(struct cozk_binary *binary, uint64_t vaddr);

/* The header of the unit's line table, or NULL. */
const struct cozk_linetab *cozk_unit_tab(struct cozk_binary *binary, struct cozk_cu *unit);

/* Fills rows. Returns 0, -ENOENT if there are none, or -ENOMEM. */
int cozk_unit_rows(struct cozk_binary *binary, struct cozk_cu *unit);

/*
 * The root of the unit's functions, following a skeleton into its .dwo file; NULL if that is
 * missing.
 */
Dwarf_Die *cozk_unit_full(struct cozk_binary *binary, struct cozk_cu *unit);

/* The function whose code holds @vaddr, or NULL. */
const struct cozk_unit_func *cozk_unit_func_find(struct cozk_binary *binary, struct cozk_cu *unit, uint64_t vaddr);

void cozk_units_free(struct cozk_units *units);

#endif
