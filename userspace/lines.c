// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inlines.h"
#include "linepath.h"
#include "symname.h"
#include "units.h"

static const struct cozk_line_row *find_row(struct cozk_binary *binary, struct cozk_cu *unit, uint64_t vaddr)
{
	size_t lo = 0, hi;

	if (cozk_unit_rows(binary, unit))
		return NULL;
	hi = unit->nrows;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (unit->rows[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < unit->rows[lo - 1].end ? &unit->rows[lo - 1] : NULL;
}

static int frame_name(struct cozk_frame *frame, Dwarf_Die *die)
{
	const char *raw = die ? cozk_die_name(die) : NULL;

	if (!raw)
		return 0;
	frame->function = cozk_symbol_display(raw);
	return frame->function ? 0 : -ENOMEM;
}

static void frame_place(struct cozk_binary *binary, struct cozk_cu *unit, struct cozk_frame *frame, uint64_t file,
			unsigned int line)
{
	const struct cozk_linetab *tab = cozk_unit_tab(binary, unit);

	frame->file = tab && line ? cozk_linetab_path(tab, file, unit->comp_dir) : NULL;
	frame->line = frame->file ? line : 0;
}

int cozk_lines_frames(struct cozk_binary *binary, uint64_t vaddr, struct cozk_frames *ret)
{
	struct cozk_cu *unit = cozk_units_find(binary, vaddr);
	const struct cozk_unit_func *func;
	const struct cozk_line_row *row;
	struct cozk_inline_chain chain = { .len = 0 };
	struct cozk_frames frames = { 0 };
	int rc = 0;

	if (!unit)
		return -ENOENT;
	row = find_row(binary, unit, vaddr);
	func = cozk_unit_func_find(binary, unit, vaddr);
	if (!row && !func)
		return -ENOENT;
	if (func)
		cozk_inline_chain_find(&func->die, vaddr, &chain);
	frames.len = chain.len + 1;
	frames.v = calloc(frames.len, sizeof(*frames.v));
	if (!frames.v)
		return -ENOMEM;
	if (row)
		frame_place(binary, unit, &frames.v[0], row->file, row->line);
	for (size_t i = 0; i < frames.len && !rc; i++) {
		Dwarf_Die die, *which = NULL;
		uint64_t file;
		unsigned int line;

		if (i < chain.len)
			which = &chain.v[chain.len - 1 - i];
		else if (func)
			which = memcpy(&die, &func->die, sizeof(die));
		rc = frame_name(&frames.v[i], which);
		if (i < chain.len && cozk_inline_call_site(which, &file, &line))
			frame_place(binary, unit, &frames.v[i + 1], file, line);
	}
	if (rc) {
		cozk_frames_deinit(&frames);
		return rc;
	}
	*ret = frames;
	return 0;
}

void cozk_frames_deinit(struct cozk_frames *frames)
{
	for (size_t i = 0; i < frames->len; i++) {
		free(frames->v[i].function);
		free(frames->v[i].file);
	}
	free(frames->v);
	*frames = (struct cozk_frames){ 0 };
}

size_t cozk_frames_pick(const struct cozk_frames *frames, const struct cozk_scope *scope, bool *in_scope)
{
	for (size_t i = 0; i < frames->len; i++) {
		if (frames->v[i].file && (!scope || cozk_scope_source(scope, frames->v[i].file))) {
			*in_scope = true;
			return i;
		}
	}
	*in_scope = false;
	return 0;
}
