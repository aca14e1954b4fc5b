// SPDX-License-Identifier: GPL-2.0-or-later
#include "units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_DEPTH = 64, /* of nested scopes; deeper is broken input */
	WALK_BACK = 8,	/* overlapping ranges that are tried before an address counts as unknown */
};

/* reallocarray() for one more element of @size; 0 or -ENOMEM. */
static int grow(void *v, size_t len, size_t *cap, size_t size)
{
	void *old, *bigger;
	size_t want = *cap ? *cap * 2 : 64;

	if (len < *cap)
		return 0;
	memcpy(&old, v, sizeof(old));
	bigger = reallocarray(old, want, size);
	if (!bigger)
		return -ENOMEM;
	memcpy(v, &bigger, sizeof(bigger));
	*cap = want;
	return 0;
}

static int range_push(struct cozk_units *units, uint64_t start, uint64_t end, size_t unit)
{
	struct cozk_unit_range *last = units->nranges ? &units->ranges[units->nranges - 1] : NULL;

	if (last && last->unit == unit && last->end == start) {
		last->end = end;
		return 0;
	}
	if (grow(&units->ranges, units->nranges, &units->ranges_cap, sizeof(*units->ranges)))
		return -ENOMEM;
	units->ranges[units->nranges++] = (struct cozk_unit_range){ start, end, unit };
	return 0;
}

struct row_ranges {
	struct cozk_binary *binary;
	struct cozk_units *units;
	size_t unit;
};

static int push_row_range(const struct cozk_line_row *row, void *arg)
{
	struct row_ranges *ctx = arg;

	if (!cozk_binary_is_code(ctx->binary, row->start))
		return 0;
	return range_push(ctx->units, row->start, row->end, ctx->unit);
}

/* Old assemblers name no addresses in the unit itself; what its line table covers is its code. */
static int ranges_from_lines(struct cozk_binary *binary, struct cozk_units *units, size_t index)
{
	const struct cozk_linetab *tab = cozk_unit_tab(binary, &units->v[index]);
	struct row_ranges ctx = { binary, units, index };

	if (!tab)
		return 0;
	return cozk_linetab_rows(tab, push_row_range, &ctx) == -ENOMEM ? -ENOMEM : 0;
}

static int unit_add(struct cozk_binary *binary, struct cozk_units *units, Dwarf_Die *die)
{
	struct cozk_cu *unit;
	Dwarf_Attribute attr;
	Dwarf_Addr base, lo, hi;
	Dwarf_Word offset;
	ptrdiff_t next = 0;
	size_t before = units->nranges;

	if (grow(&units->v, units->len, &units->cap, sizeof(*units->v)))
		return -ENOMEM;
	unit = &units->v[units->len];
	*unit = (struct cozk_cu){ .die = *die };
	if (dwarf_attr(die, DW_AT_stmt_list, &attr) && !dwarf_formudata(&attr, &offset)) {
		unit->has_lines = true;
		unit->line_offset = offset;
	}
	unit->comp_dir = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr));
	while ((next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0) {
		if (lo < hi && cozk_binary_is_code(binary, lo) && range_push(units, lo, hi, units->len))
			return -ENOMEM;
	}
	if (next < 0)
		binary->units_skipped++;
	units->len++;
	if (units->nranges == before && unit->has_lines)
		return ranges_from_lines(binary, units, units->len - 1);
	return 0;
}

static int unit_range_cmp(const void *a, const void *b)
{
	const struct cozk_unit_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int units_read(struct cozk_binary *binary, struct cozk_units *units)
{
	Dwarf_CU *cu = NULL;
	int rc;

	for (;;) {
		Dwarf_Half version;
		uint8_t type;
		Dwarf_Die die;

		rc = dwarf_get_units(binary->dwarf, cu, &cu, &version, &type, &die, NULL);
		if (rc)
			break;
		if (type == DW_UT_type || type == DW_UT_split_type)
			continue;
		switch (dwarf_tag(&die)) {
		case DW_TAG_compile_unit:
		case DW_TAG_skeleton_unit:
			rc = unit_add(binary, units, &die);
			if (rc)
				return rc;
			break;
		case DW_TAG_partial_unit:
			break;
		default:
			binary->units_skipped++;
		}
	}
	/*
	 * Where the next unit begins is unknown after a broken header, so the rest counts as one.
	 */
	if (rc < 0)
		binary->units_skipped++;
	if (units->nranges)
		qsort(units->ranges, units->nranges, sizeof(*units->ranges), unit_range_cmp);
	return 0;
}

static void sections_read(struct cozk_binary *binary, struct cozk_linetab_sections *ret)
{
	Elf_Data *data = cozk_elf_section(binary->debug_elf, ".debug_line", NULL);

	if (data) {
		ret->line = data->d_buf;
		ret->line_len = data->d_size;
	}
	data = cozk_elf_section(binary->debug_elf, ".debug_str", NULL);
	if (data) {
		ret->str = data->d_buf;
		ret->str_len = data->d_size;
	}
	data = cozk_elf_section(binary->debug_elf, ".debug_line_str", NULL);
	if (data) {
		ret->line_str = data->d_buf;
		ret->line_str_len = data->d_size;
	}
}

struct cozk_units *cozk_units_get(struct cozk_binary *binary)
{
	struct cozk_units *units;

	if (binary->units || !cozk_binary_dwarf(binary))
		return binary->units;
	units = calloc(1, sizeof(*units));
	if (!units)
		return NULL;
	binary->units = units;
	sections_read(binary, &units->sections);
	if (units_read(binary, units)) {
		binary->units = NULL;
		cozk_units_free(units);
	}
	return binary->units;
}

struct cozk_cu *cozk_units_find(struct cozk_binary *binary, uint64_t vaddr)
{
	struct cozk_units *units = cozk_units_get(binary);
	size_t lo = 0, hi = units ? units->nranges : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (units->ranges[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t steps = 0; lo > 0 && steps < WALK_BACK; steps++) {
		const struct cozk_unit_range *range = &units->ranges[--lo];

		if (vaddr < range->end)
			return &units->v[range->unit];
	}
	return NULL;
}

const struct cozk_linetab *cozk_unit_tab(struct cozk_binary *binary, struct cozk_cu *unit)
{
	int class;

	if (unit->tab_tried || !unit->has_lines)
		return unit->tab_ok ? &unit->tab : NULL;
	unit->tab_tried = true;
	class = gelf_getclass(binary->elf);
	unit->tab_ok = !cozk_linetab_open(&binary->units->sections, unit->line_offset, class == ELFCLASS32 ? 4 : 8,
					  &unit->tab);
	if (!unit->tab_ok)
		binary->units_skipped++;
	return unit->tab_ok ? &unit->tab : NULL;
}

struct row_list {
	struct cozk_binary *binary;
	struct cozk_cu *unit;
	size_t cap;
};

static int push_row(const struct cozk_line_row *row, void *arg)
{
	struct row_list *list = arg;
	struct cozk_cu *unit = list->unit;

	if (!cozk_binary_is_code(list->binary, row->start))
		return 0;
	if (grow(&unit->rows, unit->nrows, &list->cap, sizeof(*unit->rows)))
		return -ENOMEM;
	unit->rows[unit->nrows++] = *row;
	return 0;
}

static int row_cmp(const void *a, const void *b)
{
	const struct cozk_line_row *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int cozk_unit_rows(struct cozk_binary *binary, struct cozk_cu *unit)
{
	const struct cozk_linetab *tab = cozk_unit_tab(binary, unit);
	struct row_list list = { binary, unit, 0 };
	int rc;

	if (!unit->rows_tried && tab) {
		rc = cozk_linetab_rows(tab, push_row, &list);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			binary->units_skipped++;
		if (unit->nrows)
			qsort(unit->rows, unit->nrows, sizeof(*unit->rows), row_cmp);
	}
	unit->rows_tried = true;
	return unit->nrows ? 0 : -ENOENT;
}

Dwarf_Die *cozk_unit_full(struct cozk_binary *binary, struct cozk_cu *unit)
{
	Dwarf_Die sub = { 0 };
	uint8_t type;

	if (unit->full_tried)
		return unit->has_full ? &unit->full : NULL;
	unit->full_tried = true;
	if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &sub, NULL, NULL, NULL)) {
		binary->units_skipped++;
		return NULL;
	}
	if (type == DW_UT_skeleton) {
		unit->has_full = sub.addr != NULL;
		unit->full = sub;
		if (!unit->has_full)
			binary->units_skipped++;
	} else {
		unit->has_full = true;
		unit->full = unit->die;
	}
	return unit->has_full ? &unit->full : NULL;
}

struct func_list {
	struct cozk_binary *binary;
	struct cozk_cu *unit;
	size_t cap;
	bool deep; /* look everywhere, not only where functions usually are */
};

static int push_func(struct func_list *list, Dwarf_Die *die)
{
	struct cozk_cu *unit = list->unit;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0) {
		if (lo >= hi || !cozk_binary_is_code(list->binary, lo))
			continue;
		if (grow(&unit->funcs, unit->nfuncs, &list->cap, sizeof(*unit->funcs)))
			return -ENOMEM;
		unit->funcs[unit->nfuncs++] = (struct cozk_unit_func){ lo, hi, *die };
	}
	return 0;
}

static int collect_funcs(struct func_list *list, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	const void *last = NULL;
	int rc;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return 0;
	do {
		bool enter = list->deep;

		/*
		 * Entries are in ascending order; a broken sibling reference could send us round in
		 * circles.
		 */
		if ((const char *)die.addr <= (const char *)last)
			break;
		last = die.addr;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			rc = push_func(list, &die);
			if (rc)
				return rc;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			enter = true;
			break;
		}
		if (enter && (rc = collect_funcs(list, &die, depth + 1)))
			return rc;
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

static int func_cmp(const void *a, const void *b)
{
	const struct cozk_unit_func *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int read_funcs(struct cozk_binary *binary, struct cozk_cu *unit, bool deep)
{
	struct func_list list = { .binary = binary, .unit = unit, .deep = deep };
	Dwarf_Die *full = cozk_unit_full(binary, unit);
	int rc;

	free(unit->funcs);
	unit->funcs = NULL;
	unit->nfuncs = 0;
	rc = full ? collect_funcs(&list, full, 0) : 0;
	if (rc)
		return rc;
	unit->funcs_tried = true;
	unit->funcs_deep = deep;
	if (unit->nfuncs)
		qsort(unit->funcs, unit->nfuncs, sizeof(*unit->funcs), func_cmp);
	return 0;
}

static const struct cozk_unit_func *find_func(const struct cozk_cu *unit, uint64_t vaddr)
{
	size_t lo = 0, hi = unit->nfuncs;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (unit->funcs[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < unit->funcs[lo - 1].end ? &unit->funcs[lo - 1] : NULL;
}

const struct cozk_unit_func *cozk_unit_func_find(struct cozk_binary *binary, struct cozk_cu *unit, uint64_t vaddr)
{
	const struct cozk_unit_func *func;

	if (!unit->funcs_tried && read_funcs(binary, unit, false))
		return NULL;
	func = find_func(unit, vaddr);
	/*
	 * Nested functions and methods of local classes are rare; looking for them takes a walk
	 * over everything.
	 */
	if (!func && !unit->funcs_deep && !read_funcs(binary, unit, true))
		func = find_func(unit, vaddr);
	return func;
}

void cozk_units_free(struct cozk_units *units)
{
	if (!units)
		return;
	for (size_t i = 0; i < units->len; i++) {
		cozk_linetab_close(&units->v[i].tab);
		free(units->v[i].rows);
		free(units->v[i].funcs);
	}
	free(units->v);
	free(units->ranges);
	free(units);
}
