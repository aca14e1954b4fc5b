// SPDX-License-Identifier: GPL-2.0-or-later
#include "funcsearch.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inlines.h"
#include "symname.h"
#include "units.h"

enum {
	MAX_NEEDLES = 32, /* more places with the name than this: reading is as fast as searching */
};

/* How a name, or a function's entry, is referred to in .debug_info: 4 bytes each. */
struct needles {
	uint32_t v[MAX_NEEDLES];
	size_t len;
	bool all; /* search is of no use: read every unit */
};

struct search {
	struct cozk_binary *binary;
	const char *name;
	char key[128];
	struct cozk_ranges *ranges;
	Elf_Data *info;
	Elf_Data *str_offsets;
	struct needles strings; /* offsets in .debug_str */
	struct needles origins; /* offsets in .debug_info of functions found, for units that refer
				   to them */
	bool *done;		/* by unit */
};

static void needle_add(struct needles *needles, uint64_t value)
{
	if (needles->len == MAX_NEEDLES || value > UINT32_MAX) {
		needles->all = true;
		return;
	}
	needles->v[needles->len++] = value;
}

/*
 * Every place in .debug_str where a string begins that is the key, alone or with template
 * arguments.
 */
static void find_strings(struct search *s)
{
	const struct cozk_linetab_sections *sec = &s->binary->units->sections;
	size_t len = strlen(s->key);
	const char *at = sec->str, *end = sec->str + sec->str_len;

	if (!len) {
		s->strings.all = true;
		return;
	}
	while (at && at < end && !s->strings.all && (at = memmem(at, end - at, s->key, len))) {
		if (at + len < end && (at[len] == '\0' || at[len] == '<'))
			needle_add(&s->strings, at - sec->str);
		at++;
	}
}

static bool has_needle(const uint8_t *bytes, size_t len, const struct needles *needles)
{
	for (size_t i = 0; i < needles->len; i++) {
		if (memmem(bytes, len, &needles->v[i], sizeof(needles->v[i])))
			return true;
	}
	return needles->all;
}

/* May the name be in this unit? True when in doubt. */
static bool may_have_name(const struct search *s, struct cozk_cu *unit, const uint8_t *bytes, size_t len)
{
	Dwarf_Attribute attr;
	Dwarf_Word base;
	uint32_t part_len;
	uint8_t type;
	size_t at;

	if (s->strings.all || dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) ||
	    type == DW_UT_skeleton)
		return true;
	if (has_needle(bytes, len, &s->strings) || memmem(bytes, len, s->key, strlen(s->key)))
		return true;
	/*
	 * Version 5 may refer to strings by their place in this unit's part of a table; that part
	 * has its length in front.
	 */
	if (!dwarf_attr(&unit->die, DW_AT_str_offsets_base, &attr) || dwarf_formudata(&attr, &base))
		return false;
	if (!s->str_offsets || base < 8 || base > s->str_offsets->d_size)
		return true;
	at = base - 8;
	bytes = (const uint8_t *)s->str_offsets->d_buf + at;
	memcpy(&part_len, bytes, sizeof(part_len));
	len = s->str_offsets->d_size - at;
	return has_needle(bytes, part_len < len ? part_len + sizeof(part_len) : len, &s->strings);
}

static int search_die(Dwarf_Die *die, void *arg)
{
	struct search *s = arg;
	const char *raw = cozk_die_name(die);
	Dwarf_Addr base, lo, hi;
	ptrdiff_t next = 0;
	char *display;
	bool same;

	if (!raw || !strstr(raw, s->key))
		return 0;
	display = cozk_symbol_display(raw);
	if (!display)
		return -ENOMEM;
	same = cozk_symbol_matches(raw, display, s->name);
	free(display);
	if (!same)
		return 0;
	if (dwarf_tag(die) == DW_TAG_subprogram)
		needle_add(&s->origins, dwarf_dieoffset(die));
	while ((next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0) {
		if (lo < hi && cozk_binary_is_code(s->binary, lo) && cozk_ranges_add(s->ranges, lo, hi))
			return -ENOMEM;
	}
	return 0;
}

/* The bytes of a unit in .debug_info. */
static const uint8_t *unit_bytes(const struct search *s, struct cozk_cu *unit, size_t *ret_len)
{
	Dwarf_Off start = dwarf_dieoffset(&unit->die) - dwarf_cuoffset(&unit->die), next;
	size_t header;

	if (!s->info || dwarf_next_unit(s->binary->dwarf, start, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    next > s->info->d_size || start >= next)
		return NULL;
	*ret_len = next - start;
	return (const uint8_t *)s->info->d_buf + start;
}

static int search_units(struct search *s, bool by_origin)
{
	struct cozk_units *units = s->binary->units;

	for (size_t i = 0; i < units->len; i++) {
		struct cozk_cu *unit = &units->v[i];
		const uint8_t *bytes;
		size_t len;
		int rc;

		if (s->done[i])
			continue;
		bytes = unit_bytes(s, unit, &len);
		if (bytes && !(by_origin ? has_needle(bytes, len, &s->origins) : may_have_name(s, unit, bytes, len)))
			continue;
		s->done[i] = true;
		rc = cozk_inline_each(s->binary, unit, true, search_die, s);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Does any unit refer to functions of other units? Only link-time optimisation does that: the copy
 * is in another unit than the function. A chance hit on the two bytes costs time only.
 */
static bool has_far_origins(struct cozk_binary *binary)
{
	static const uint8_t pair[] = { DW_AT_abstract_origin, DW_FORM_ref_addr };
	Elf_Data *abbrev = cozk_elf_section(binary->debug_elf, ".debug_abbrev", NULL);

	return abbrev && memmem(abbrev->d_buf, abbrev->d_size, pair, sizeof(pair));
}

int cozk_funcs_ranges(struct cozk_binary *binary, const char *name, struct cozk_ranges *ret)
{
	struct cozk_units *units = cozk_units_get(binary);
	struct search s = { .binary = binary, .name = name, .ranges = ret };
	int rc;

	if (!units || !units->len)
		return 0;
	s.done = calloc(units->len, sizeof(*s.done));
	if (!s.done)
		return -ENOMEM;
	cozk_symbol_key(name, s.key, sizeof(s.key));
	s.info = cozk_elf_section(binary->debug_elf, ".debug_info", NULL);
	s.str_offsets = cozk_elf_section(binary->debug_elf, ".debug_str_offsets", NULL);
	find_strings(&s);
	rc = search_units(&s, false);
	if (!rc && (s.origins.len || s.origins.all) && has_far_origins(binary))
		rc = search_units(&s, true);
	free(s.done);
	return rc;
}
