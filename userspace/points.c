// SPDX-License-Identifier: GPL-2.0-or-later
#include "points.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cozk.h"
#include "linetab.h"
#include "units.h"

/*
 * The macros leave a static variable behind, at the line that uses them, however the compiler
 * optimises the rest: cozk.h's, and Coz's own.
 */
static const char *const site_variables[] = { "cozk_site_", "_counter" };
static const char *const site_types[] = { "cozk_site", "coz_counter_t" };

enum {
	DEPTH_MAX = 256, /* of nested entries; broken input may go deeper */
};

struct site {
	char *file;
	unsigned int line;
};

struct sites {
	struct site *v;
	size_t len, cap;

	/* of the unit being read */
	const struct cozk_linetab *tab;
	const char *comp_dir;
};

static int sites_add(struct sites *sites, uint64_t file, uint64_t line)
{
	char *path = cozk_linetab_path(sites->tab, file, sites->comp_dir);

	if (!path)
		return file < sites->tab->nfiles ? -ENOMEM : 0;
	if (sites->len == sites->cap) {
		size_t cap = sites->cap ? sites->cap * 2 : 16;
		struct site *v = reallocarray(sites->v, cap, sizeof(*v));

		if (v) {
			sites->v = v;
			sites->cap = cap;
		}
	}
	if (sites->len == sites->cap) {
		free(path);
		return -ENOMEM;
	}
	sites->v[sites->len++] = (struct site){ path, (unsigned int)line };
	return 0;
}

/* Is it of the type @name, or a pointer to it? Other people's _counter is no point. */
static bool has_type(Dwarf_Die *die, const char *name)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	const char *got;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), &type))
		return false;
	if (dwarf_tag(&type) == DW_TAG_pointer_type &&
	    !dwarf_formref_die(dwarf_attr_integrate(&type, DW_AT_type, &attr), &type))
		return false;
	got = dwarf_diename(&type);
	return got && !strcmp(got, name);
}

static bool get_number(Dwarf_Die *die, unsigned int name, Dwarf_Word *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, ret);
}

static int look_at(struct sites *sites, Dwarf_Die *die)
{
	Dwarf_Word file, line;
	const char *name;

	if (dwarf_tag(die) != DW_TAG_variable)
		return 0;
	name = dwarf_diename(die);
	for (size_t i = 0; name && i < sizeof(site_variables) / sizeof(site_variables[0]); i++) {
		/* Not dwarf_decl_file(): that one takes clang's file 0 for none. */
		if (!strcmp(name, site_variables[i]) && has_type(die, site_types[i]) &&
		    get_number(die, DW_AT_decl_file, &file) && get_number(die, DW_AT_decl_line, &line) && line &&
		    line <= UINT32_MAX)
			return sites_add(sites, file, line);
	}
	return 0;
}

static int walk(struct sites *sites, Dwarf_Die *die, unsigned int depth)
{
	const char *last;
	Dwarf_Die child;
	int rc = 0;

	if (depth == DEPTH_MAX || dwarf_child(die, &child))
		return 0;
	do {
		rc = look_at(sites, &child);
		if (!rc)
			rc = walk(sites, &child, depth + 1);
		last = child.addr;
		/* A reference back is broken input that would send us round in circles. */
	} while (!rc && !dwarf_siblingof(&child, &child) && (const char *)child.addr > last);
	return rc;
}

/* Only units that know one of the headers are read: most of a large program does not. */
static bool knows_header(const struct cozk_linetab *tab)
{
	for (size_t i = 0; i < tab->nfiles; i++) {
		if (cozk_linetab_has_base(tab, i, "cozk.h") || cozk_linetab_has_base(tab, i, "coz.h"))
			return true;
	}
	return false;
}

/* With -gsplit-dwarf the entries' files are numbered by a table of their own, in the .dwo file. */
static bool open_split_table(struct cozk_binary *binary, Dwarf_Die *root, struct cozk_linetab *ret)
{
	struct cozk_linetab_sections sections = { 0 };
	Dwarf *dwarf = dwarf_cu_getdwarf(root->cu);
	Dwarf_Word offset = 0;
	Elf_Data *data;
	GElf_Shdr shdr;

	if (dwarf == binary->dwarf)
		return false;
	data = cozk_elf_section(dwarf_getelf(dwarf), ".debug_line.dwo", &shdr);
	if (!data)
		return false;
	get_number(root, DW_AT_stmt_list, &offset);
	sections.line = data->d_buf;
	sections.line_len = data->d_size;
	return !cozk_linetab_open(&sections, offset, gelf_getclass(binary->elf) == ELFCLASS32 ? 4 : 8, ret);
}

static int look_at_unit(struct cozk_binary *binary, struct cozk_cu *unit, struct sites *sites)
{
	Dwarf_Die *root = cozk_unit_full(binary, unit);
	struct cozk_linetab own;
	bool split = root && open_split_table(binary, root, &own);
	int rc = 0;

	sites->tab = split ? &own : cozk_unit_tab(binary, unit);
	sites->comp_dir = unit->comp_dir;
	if (root && sites->tab && knows_header(sites->tab))
		rc = walk(sites, root, 0);
	if (split)
		cozk_linetab_close(&own);
	return rc;
}

static int site_cmp(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (order)
		return order;
	return x->line < y->line ? -1 : x->line > y->line;
}

int cozk_points_each(struct cozk_binary *binary, int (*fn)(const char *file, unsigned int line, void *arg), void *arg)
{
	struct cozk_units *units = cozk_units_get(binary);
	struct sites sites = { 0 };
	int rc = 0;

	if (!units || !units->len)
		return -ENOENT;
	for (size_t i = 0; i < units->len && !rc; i++)
		rc = look_at_unit(binary, &units->v[i], &sites);
	if (sites.len)
		qsort(sites.v, sites.len, sizeof(*sites.v), site_cmp);
	for (size_t i = 0; i < sites.len && !rc; i++) {
		/* Templates and inlined copies have a variable each. */
		if (!i || site_cmp(&sites.v[i - 1], &sites.v[i]))
			rc = fn(sites.v[i].file, sites.v[i].line, arg);
	}
	for (size_t i = 0; i < sites.len; i++)
		free(sites.v[i].file);
	free(sites.v);
	return rc;
}

/* The length of a macro's call at @text, with what is in its parentheses. */
static size_t call_length(const char *text)
{
	size_t word = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), i = word;
	int depth = 0;
	bool quoted = false;

	for (; text[i]; i++) {
		if (text[i] == '\\' && quoted && text[i + 1])
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (text[i] == '(' && !quoted)
			depth++;
		else if (text[i] == ')' && !quoted)
			depth--;
		if (depth <= 0)
			break;
	}
	return depth == 0 && text[i] == ')' ? i + 1 : word;
}

/* Takes "COZ_BEGIN("request")" apart. */
static void parse_call(struct cozk_point_text *ret)
{
	static const struct {
		const char *macro;
		int type;
	} macros[] = {
		{ "COZ_PROGRESS_NAMED", COZK_POINT_THROUGHPUT },
		{ "COZ_PROGRESS", COZK_POINT_THROUGHPUT },
		{ "COZ_BEGIN", COZK_POINT_BEGIN },
		{ "COZ_END", COZK_POINT_END },
	};
	const char *rest = ret->source, *end;

	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
		size_t len = strlen(macros[i].macro);

		if (strncmp(ret->source, macros[i].macro, len))
			continue;
		ret->type = macros[i].type;
		rest += len;
		break;
	}
	rest += strspn(rest, " \t");
	if (!ret->type || *rest != '(')
		return;
	rest += 1 + strspn(rest + 1, " \t");
	end = *rest == '"' ? strchr(rest + 1, '"') : NULL;
	/* Two strings side by side, or an escape: leave that to the compiler. */
	if (!end || end[1 + strspn(end + 1, " \t")] != ')' || memchr(rest, '\\', end - rest))
		return;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(end - rest - 1), rest + 1);
}

void cozk_point_text_read(const char *file, unsigned int line, struct cozk_point_text *ret)
{
	FILE *f = fopen(file, "re");
	char *text = NULL, *call;
	size_t size = 0;
	unsigned int at = 0;

	memset(ret, 0, sizeof(*ret));
	if (!f)
		return;
	while (at < line && getline(&text, &size, f) >= 0)
		at++;
	if (line && at == line) {
		call = strstr(text, "COZ_");
		if (call) {
			snprintf(ret->source, sizeof(ret->source), "%.*s", (int)call_length(call), call);
			parse_call(ret);
		} else {
			/* A macro of the program's own around Coz's. */
			call = text + strspn(text, " \t");
			snprintf(ret->source, sizeof(ret->source), "%.*s", (int)strcspn(call, "\r\n"), call);
		}
	}
	free(text);
	fclose(f);
}
