// SPDX-License-Identifier: GPL-2.0-or-later
#include "inlines.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_DEPTH = 128, /* of nested entries; deeper is broken input */
};

/*
 * Goes to the next sibling. Entries are in ascending order, so a reference back is broken input
 * that would send us round in circles.
 */
static bool next_sibling(Dwarf_Die *die)
{
	const char *before = die->addr;

	return !dwarf_siblingof(die, die) && (const char *)die->addr > before;
}

static bool find_child(Dwarf_Die *parent, uint64_t vaddr, Dwarf_Die *ret)
{
	if (dwarf_child(parent, ret))
		return false;
	do {
		switch (dwarf_tag(ret)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
			if (dwarf_haspc(ret, vaddr) > 0)
				return true;
		}
	} while (next_sibling(ret));
	return false;
}

void cozk_inline_chain_find(const Dwarf_Die *func, uint64_t vaddr, struct cozk_inline_chain *ret)
{
	Dwarf_Die at = *func, child;
	unsigned int depth = 0;

	ret->len = 0;
	while (depth++ < MAX_DEPTH && find_child(&at, vaddr, &child)) {
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine) {
			if (ret->len == COZK_INLINE_DEPTH)
				return;
			ret->v[ret->len++] = child;
		}
		at = child;
	}
}

bool cozk_inline_call_site(Dwarf_Die *call, uint64_t *ret_file, unsigned int *ret_line)
{
	Dwarf_Attribute attr;
	Dwarf_Word file, line;

	if (!dwarf_attr(call, DW_AT_call_file, &attr) || dwarf_formudata(&attr, &file) ||
	    !dwarf_attr(call, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) || line > UINT32_MAX)
		return false;
	*ret_file = file;
	*ret_line = line;
	return true;
}

const char *cozk_die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

struct visit {
	int (*fn)(Dwarf_Die *die, void *arg);
	void *arg;
	bool funcs;
};

static int visit_children(const struct visit *visit, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (visit->funcs)
				rc = visit->fn(&die, visit->arg);
			break;
		case DW_TAG_inlined_subroutine:
			rc = visit->fn(&die, visit->arg);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			break;
		default:
			continue;
		}
		if (!rc)
			rc = visit_children(visit, &die, depth + 1);
	} while (!rc && next_sibling(&die));
	return rc;
}

int cozk_inline_each(struct cozk_binary *binary, struct cozk_cu *unit, bool funcs, int (*fn)(Dwarf_Die *die, void *arg),
		     void *arg)
{
	struct visit visit = { fn, arg, funcs };
	Dwarf_Die *full = cozk_unit_full(binary, unit);

	return full ? visit_children(&visit, full, 0) : 0;
}
