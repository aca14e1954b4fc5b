/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_LINETAB_H
#define COZK_LINETAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reader for one unit of .debug_line, versions 2 to 5, over plain memory. Why not libdw's: it
 * decodes all rows of a unit, and keeps them, before it tells the file names; with gigabytes of
 * debug information that is what must not happen.
 */
struct cozk_linetab_sections {
	const uint8_t *line;
	size_t line_len;
	const char *str;
	size_t str_len;
	const char *line_str;
	size_t line_str_len;
};

struct cozk_linetab_file {
	const char *name;
	uint64_t dir;
};

struct cozk_linetab {
	unsigned int version;
	unsigned int addr_size;
	unsigned int min_inst;
	unsigned int max_ops;
	bool default_is_stmt;
	int line_base;
	unsigned int line_range;
	unsigned int opcode_base;
	const uint8_t *opcode_lens;
	const uint8_t *program;
	const uint8_t *end;
	const char **dirs;
	size_t ndirs;
	struct cozk_linetab_file *files;
	size_t nfiles;
};

/* Code of one line: addresses [start, end). @file is an index for cozk_linetab_path(). */
struct cozk_line_row {
	uint64_t start;
	uint64_t end;
	uint64_t file;
	unsigned int line;
	bool sequence_start; /* start is where a piece of contiguous code begins */
};

/*
 * Reads the header at @offset. Returns 0, -EBADMSG for what is no line table, -ENOMEM. Points into
 * @sections.
 */
int cozk_linetab_open(const struct cozk_linetab_sections *sections, uint64_t offset, unsigned int addr_size,
		      struct cozk_linetab *ret);
void cozk_linetab_close(struct cozk_linetab *tab);

/*
 * Calls @fn for every row that covers code; a row of line 0 (the compiler knows no line) counts to
 * the row before it. Stops when @fn returns non-zero and returns that; -EBADMSG if the program is
 * broken (rows before that were reported).
 */
int cozk_linetab_rows(const struct cozk_linetab *tab, int (*fn)(const struct cozk_line_row *row, void *arg), void *arg);

/*
 * The file's path made absolute with @comp_dir (may be NULL) and tidied. New string; NULL if
 * unknown or out of memory.
 */
char *cozk_linetab_path(const struct cozk_linetab *tab, uint64_t file, const char *comp_dir);

/* Cheap: may file @file end in the name @base (the part after the last '/')? */
bool cozk_linetab_has_base(const struct cozk_linetab *tab, uint64_t file, const char *base);

#endif
