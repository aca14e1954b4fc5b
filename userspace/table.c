// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "utf8.h"

enum { MAX_COLUMNS = 24, MIN_CUT_WIDTH = 15, MIN_PLACE_WIDTH = 18, GAP = 2 };

struct column {
	const char *title;
	enum cozk_align align;
	enum cozk_cut cut;
};

struct cell {
	char *text;
	enum cozk_style style;
};

struct cozk_table {
	struct column columns[MAX_COLUMNS];
	size_t columns_len;
	struct cell *cells;
	size_t cells_len, cells_cap;
	bool failed;
};

/* ---- text ---- */

/*
 * Code points that combine with the one before, and those that take two columns, as far as names in
 * programs need it.
 */
static int code_point_columns(uint32_t c)
{
	if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || (c >= 0xfe00 && c <= 0xfe0f))
		return 0;
	if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
	    (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd))
		return 2;
	return 1;
}

/*
 * The character at @s: its bytes, and the columns it takes. Of what must not reach a terminal, one
 * byte at a time, it says *bad.
 */
static size_t next_char(const char *s, int *columns, bool *bad)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = cozk_utf8_length(s);
	uint32_t c = n > 1 ? u[0] & (0x7f >> n) : u[0];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (u[i] & 0x3f);
	*bad = n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0);
	*columns = *bad ? 1 : code_point_columns(c);
	return n ? n : 1;
}

size_t cozk_text_columns(const char *text)
{
	size_t sum = 0;

	while (*text) {
		int columns;
		bool bad;

		text += next_char(text, &columns, &bad);
		sum += (size_t)columns;
	}
	return sum;
}

/* Appends to @buf what of @text fits into @columns. Returns the end. */
static char *copy_clean(const char *text, size_t columns, char *buf, const char *buf_end)
{
	while (*text) {
		int width;
		bool bad;
		size_t n = next_char(text, &width, &bad);

		if ((size_t)width > columns || buf + n >= buf_end)
			break;
		columns -= (size_t)width;
		if (bad)
			*buf++ = '?';
		else
			buf = mempcpy(buf, text, n);
		text += n;
	}
	*buf = '\0';
	return buf;
}

/* Cuts a place that has to be cut anyway: @buf gets "FILE:LINE" where only that counts now. */
static enum cozk_cut place_cut(const char *text, size_t columns, char *buf, size_t len)
{
	size_t first = strcspn(text, " "), digits = 0;

	while (digits < first && text[first - 1 - digits] >= '0' && text[first - 1 - digits] <= '9')
		digits++;
	if (digits == 0 || digits == first || text[first - 1 - digits] != ':')
		return COZK_CUT_END; /* a function */
	snprintf(buf, len, "%.*s", (int)first, text);
	/* Of the rest, a letter and the ellipsis at least, or nothing. */
	return cozk_text_columns(buf) + 3 <= columns ? COZK_CUT_END : COZK_CUT_START;
}

char *cozk_text_fit(const char *text, size_t columns, enum cozk_cut cut, char *buf, size_t len)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t have = cozk_text_columns(text);
	char place[512], *end = buf;

	if (cut == COZK_CUT_PLACE && have > columns) {
		cut = place_cut(text, columns, place, sizeof(place));
		if (cut == COZK_CUT_START) {
			text = place;
			have = cozk_text_columns(place);
		}
	}
	if (have <= columns || cut == COZK_CUT_NEVER || columns == 0 || len <= sizeof(ellipsis)) {
		copy_clean(text, cut == COZK_CUT_NEVER ? SIZE_MAX : columns, buf, buf + len);
		return buf;
	}
	if (cut == COZK_CUT_START) {
		while (have > columns - 1) {
			int width;
			bool bad;

			text += next_char(text, &width, &bad);
			have -= (size_t)width;
		}
		end = stpcpy(buf, ellipsis);
		copy_clean(text, columns - 1, end, buf + len);
	} else {
		end = copy_clean(text, columns - 1, buf, buf + len - sizeof(ellipsis) + 1);
		strcpy(end, ellipsis);
	}
	return buf;
}

/* ---- building ---- */

struct cozk_table *cozk_table_create(void)
{
	return calloc(1, sizeof(struct cozk_table));
}

void cozk_table_destroy(struct cozk_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->cells_len; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

void cozk_table_column(struct cozk_table *t, const char *title, enum cozk_align align, enum cozk_cut cut)
{
	if (t && t->columns_len < MAX_COLUMNS)
		t->columns[t->columns_len++] = (struct column){ title, align, cut };
}

void cozk_table_cell(struct cozk_table *t, enum cozk_style style, const char *text)
{
	if (!t || t->failed)
		return;
	if (t->cells_len == t->cells_cap) {
		size_t cap = t->cells_cap ? t->cells_cap * 2 : 64;
		struct cell *cells = reallocarray(t->cells, cap, sizeof(*cells));

		t->failed = !cells;
		if (!cells)
			return;
		t->cells = cells;
		t->cells_cap = cap;
	}
	t->cells[t->cells_len] = (struct cell){ strdup(text), style };
	t->failed = !t->cells[t->cells_len].text;
	t->cells_len += !t->failed;
}

void cozk_table_cellf(struct cozk_table *t, enum cozk_style style, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cozk_table_cell(t, style, text);
}

/* ---- printing ---- */

static void natural_widths(const struct cozk_table *t, size_t *widths)
{
	for (size_t c = 0; c < t->columns_len; c++)
		widths[c] = cozk_text_columns(t->columns[c].title);
	for (size_t i = 0; i < t->cells_len; i++) {
		size_t w = cozk_text_columns(t->cells[i].text), c = i % t->columns_len;

		if (w > widths[c])
			widths[c] = w;
	}
}

static size_t least_width(const struct column *column)
{
	if (column->cut == COZK_CUT_NEVER)
		return SIZE_MAX;
	return column->cut == COZK_CUT_PLACE ? MIN_PLACE_WIDTH : MIN_CUT_WIDTH;
}

/* Takes from the widest column that may be cut, again and again, until the row fits. */
static void fit_widths(const struct cozk_table *t, size_t *widths, size_t width)
{
	for (;;) {
		size_t total = (t->columns_len - 1) * GAP, widest = SIZE_MAX;

		for (size_t c = 0; c < t->columns_len; c++) {
			total += widths[c];
			if (widths[c] > least_width(&t->columns[c]) &&
			    (widest == SIZE_MAX || widths[c] > widths[widest]))
				widest = c;
		}
		if (total <= width || widest == SIZE_MAX)
			return;
		widths[widest]--;
	}
}

static const char *style_code(enum cozk_style style)
{
	switch (style) {
	case COZK_STYLE_BOLD:
		return "\033[1m";
	case COZK_STYLE_DIM:
		return "\033[2m";
	case COZK_STYLE_GOOD:
		return "\033[32m";
	case COZK_STYLE_BAD:
		return "\033[31m";
	case COZK_STYLE_PLAIN:
		break;
	}
	return "";
}

static void print_cell(const struct column *column, const char *text, enum cozk_style style, size_t width, bool last,
		       FILE *out, bool colour)
{
	char fitted[1024];
	const char *code = colour ? style_code(style) : "";
	size_t used;

	cozk_text_fit(text, width, column->cut, fitted, sizeof(fitted));
	used = cozk_text_columns(fitted);
	if (column->align == COZK_ALIGN_RIGHT)
		fprintf(out, "%*s", (int)(width > used ? width - used : 0), "");
	fprintf(out, "%s%s%s", code, fitted, *code ? "\033[0m" : "");
	/* No blanks at the end of lines. */
	if (!last)
		fprintf(out, "%*s", (int)(column->align == COZK_ALIGN_LEFT && width > used ? width - used : 0) + GAP,
			"");
}

int cozk_table_print(const struct cozk_table *t, FILE *out, unsigned int width, bool colour)
{
	size_t widths[MAX_COLUMNS];

	if (!t || t->failed)
		return -ENOMEM;
	natural_widths(t, widths);
	if (width)
		fit_widths(t, widths, width);
	for (size_t c = 0; c < t->columns_len; c++)
		print_cell(&t->columns[c], t->columns[c].title, COZK_STYLE_BOLD, widths[c], c + 1 == t->columns_len,
			   out, colour);
	putc('\n', out);
	for (size_t i = 0; i < t->cells_len; i++) {
		size_t c = i % t->columns_len;

		print_cell(&t->columns[c], t->cells[i].text, t->cells[i].style, widths[c], c + 1 == t->columns_len, out,
			   colour);
		if (c + 1 == t->columns_len)
			putc('\n', out);
	}
	return 0;
}

/* ---- terminal ---- */

unsigned int cozk_terminal_width(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) || size.ws_col == 0)
		return 0;
	return size.ws_col;
}

bool cozk_terminal_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(out);

	return fd >= 0 && isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}
