// SPDX-License-Identifier: GPL-2.0-or-later
#include "linesearch.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "inlines.h"
#include "linepath.h"
#include "lines.h"
#include "units.h"

enum {
	/*
	 * Larger line numbers are taken for broken input by the listing, which keeps a bit for
	 * each.
	 */
	MAX_LISTED_LINE = 1 << 24,
};

/* What a file of a unit's line table is to the search. */
enum file_flag {
	FILE_MATCHES = 1,
	FILE_IN_SCOPE = 2,
};

struct search {
	struct cozk_binary *binary;
	const struct cozk_scope *scope;
	const char *file;
	unsigned int line;
	struct cozk_ranges *ranges;
	struct cozk_lines_found *found;

	/* of the unit being searched */
	struct cozk_cu *unit;
	uint8_t *flags; /* of files, by index */
	size_t nfiles;
	bool seen; /* a matching file has code in it */
};

static bool file_is(const struct search *s, uint64_t file, enum file_flag flag)
{
	return file < s->nfiles && (s->flags[file] & flag);
}

static int search_row(const struct cozk_line_row *row, void *arg)
{
	struct search *s = arg;

	if (!file_is(s, row->file, FILE_MATCHES) || !cozk_binary_is_code(s->binary, row->start))
		return 0;
	s->seen = true;
	if (row->line < s->line) {
		if (row->line > s->found->below)
			s->found->below = row->line;
	} else if (row->line > s->line) {
		if (!s->found->above || row->line < s->found->above)
			s->found->above = row->line;
	} else if (file_is(s, row->file, FILE_IN_SCOPE)) {
		return cozk_ranges_add(s->ranges, row->start, row->end);
	} else {
		s->found->out_of_scope = true;
	}
	return 0;
}

/* Does a sample at @vaddr count to the wanted line? */
static int counts_here(const struct search *s, uint64_t vaddr)
{
	struct cozk_frames frames;
	bool in_scope;
	size_t pick;
	int rc = cozk_lines_frames(s->binary, vaddr, &frames);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	pick = cozk_frames_pick(&frames, s->scope, &in_scope);
	rc = in_scope && frames.v[pick].line == s->line && cozk_path_ends(frames.v[pick].file, s->file);
	cozk_frames_deinit(&frames);
	return rc;
}

static int search_call_range(struct search *s, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < s->unit->nrows; i++) {
		const struct cozk_line_row *row = &s->unit->rows[i];
		uint64_t start = row->start > lo ? row->start : lo, end = row->end < hi ? row->end : hi;
		int rc;

		if (row->start >= hi)
			break;
		if (start >= end || file_is(s, row->file, FILE_IN_SCOPE))
			continue;
		rc = counts_here(s, start);
		if (rc == 1)
			rc = cozk_ranges_add(s->ranges, start, end);
		if (rc)
			return rc;
	}
	return 0;
}

/* Code inlined from a file out of scope counts to the line that calls it. */
static int search_call(Dwarf_Die *die, void *arg)
{
	struct search *s = arg;
	Dwarf_Addr base, lo, hi;
	uint64_t file;
	unsigned int line;
	ptrdiff_t next = 0;
	int rc;

	if (!cozk_inline_call_site(die, &file, &line) || line != s->line || !file_is(s, file, FILE_MATCHES))
		return 0;
	while ((next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0) {
		rc = search_call_range(s, lo, hi);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Fills flags. Returns how many files match, or -ENOMEM; *@ret_outside: some file is out of scope.
 */
static int flag_files(struct search *s, const struct cozk_linetab *tab, bool *ret_outside)
{
	const char *slash = strrchr(s->file, '/'), *base = slash ? slash + 1 : s->file;
	int matches = 0;

	*ret_outside = false;
	/* Most units do not know the file at all: find out before a path is put together. */
	for (size_t i = 0; i < tab->nfiles && !matches; i++)
		matches = cozk_linetab_has_base(tab, i, base);
	if (!matches)
		return 0;
	matches = 0;
	s->nfiles = tab->nfiles;
	s->flags = calloc(tab->nfiles, 1);
	if (!s->flags)
		return -ENOMEM;
	for (size_t i = 0; i < tab->nfiles; i++) {
		char *path = cozk_linetab_path(tab, i, s->unit->comp_dir);

		if (!path)
			continue;
		if (cozk_path_ends(path, s->file)) {
			s->flags[i] |= FILE_MATCHES;
			matches++;
		}
		if (!s->scope || cozk_scope_source(s->scope, path))
			s->flags[i] |= FILE_IN_SCOPE;
		else
			*ret_outside = true;
		free(path);
	}
	return matches;
}

static int search_unit(struct search *s, struct cozk_cu *unit)
{
	struct cozk_linetab own, *tab = unit->tab_ok ? &unit->tab : &own;
	bool outside;
	int rc;

	/* Not kept: this search opens every unit once, and most of them are never needed again. */
	if (tab == &own && (!unit->has_lines || unit->tab_tried ||
			    cozk_linetab_open(&s->binary->units->sections, unit->line_offset,
					      gelf_getclass(s->binary->elf) == ELFCLASS32 ? 4 : 8, &own)))
		return 0;
	s->found->have_lines = true;
	s->unit = unit;
	s->seen = false;
	s->flags = NULL;
	s->nfiles = 0;
	rc = flag_files(s, tab, &outside);
	if (rc > 0) {
		rc = cozk_linetab_rows(tab, search_row, s);
		if (rc == -EBADMSG)
			rc = 0;
		s->found->files += s->seen;
		if (!rc && outside && s->scope) {
			rc = cozk_unit_rows(s->binary, unit);
			if (!rc)
				rc = cozk_inline_each(s->binary, unit, false, search_call, s);
			else if (rc == -ENOENT)
				rc = 0;
		}
	}
	free(s->flags);
	if (tab == &own)
		cozk_linetab_close(&own);
	return rc;
}

int cozk_lines_ranges(struct cozk_binary *binary, const struct cozk_scope *scope, const char *file, unsigned int line,
		      struct cozk_ranges *ret, struct cozk_lines_found *found)
{
	struct cozk_units *units = cozk_units_get(binary);
	struct search s = {
		.binary = binary, .scope = scope, .file = file, .line = line, .ranges = ret, .found = found
	};

	for (size_t i = 0; units && i < units->len; i++) {
		int rc = search_unit(&s, &units->v[i]);

		if (rc)
			return rc;
	}
	return 0;
}

/* The lines of one file that have code, as a set of bits. */
struct listed {
	char *path;
	uint64_t *bits;
	size_t words;
};

struct listing {
	struct cozk_binary *binary;
	const struct cozk_scope *scope;
	void *tree;		 /* struct listed by path */
	struct listed **by_file; /* of the unit being read; NULL: not in scope or not yet looked up */
	bool *known;
	size_t nfiles;
	const struct cozk_linetab *tab;
	const char *comp_dir;
	int (*fn)(const char *file, unsigned int line, void *arg);
	void *arg;
	int rc;
};

static int listed_cmp(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* The set for a file of the current unit; *@ret NULL if it is out of scope. */
static int listing_file(struct listing *l, uint64_t file, struct listed **ret)
{
	struct listed *listed, **node;
	char *path;

	if (l->known[file]) {
		*ret = l->by_file[file];
		return 0;
	}
	path = cozk_linetab_path(l->tab, file, l->comp_dir);
	l->known[file] = true;
	l->by_file[file] = *ret = NULL;
	if (!path || (l->scope && !cozk_scope_source(l->scope, path))) {
		free(path);
		return 0;
	}
	listed = calloc(1, sizeof(*listed));
	if (listed)
		listed->path = path;
	node = listed ? tsearch(listed, &l->tree, listed_cmp) : NULL;
	if (!node || *node != listed) {
		free(path);
		free(listed);
	}
	if (!node)
		return -ENOMEM;
	l->by_file[file] = *ret = *node;
	return 0;
}

static int listing_row(const struct cozk_line_row *row, void *arg)
{
	struct listing *l = arg;
	struct listed *listed;
	size_t word = row->line / 64;
	int rc;

	if (row->file >= l->nfiles || row->line > MAX_LISTED_LINE || !cozk_binary_is_code(l->binary, row->start))
		return 0;
	rc = listing_file(l, row->file, &listed);
	if (rc || !listed)
		return rc;
	if (word >= listed->words) {
		size_t words = word * 2 + 16;
		uint64_t *bits = reallocarray(listed->bits, words, sizeof(*bits));

		if (!bits)
			return -ENOMEM;
		memset(bits + listed->words, 0, (words - listed->words) * sizeof(*bits));
		listed->bits = bits;
		listed->words = words;
	}
	listed->bits[word] |= UINT64_C(1) << (row->line % 64);
	return 0;
}

static int listing_unit(struct listing *l, struct cozk_cu *unit)
{
	int rc;

	l->tab = cozk_unit_tab(l->binary, unit);
	if (!l->tab || !l->tab->nfiles)
		return 0;
	l->comp_dir = unit->comp_dir;
	l->nfiles = l->tab->nfiles;
	l->by_file = calloc(l->nfiles, sizeof(*l->by_file));
	l->known = calloc(l->nfiles, sizeof(*l->known));
	rc = l->by_file && l->known ? cozk_linetab_rows(l->tab, listing_row, l) : -ENOMEM;
	free(l->by_file);
	free(l->known);
	return rc == -EBADMSG ? 0 : rc;
}

static void listing_report(const void *node, VISIT which, void *arg)
{
	const struct listed *listed = *(struct listed *const *)node;
	struct listing *l = arg;

	if ((which != postorder && which != leaf) || l->rc)
		return;
	for (size_t line = 0; line < listed->words * 64 && !l->rc; line++) {
		if (listed->bits[line / 64] >> (line % 64) & 1)
			l->rc = l->fn(listed->path, line, l->arg);
	}
}

static void listed_free(void *node)
{
	struct listed *listed = node;

	free(listed->path);
	free(listed->bits);
	free(listed);
}

int cozk_lines_each(struct cozk_binary *binary, const struct cozk_scope *scope,
		    int (*fn)(const char *file, unsigned int line, void *arg), void *arg)
{
	struct cozk_units *units = cozk_units_get(binary);
	struct listing l = { .binary = binary, .scope = scope, .fn = fn, .arg = arg };

	if (!units)
		return -ENOENT;
	for (size_t i = 0; i < units->len && !l.rc; i++)
		l.rc = listing_unit(&l, &units->v[i]);
	if (!l.rc && !l.tree)
		l.rc = -ENOENT;
	if (!l.rc)
		twalk_r(l.tree, listing_report, &l);
	tdestroy(l.tree, listed_free);
	return l.rc;
}
