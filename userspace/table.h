/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_TABLE_H
#define COZK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Tables of text for terminals: columns as wide as they need, the flexible ones cut to fit the
 * width.
 */

enum cozk_align {
	COZK_ALIGN_LEFT,
	COZK_ALIGN_RIGHT,
};

enum cozk_style {
	COZK_STYLE_PLAIN,
	COZK_STYLE_BOLD,
	COZK_STYLE_DIM,
	COZK_STYLE_GOOD,
	COZK_STYLE_BAD,
};

/* What to cut away first of a text that is too long. */
enum cozk_cut {
	COZK_CUT_NEVER, /* numbers: half a number is a lie */
	COZK_CUT_END,
	COZK_CUT_START, /* paths: their end says more */
	COZK_CUT_PLACE, /* "FILE:LINE more": the end, then the start, the line never */
};

struct cozk_table;

/*
 * Returns NULL on ENOMEM, as do the following on tables that are NULL or have run out of memory
 * before.
 */
struct cozk_table *cozk_table_create(void);
void cozk_table_destroy(struct cozk_table *t);

void cozk_table_column(struct cozk_table *t, const char *title, enum cozk_align align, enum cozk_cut cut);

/* Cells are added row by row, as many as there are columns; @text is copied. */
void cozk_table_cell(struct cozk_table *t, enum cozk_style style, const char *text);
__attribute__((format(printf, 3, 4))) void cozk_table_cellf(struct cozk_table *t, enum cozk_style style,
							    const char *format, ...);

/*
 * Prints headings and rows to @out, at most @width columns wide as far as cutting allows (0: no
 * limit). Returns 0, or -ENOMEM when a cell was lost for want of memory.
 */
int cozk_table_print(const struct cozk_table *t, FILE *out, unsigned int width, bool colour);

/*
 * Columns that @text takes on a terminal; bytes that are no UTF-8 and control characters count (and
 * print) as one.
 */
size_t cozk_text_columns(const char *text);

/*
 * Copies @text into @buf so that it takes at most @columns, with an ellipsis in place of what is
 * cut; control characters and bytes that are no UTF-8 become '?'. Never cuts inside a character.
 * Returns @buf.
 */
char *cozk_text_fit(const char *text, size_t columns, enum cozk_cut cut, char *buf, size_t len);

/* Width of the terminal @out is, 0 if it is none. */
unsigned int cozk_terminal_width(FILE *out);

/* Whether to colour: a terminal, and neither NO_COLOR nor TERM=dumb say otherwise. */
bool cozk_terminal_colour(FILE *out);

#endif
