// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The line table reader on tables written by hand, and on any number of damaged ones.
 * Sources: linetab.c linepath.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/linetab.h"

enum {
	ROUNDS = 100000, /* of damage; less than a second */
	MAX_ROWS = 16,
};

/* clang-format off */

/* Version 4: directory "inc", files "a.c" (no directory) and "b.h" (inc). */
static const uint8_t table_v4[] = {
	0x50, 0, 0, 0,			/* unit length */
	4, 0,				/* version */
	0x2a, 0, 0, 0,			/* header length */
	1, 1, 1, 0xfb, 14, 13,		/* min inst, max ops, is_stmt, line base -5, range, base */
	0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
	'i', 'n', 'c', 0, 0,
	'a', '.', 'c', 0, 0, 0, 0,
	'b', '.', 'h', 0, 1, 0, 0,
	0,
	/* slack, which the header length tells to skip */
	0, 0, 0, 0,
	/* the program */
	0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0,	/* set address 0x1000 */
	3, 9,				/* advance line by 9, to 10 */
	1,				/* copy: 0x1000 is a.c:10 */
	2, 4,				/* advance pc by 4 */
	4, 2,				/* set file 2 */
	3, 0x7b,			/* advance line by -5, to 5 */
	1,				/* copy: 0x1004 is b.h:5 */
	4, 1,				/* set file 1 */
	13 + 14 * 3 + 5 + 6,		/* special: pc + 3, line + 6: 0x1007 is a.c:11 */
	3, 0x75,			/* line by -11, to 0 */
	13 + 14 * 2 + 5,		/* special: pc + 2: 0x1009 has no line */
	2, 7,				/* advance pc by 7 */
	0, 1, 1,			/* end of sequence at 0x1010 */
};

/* clang-format on */

static const struct cozk_linetab_sections sections_v4 = {
	.line = table_v4,
	.line_len = sizeof(table_v4),
};

struct rows {
	struct cozk_line_row v[MAX_ROWS];
	size_t len;
	size_t stop_after;
};

static int collect(const struct cozk_line_row *row, void *arg)
{
	struct rows *rows = arg;

	assert_true(row->start < row->end);
	assert_int_not_equal(row->line, 0);
	if (rows->len < MAX_ROWS)
		rows->v[rows->len++] = *row;
	return rows->stop_after && rows->len == rows->stop_after ? 42 : 0;
}

static void check_row(const struct cozk_line_row *row, uint64_t start, uint64_t end, uint64_t file, unsigned int line)
{
	assert_int_equal(row->start, start);
	assert_int_equal(row->end, end);
	assert_int_equal(row->file, file);
	assert_int_equal(row->line, line);
}

static void check_path(const struct cozk_linetab *tab, uint64_t file, const char *comp_dir, const char *want)
{
	char *path = cozk_linetab_path(tab, file, comp_dir);

	assert_non_null(path);
	assert_string_equal(path, want);
	free(path);
}

static void test_version_4(void **state)
{
	struct cozk_linetab tab;
	struct rows rows = { .len = 0 };

	(void)state;
	assert_int_equal(cozk_linetab_open(&sections_v4, 0, 8, &tab), 0);
	assert_int_equal(tab.nfiles, 3);
	check_path(&tab, 1, "/src", "/src/a.c");
	check_path(&tab, 2, "/src", "/src/inc/b.h");
	check_path(&tab, 2, NULL, "inc/b.h");
	assert_null(cozk_linetab_path(&tab, 0, "/src"));
	assert_null(cozk_linetab_path(&tab, 3, "/src"));
	assert_true(cozk_linetab_has_base(&tab, 2, "b.h"));
	assert_false(cozk_linetab_has_base(&tab, 2, "h"));
	assert_false(cozk_linetab_has_base(&tab, 9, "b.h"));

	assert_int_equal(cozk_linetab_rows(&tab, collect, &rows), 0);
	assert_int_equal(rows.len, 4);
	check_row(&rows.v[0], 0x1000, 0x1004, 1, 10);
	check_row(&rows.v[1], 0x1004, 0x1007, 2, 5);
	check_row(&rows.v[2], 0x1007, 0x1009, 1, 11);
	/* No line of its own: it counts to the one before. */
	check_row(&rows.v[3], 0x1009, 0x1010, 1, 11);
	assert_true(rows.v[0].sequence_start);
	assert_false(rows.v[1].sequence_start);

	rows = (struct rows){ .stop_after = 2 };
	assert_int_equal(cozk_linetab_rows(&tab, collect, &rows), 42);
	assert_int_equal(rows.len, 2);
	cozk_linetab_close(&tab);
}

static void test_cut(void **state)
{
	struct cozk_linetab tab;

	(void)state;
	for (size_t len = 0; len < sizeof(table_v4); len++) {
		/* A copy of just this size, so that the sanitizer sees a read beyond it. */
		uint8_t *copy = malloc(len ? len : 1);
		struct cozk_linetab_sections sections = { .line = copy, .line_len = len };

		memcpy(copy, table_v4, len);
		assert_int_equal(cozk_linetab_open(&sections, 0, 8, &tab), -EBADMSG);
		free(copy);
	}
	assert_int_equal(cozk_linetab_open(&sections_v4, sizeof(table_v4) + 1, 8, &tab), -EBADMSG);
	assert_int_equal(cozk_linetab_open(&sections_v4, UINT64_MAX, 8, &tab), -EBADMSG);
	assert_int_equal(cozk_linetab_open(&(struct cozk_linetab_sections){ 0 }, 0, 8, &tab), -EBADMSG);
}

/* clang-format off */

/* Version 5: paths as offsets into .debug_line_str, an MD5 sum that must be skipped. */
static const uint8_t table_v5[] = {
	0x71, 0, 0, 0,			/* unit length */
	5, 0, 8, 0,			/* version, address size, segment size */
	0x57, 0, 0, 0,			/* header length */
	1, 1, 1, 0xfb, 14, 13,
	0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
	1, 1, 0x1f,			/* directories: path as line_strp */
	2, 0, 0, 0, 0, 5, 0, 0, 0,	/* "/src", "inc" */
	3, 1, 0x1f, 2, 0x0b, 5, 0x1e,	/* files: path, directory as data1, MD5 as data16 */
	2,
	9, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	13, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	0, 0, 0, 0, 0, 0, 0,		/* slack */
	/* the program: file 1 is the first one's index, as always */
	0, 9, 2, 0x00, 0x20, 0, 0, 0, 0, 0, 0,
	1,				/* 0x2000 is inc/b.h:1 */
	2, 0x80, 1,			/* advance pc by 128 */
	0, 1, 1,
};

/* clang-format on */

static const char line_str[] = "/src\0inc\0a.c\0b.h";

static void test_version_5(void **state)
{
	const struct cozk_linetab_sections sections = {
		.line = table_v5,
		.line_len = sizeof(table_v5),
		.line_str = line_str,
		.line_str_len = sizeof(line_str),
	};
	struct cozk_linetab tab;
	struct rows rows = { .len = 0 };

	(void)state;
	assert_int_equal(cozk_linetab_open(&sections, 0, 4, &tab), 0);
	assert_int_equal(tab.addr_size, 8);
	assert_int_equal(tab.nfiles, 2);
	check_path(&tab, 0, "/elsewhere", "/src/a.c");
	check_path(&tab, 1, "/src", "/src/inc/b.h");
	assert_int_equal(cozk_linetab_rows(&tab, collect, &rows), 0);
	assert_int_equal(rows.len, 1);
	check_row(&rows.v[0], 0x2000, 0x2080, 1, 1);
	cozk_linetab_close(&tab);
}

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

static int ignore(const struct cozk_line_row *row, void *arg)
{
	assert_true(row->start < row->end);
	/* Tables are small, but a program can loop through addresses for as long as it likes. */
	return ++*(unsigned int *)arg > 1000;
}

static void damage(const uint8_t *table, size_t len)
{
	uint8_t *copy = malloc(len);

	for (int round = 0; round < ROUNDS; round++) {
		struct cozk_linetab_sections sections = {
			.line = copy,
			.line_len = len,
			.str = line_str,
			.str_len = sizeof(line_str),
			.line_str = line_str,
			.line_str_len = sizeof(line_str),
		};
		struct cozk_linetab tab;
		unsigned int rows = 0;

		memcpy(copy, table, len);
		for (uint32_t n = next_random() % 4 + 1; n > 0; n--)
			copy[next_random() % len] = next_random();
		if (cozk_linetab_open(&sections, 0, 8, &tab))
			continue;
		for (size_t file = 0; file < tab.nfiles; file++)
			free(cozk_linetab_path(&tab, file, "/src"));
		cozk_linetab_rows(&tab, ignore, &rows);
		cozk_linetab_close(&tab);
	}
	free(copy);
}

static void test_damage(void **state)
{
	(void)state;
	damage(table_v4, sizeof(table_v4));
	damage(table_v5, sizeof(table_v5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_4),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_version_5),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
