// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ehframe.h"

enum {
	/*
	 * How many symbols before an address may be tried for one that is long enough to hold it
	 * (nested labels).
	 */
	WALK_BACK = 32,
	/*
	 * Bytes of code that count as one function where nothing tells the bounds; a hot loop
	 * mostly fits.
	 */
	PIECE_SIZE = 64,
};

struct entry {
	struct cozk_symbol sym;
	uint64_t limit; /* end of its section: where a symbol without a size ends at the latest */
	uint8_t rank;	/* the lower, the better a name among those for the same address */
};

struct cozk_symbols {
	struct entry *v; /* by start, then rank */
	size_t len;
	size_t cap;
};

static int symbols_push(struct cozk_symbols *symbols, const struct entry *entry)
{
	if (symbols->len == symbols->cap) {
		size_t cap = symbols->cap ? symbols->cap * 2 : 256;
		struct entry *v = reallocarray(symbols->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		symbols->v = v;
		symbols->cap = cap;
	}
	symbols->v[symbols->len++] = *entry;
	return 0;
}

static uint8_t rank_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		return sym->st_size ? 0 : 3;
	case STB_WEAK:
		return sym->st_size ? 1 : 4;
	default:
		return sym->st_size ? 2 : 5;
	}
}

/*
 * Is this symbol the name of code? Global labels without a type are hand-written assembly, such as
 * _start.
 */
static bool is_function(const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !sym->st_value)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC ||
	       (type == STT_NOTYPE && GELF_ST_BIND(sym->st_info) != STB_LOCAL);
}

static uint64_t section_end(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = sym->st_shndx < SHN_LORESERVE ? elf_getscn(elf, sym->st_shndx) : NULL;

	if (!scn || !gelf_getshdr(scn, &shdr) || sym->st_value - shdr.sh_addr >= shdr.sh_size)
		return sym->st_value + 1;
	return shdr.sh_addr + shdr.sh_size;
}

static int read_table(struct cozk_binary *binary, Elf *elf, unsigned int type, struct cozk_symbols *symbols)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data;
		size_t n;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type || !shdr.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		n = data ? data->d_size / shdr.sh_entsize : 0;
		for (size_t i = 1; i < n; i++) {
			struct entry entry;
			GElf_Sym sym;

			if (!gelf_getsym(data, i, &sym) || !is_function(&sym) ||
			    !cozk_binary_is_code(binary, sym.st_value))
				continue;
			entry.sym.start = sym.st_value;
			entry.sym.end = sym.st_value + sym.st_size;
			entry.limit = sym.st_size ? entry.sym.end : section_end(elf, &sym);
			entry.sym.name = elf_strptr(elf, shdr.sh_link, sym.st_name);
			entry.rank = rank_of(&sym);
			if (!entry.sym.name || !*entry.sym.name)
				continue;
			if (symbols_push(symbols, &entry))
				return -ENOMEM;
		}
	}
	return 0;
}

static int entry_cmp(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->sym.start != y->sym.start)
		return x->sym.start > y->sym.start ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? 1 : -1;
	return strcmp(x->sym.name, y->sym.name);
}

/*
 * Labels without a size reach to the next symbol, but not beyond their section (_init is not the
 * PLT).
 */
static void close_open_ends(struct cozk_symbols *symbols)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = symbols->len; i-- > 0;) {
		struct entry *entry = &symbols->v[i];

		if (i + 1 < symbols->len && symbols->v[i + 1].sym.start > entry->sym.start)
			next = symbols->v[i + 1].sym.start;
		if (entry->sym.end == entry->sym.start)
			entry->sym.end = next < entry->limit ? next : entry->limit;
	}
}

static struct cozk_symbols *symbols_get(struct cozk_binary *binary)
{
	struct cozk_symbols *symbols = binary->symbols;
	int rc;

	if (symbols)
		return symbols;
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return NULL;
	rc = read_table(binary, binary->elf, SHT_SYMTAB, symbols);
	if (!rc && !symbols->len && cozk_binary_dwarf(binary) && binary->debug_elf != binary->elf)
		rc = read_table(binary, binary->debug_elf, SHT_SYMTAB, symbols);
	if (!rc && !symbols->len)
		rc = read_table(binary, binary->elf, SHT_DYNSYM, symbols);
	if (rc) {
		cozk_symbols_free(symbols);
		return NULL;
	}
	if (symbols->len)
		qsort(symbols->v, symbols->len, sizeof(*symbols->v), entry_cmp);
	close_open_ends(symbols);
	binary->symbols = symbols;
	return symbols;
}

int cozk_symbols_find(struct cozk_binary *binary, uint64_t vaddr, struct cozk_symbol *ret)
{
	struct cozk_symbols *symbols = symbols_get(binary);
	const struct cozk_symbol *best = NULL;
	size_t lo = 0, hi, steps = 0;

	if (!symbols)
		return -ENOMEM;
	hi = symbols->len;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (symbols->v[mid].sym.start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && steps++ < WALK_BACK) {
		const struct cozk_symbol *sym = &symbols->v[lo].sym;

		if (best && best->start != sym->start)
			break;
		/* Going back through equal addresses ends at the best rank. */
		if (vaddr < sym->end)
			best = sym;
	}
	if (best) {
		*ret = *best;
		return 0;
	}
	ret->name = NULL;
	if (!cozk_ehframe_find(binary, vaddr, &ret->start, &ret->end))
		return 0;
	if (!cozk_binary_is_code(binary, vaddr))
		return -ENOENT;
	ret->start = vaddr / PIECE_SIZE * PIECE_SIZE;
	ret->end = ret->start + PIECE_SIZE;
	return 0;
}

/* "NAME+0xADDR" as made for code without a symbol: is NAME this binary, and what is ADDR? */
static bool parse_piece(const struct cozk_binary *binary, const char *name, uint64_t *ret)
{
	const char *base = strrchr(binary->path, '/'), *plus = strrchr(name, '+');
	char *end;

	base = base ? base + 1 : binary->path;
	if (!plus || strncmp(plus, "+0x", 3) || strlen(base) != (size_t)(plus - name) ||
	    memcmp(base, name, plus - name))
		return false;
	errno = 0;
	*ret = strtoull(plus + 1, &end, 16);
	return !errno && !*end && end > plus + 3;
}

static int piece_ranges(struct cozk_binary *binary, uint64_t vaddr, struct cozk_ranges *ret)
{
	struct cozk_symbol sym;
	int rc = cozk_symbols_find(binary, vaddr, &sym);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	return cozk_ranges_add(ret, sym.start, sym.end);
}

int cozk_symbols_ranges(struct cozk_binary *binary, const char *name, struct cozk_ranges *ret)
{
	struct cozk_symbols *symbols = symbols_get(binary);
	uint64_t vaddr;
	char key[128];

	if (!symbols)
		return -ENOMEM;
	if (parse_piece(binary, name, &vaddr))
		return piece_ranges(binary, vaddr, ret);
	cozk_symbol_key(name, key, sizeof(key));
	for (size_t i = 0; i < symbols->len; i++) {
		const struct cozk_symbol *sym = &symbols->v[i].sym;
		char *display;
		bool same;

		/* Demangling a million names takes seconds, looking for a word in them does not. */
		if (!strstr(sym->name, key))
			continue;
		display = cozk_symbol_display(sym->name);
		if (!display)
			return -ENOMEM;
		same = cozk_symbol_matches(sym->name, display, name);
		free(display);
		if (same && cozk_ranges_add(ret, sym->start, sym->end))
			return -ENOMEM;
	}
	return 0;
}

int cozk_symbols_each(struct cozk_binary *binary,
		      int (*fn)(const struct cozk_symbol *sym, const char *display, void *arg), void *arg)
{
	struct cozk_symbols *symbols = symbols_get(binary);

	if (!symbols)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->len; i++) {
		const struct cozk_symbol *sym = &symbols->v[i].sym;
		char *display;
		int rc;

		if (i && symbols->v[i - 1].sym.start == sym->start)
			continue;
		display = cozk_symbol_display(sym->name);
		if (!display)
			return -ENOMEM;
		rc = fn(sym, display, arg);
		free(display);
		if (rc)
			return rc;
	}
	return 0;
}

void cozk_symbols_free(struct cozk_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->v);
	free(symbols);
}
