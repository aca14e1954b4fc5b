// SPDX-License-Identifier: GPL-2.0-or-later
#include "linetab.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linepath.h"

enum {
	MAX_FORMATS = 16, /* pairs that describe a version 5 entry; compilers write at most 5 */
};

/*
 * A read position that remembers when it ran over the end, so that callers need to check only once.
 */
struct cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

static uint64_t get_fixed(struct cursor *c, size_t size)
{
	uint64_t v = 0;

	if (c->bad || size > 8 || (size_t)(c->end - c->p) < size) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->p, size);
	c->p += size;
	return v;
}

static uint64_t get_uleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static int64_t get_sleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; c->p < c->end;) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				v |= -(UINT64_C(1) << shift);
			return (int64_t)v;
		}
	}
	c->bad = true;
	return 0;
}

static const char *get_string(struct cursor *c)
{
	const uint8_t *nul = c->bad ? NULL : memchr(c->p, 0, c->end - c->p);
	const char *s = (const char *)c->p;

	if (!nul) {
		c->bad = true;
		return "";
	}
	c->p = nul + 1;
	return s;
}

static void skip(struct cursor *c, uint64_t size)
{
	if (c->bad || (uint64_t)(c->end - c->p) < size)
		c->bad = true;
	else
		c->p += size;
}

static const char *string_at(const char *section, size_t len, uint64_t offset)
{
	if (!section || offset >= len || !memchr(section + offset, 0, len - offset))
		return NULL;
	return section + offset;
}

/* One value of a version 5 entry: text into *@str or a number into *@num. */
static void get_form(struct cursor *c, const struct cozk_linetab_sections *s, uint64_t form, size_t offset_size,
		     const char **str, uint64_t *num)
{
	switch (form) {
	case DW_FORM_string:
		*str = get_string(c);
		break;
	case DW_FORM_line_strp:
		*str = string_at(s->line_str, s->line_str_len, get_fixed(c, offset_size));
		break;
	case DW_FORM_strp:
		*str = string_at(s->str, s->str_len, get_fixed(c, offset_size));
		break;
	case DW_FORM_strp_sup:
		skip(c, offset_size);
		break;
	case DW_FORM_udata:
		*num = get_uleb(c);
		break;
	case DW_FORM_data1:
		*num = get_fixed(c, 1);
		break;
	case DW_FORM_data2:
		*num = get_fixed(c, 2);
		break;
	case DW_FORM_data4:
		*num = get_fixed(c, 4);
		break;
	case DW_FORM_data8:
		*num = get_fixed(c, 8);
		break;
	case DW_FORM_data16:
		skip(c, 16);
		break;
	case DW_FORM_block:
		skip(c, get_uleb(c));
		break;
	default:
		c->bad = true;
	}
}

/* The directory or file table of a version 5 header. */
static int get_entries(struct cursor *c, const struct cozk_linetab_sections *s, size_t offset_size,
		       struct cozk_linetab_file **ret, size_t *ret_len)
{
	uint64_t types[MAX_FORMATS], forms[MAX_FORMATS], formats = get_fixed(c, 1), count;
	struct cozk_linetab_file *v;

	if (formats > MAX_FORMATS)
		return -EBADMSG;
	for (uint64_t i = 0; i < formats; i++) {
		types[i] = get_uleb(c);
		forms[i] = get_uleb(c);
	}
	count = get_uleb(c);
	/*
	 * Every entry takes at least a byte, so a larger count is rubbish, not a reason to
	 * allocate.
	 */
	if (c->bad || count > (uint64_t)(c->end - c->p) || (count && !formats))
		return -EBADMSG;
	v = calloc(count ? count : 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		for (uint64_t f = 0; f < formats; f++) {
			const char *str = NULL;
			uint64_t num = 0;

			get_form(c, s, forms[f], offset_size, &str, &num);
			if (types[f] == DW_LNCT_path)
				v[i].name = str;
			else if (types[f] == DW_LNCT_directory_index)
				v[i].dir = num;
		}
	}
	*ret = v;
	*ret_len = count;
	return c->bad ? -EBADMSG : 0;
}

static int read_tables_v5(struct cursor *c, const struct cozk_linetab_sections *s, size_t offset_size,
			  struct cozk_linetab *tab)
{
	struct cozk_linetab_file *dirs = NULL;
	size_t ndirs = 0;
	int rc = get_entries(c, s, offset_size, &dirs, &ndirs);

	if (!rc) {
		tab->dirs = calloc(ndirs ? ndirs : 1, sizeof(*tab->dirs));
		rc = tab->dirs ? 0 : -ENOMEM;
	}
	if (!rc) {
		for (size_t i = 0; i < ndirs; i++)
			tab->dirs[i] = dirs[i].name;
		tab->ndirs = ndirs;
		rc = get_entries(c, s, offset_size, &tab->files, &tab->nfiles);
	}
	free(dirs);
	return rc;
}

/* Before version 5, entry 0 of both tables is not written: the unit's own directory and file. */
static int read_tables_v4(struct cursor *c, struct cozk_linetab *tab)
{
	size_t cap = 0;

	do {
		const char *dir = tab->ndirs ? get_string(c) : NULL;

		if (tab->ndirs && !*dir)
			break;
		if (tab->ndirs == cap) {
			const char **v = reallocarray(tab->dirs, cap = cap * 2 + 8, sizeof(*v));

			if (!v)
				return -ENOMEM;
			tab->dirs = v;
		}
		tab->dirs[tab->ndirs++] = dir;
	} while (!c->bad);
	cap = 0;
	do {
		const char *name = tab->nfiles ? get_string(c) : NULL;
		uint64_t dir = 0;

		if (tab->nfiles && !*name)
			break;
		if (tab->nfiles) {
			dir = get_uleb(c);
			get_uleb(c);
			get_uleb(c);
		}
		if (tab->nfiles == cap) {
			struct cozk_linetab_file *v = reallocarray(tab->files, cap = cap * 2 + 8, sizeof(*v));

			if (!v)
				return -ENOMEM;
			tab->files = v;
		}
		tab->files[tab->nfiles++] = (struct cozk_linetab_file){ name, dir };
	} while (!c->bad);
	return c->bad ? -EBADMSG : 0;
}

static int read_header(const struct cozk_linetab_sections *s, uint64_t offset, unsigned int addr_size,
		       struct cozk_linetab *tab)
{
	struct cursor c = { .p = s->line, .end = s->line + s->line_len };
	size_t offset_size = 4;
	uint64_t len;

	skip(&c, offset);
	len = get_fixed(&c, 4);
	if (len == 0xffffffff) {
		offset_size = 8;
		len = get_fixed(&c, 8);
	}
	if (c.bad || len > (uint64_t)(c.end - c.p))
		return -EBADMSG;
	tab->end = c.end = c.p + len;
	tab->version = get_fixed(&c, 2);
	if (tab->version < 2 || tab->version > 5)
		return -EBADMSG;
	tab->addr_size = addr_size;
	if (tab->version >= 5) {
		tab->addr_size = get_fixed(&c, 1);
		skip(&c, 1);
	}
	len = get_fixed(&c, offset_size);
	if (c.bad || len > (uint64_t)(c.end - c.p) || !tab->addr_size || tab->addr_size > 8)
		return -EBADMSG;
	tab->program = c.p + len;
	c.end = tab->program;
	tab->min_inst = get_fixed(&c, 1);
	tab->max_ops = tab->version >= 4 ? get_fixed(&c, 1) : 1;
	tab->default_is_stmt = get_fixed(&c, 1);
	tab->line_base = (int8_t)get_fixed(&c, 1);
	tab->line_range = get_fixed(&c, 1);
	tab->opcode_base = get_fixed(&c, 1);
	tab->opcode_lens = c.p;
	skip(&c, tab->opcode_base ? tab->opcode_base - 1 : 0);
	if (c.bad || !tab->line_range || !tab->opcode_base || !tab->max_ops)
		return -EBADMSG;
	return tab->version >= 5 ? read_tables_v5(&c, s, offset_size, tab) : read_tables_v4(&c, tab);
}

int cozk_linetab_open(const struct cozk_linetab_sections *sections, uint64_t offset, unsigned int addr_size,
		      struct cozk_linetab *ret)
{
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (!sections->line)
		return -EBADMSG;
	rc = read_header(sections, offset, addr_size, ret);
	if (rc)
		cozk_linetab_close(ret);
	return rc;
}

void cozk_linetab_close(struct cozk_linetab *tab)
{
	free(tab->dirs);
	free(tab->files);
	memset(tab, 0, sizeof(*tab));
}

/* The line program's registers, and the row that waits for the address where it ends. */
struct machine {
	uint64_t addr;
	uint64_t op_index;
	uint64_t file;
	uint64_t line;	  /* unsigned, so that nonsense in the input wraps */
	bool in_sequence; /* pending is valid */
	struct cozk_line_row pending;
	int (*fn)(const struct cozk_line_row *row, void *arg);
	void *arg;
};

static void machine_reset(struct machine *m)
{
	m->addr = 0;
	m->op_index = 0;
	m->file = 1;
	m->line = 1;
	m->in_sequence = false;
}

/* A row begins (or, with @end, the sequence ends) here, so the one before it is complete. */
static int machine_emit(struct machine *m, bool end)
{
	bool first = !m->in_sequence;
	int rc = 0;

	/* Rows going backwards in one sequence are invalid; such a row is given no code. */
	if (m->in_sequence && m->addr > m->pending.start) {
		m->pending.end = m->addr;
		if (m->pending.line)
			rc = m->fn(&m->pending, m->arg);
		m->pending.sequence_start = false;
		m->pending.start = m->addr;
	}
	if (end) {
		machine_reset(m);
		return rc;
	}
	if (first) {
		m->pending = (struct cozk_line_row){ .start = m->addr, .sequence_start = true };
		m->in_sequence = true;
	}
	if (m->line && m->line <= UINT32_MAX) {
		m->pending.line = m->line;
		m->pending.file = m->file;
	}
	return rc;
}

static void machine_advance(const struct cozk_linetab *tab, struct machine *m, uint64_t ops)
{
	if (tab->max_ops == 1) {
		m->addr += ops * tab->min_inst;
		return;
	}
	m->addr += tab->min_inst * ((m->op_index + ops) / tab->max_ops);
	m->op_index = (m->op_index + ops) % tab->max_ops;
}

static int run_extended(struct cursor *c, struct machine *m)
{
	uint64_t len = get_uleb(c);
	struct cursor body = *c;
	int rc = 0;

	skip(c, len);
	if (c->bad || !len)
		return c->bad ? -EBADMSG : 0;
	body.end = c->p;
	switch (get_fixed(&body, 1)) {
	case DW_LNE_end_sequence:
		rc = machine_emit(m, true);
		break;
	case DW_LNE_set_address:
		m->addr = get_fixed(&body, len - 1 < 8 ? len - 1 : 8);
		m->op_index = 0;
		break;
	}
	return body.bad ? -EBADMSG : rc;
}

static int run_standard(const struct cozk_linetab *tab, struct cursor *c, struct machine *m, unsigned int op)
{
	switch (op) {
	case DW_LNS_copy:
		return machine_emit(m, false);
	case DW_LNS_advance_pc:
		machine_advance(tab, m, get_uleb(c));
		break;
	case DW_LNS_advance_line:
		m->line += (uint64_t)get_sleb(c);
		break;
	case DW_LNS_set_file:
		m->file = get_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		machine_advance(tab, m, (255 - tab->opcode_base) / tab->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += get_fixed(c, 2);
		m->op_index = 0;
		break;
	default:
		/* Its arguments are all LEB128, by definition; so unknown ones can be skipped. */
		for (unsigned int i = 0; i < tab->opcode_lens[op - 1]; i++)
			get_uleb(c);
	}
	return 0;
}

int cozk_linetab_rows(const struct cozk_linetab *tab, int (*fn)(const struct cozk_line_row *row, void *arg), void *arg)
{
	struct cursor c = { .p = tab->program, .end = tab->end };
	struct machine m = { .fn = fn, .arg = arg };
	int rc = 0;

	machine_reset(&m);
	while (c.p < c.end && !rc) {
		unsigned int op = get_fixed(&c, 1);

		if (op >= tab->opcode_base) {
			op -= tab->opcode_base;
			machine_advance(tab, &m, op / tab->line_range);
			m.line += (int64_t)tab->line_base + op % tab->line_range;
			rc = machine_emit(&m, false);
		} else if (op) {
			rc = run_standard(tab, &c, &m, op);
		} else {
			rc = run_extended(&c, &m);
		}
		if (c.bad)
			return -EBADMSG;
	}
	return rc;
}

char *cozk_linetab_path(const struct cozk_linetab *tab, uint64_t file, const char *comp_dir)
{
	const struct cozk_linetab_file *f = file < tab->nfiles ? &tab->files[file] : NULL;
	const char *dir;

	if (!f || !f->name)
		return NULL;
	/* Directory 0 before version 5 is NULL here: comp_dir alone. */
	dir = f->dir < tab->ndirs ? tab->dirs[f->dir] : NULL;
	return cozk_path_join(comp_dir, dir, f->name);
}

bool cozk_linetab_has_base(const struct cozk_linetab *tab, uint64_t file, const char *base)
{
	const char *name = file < tab->nfiles ? tab->files[file].name : NULL;
	const char *slash = name ? strrchr(name, '/') : NULL;

	return name && !strcmp(slash ? slash + 1 : name, base);
}
