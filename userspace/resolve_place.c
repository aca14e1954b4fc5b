// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "resolve.h"
#include "resolve_private.h"
#include "symbols.h"

enum {
	/* Bytes of run-time code, whose functions nobody names, that count as one. */
	ANON_PIECE_SIZE = 4096,
};

struct place {
	struct cozk_hnode node;
	const struct cozk_mapped *mapped;
	struct cozk_place place; /* in_scope: as far as the source scope tells */
};

struct text {
	struct cozk_hnode node;
	char text[];
};

static int text_equal(const struct cozk_hnode *node, const void *key)
{
	return !strcmp(((const struct text *)node)->text, key);
}

/* The one copy of @text that lives as long as the resolver; NULL on ENOMEM. */
static const char *intern(struct cozk_resolver *r, const char *text)
{
	uint64_t hash = cozk_hash_string(0, text);
	struct text *node = (struct text *)cozk_htab_find(&r->texts, hash, text_equal, text);
	size_t len = strlen(text) + 1;

	if (node)
		return node->text;
	node = malloc(sizeof(*node) + len);
	if (!node)
		return NULL;
	memcpy(node->text, text, len);
	if (cozk_htab_add(&r->texts, hash, &node->node)) {
		free(node);
		return NULL;
	}
	return node->text;
}

struct place_key {
	const struct cozk_mapped *mapped;
	uint64_t vaddr;
};

static int place_equal(const struct cozk_hnode *node, const void *key)
{
	const struct place *place = (const struct place *)node;
	const struct place_key *want = key;

	return place->mapped == want->mapped && place->place.vaddr == want->vaddr;
}

/* "outer > inlined > innermost" */
static const char *chain_text(struct cozk_resolver *r, const struct cozk_frames *frames, const char *outer)
{
	char *text = NULL;
	const char *ret;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs(outer, f);
	for (size_t i = frames->len; i-- > 1;)
		fprintf(f, " > %s", frames->v[i - 1].function ? frames->v[i - 1].function : "?");
	ret = fclose(f) ? NULL : intern(r, text);
	free(text);
	return ret;
}

/* Name of code without a symbol: the binary's own name and where the piece of code starts. */
static const char *piece_name(struct cozk_resolver *r, const struct cozk_mapped *mapped, uint64_t start)
{
	const char *base = strrchr(mapped->path, '/'), *ret;
	char *text;

	if (asprintf(&text, "%s+0x%" PRIx64, base ? base + 1 : mapped->path, start) < 0)
		return NULL;
	ret = intern(r, text);
	free(text);
	return ret;
}

/* The function by symbol table, else by debug information, else by address. NULL on ENOMEM. */
static const char *outer_name(struct cozk_resolver *r, const struct cozk_mapped *mapped, uint64_t vaddr,
			      const struct cozk_frames *frames)
{
	struct cozk_symbol sym = { .start = vaddr / ANON_PIECE_SIZE * ANON_PIECE_SIZE };
	int rc = mapped->binary ? cozk_symbols_find(mapped->binary, vaddr, &sym) : 0;
	const char *ret;
	char *display;

	if (rc == -ENOMEM)
		return NULL;
	if (rc || !sym.name) {
		if (frames->len && frames->v[frames->len - 1].function)
			return intern(r, frames->v[frames->len - 1].function);
		return piece_name(r, mapped, rc ? vaddr : sym.start);
	}
	display = cozk_symbol_display(sym.name);
	ret = display ? intern(r, display) : NULL;
	free(display);
	return ret;
}

/* Fills everything of @place that does not depend on the process. Returns 0 or -ENOMEM. */
static int place_fill(struct cozk_resolver *r, const struct cozk_mapped *mapped, struct cozk_place *place)
{
	struct cozk_frames frames = { 0 };
	const char *outer;
	size_t pick = 0;
	int rc = mapped->binary ? cozk_lines_frames(mapped->binary, place->vaddr, &frames) : -ENOENT;

	if (rc == -ENOMEM)
		return rc;
	outer = outer_name(r, mapped, place->vaddr, &frames);
	place->binary = mapped->path;
	place->build_id = mapped->binary ? mapped->binary->build_id : "";
	place->in_scope = cozk_scope_source(r->scope, "");
	place->file = "";
	if (frames.len)
		pick = cozk_frames_pick(&frames, r->scope, &place->in_scope);
	if (frames.len && frames.v[pick].file) {
		place->file = intern(r, frames.v[pick].file);
		place->line = frames.v[pick].line;
		place->has_line = true;
	} else if (frames.len) {
		place->in_scope = cozk_scope_source(r->scope, "");
	}
	place->function = outer;
	if (pick + 1 < frames.len)
		place->function = intern(r, frames.v[pick].function ? frames.v[pick].function : "?");
	place->chain = outer ? chain_text(r, &frames, outer) : NULL;
	cozk_frames_deinit(&frames);
	return outer && place->file && place->function && place->chain ? 0 : -ENOMEM;
}

const struct cozk_place *cozk_resolver_place(struct cozk_resolver *r, const struct cozk_mapped *mapped, uint64_t vaddr)
{
	struct place_key key = { mapped, vaddr };
	uint64_t hash = cozk_hash_u64((uintptr_t)mapped, vaddr);
	struct place *place = (struct place *)cozk_htab_find(&r->places, hash, place_equal, &key);

	if (place)
		return &place->place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->mapped = mapped;
	place->place.vaddr = vaddr;
	if (place_fill(r, mapped, &place->place) || cozk_htab_add(&r->places, hash, &place->node)) {
		free(place);
		return NULL;
	}
	r->stats.places++;
	return &place->place;
}
