// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables: widths, cutting, and what must never reach a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/table.h"

static char buf[64];

static void test_columns(void **state)
{
	(void)state;
	assert_int_equal(cozk_text_columns(""), 0);
	assert_int_equal(cozk_text_columns("abc"), 3);
	assert_int_equal(cozk_text_columns("\xc2\xb1"), 1);	/* plus-minus */
	assert_int_equal(cozk_text_columns("e\xcc\x81"), 1);	/* combining acute */
	assert_int_equal(cozk_text_columns("\xe6\x97\xa5"), 2); /* wide */
	assert_int_equal(cozk_text_columns("\xff\xc3"), 2);	/* no UTF-8 */
	assert_int_equal(cozk_text_columns("\033[31m"), 5);
}

static void test_fit(void **state)
{
	(void)state;
	assert_string_equal(cozk_text_fit("hello", 5, COZK_CUT_END, buf, sizeof(buf)), "hello");
	assert_string_equal(cozk_text_fit("hello", 4, COZK_CUT_END, buf, sizeof(buf)), "hel\xe2\x80\xa6");
	assert_string_equal(cozk_text_fit("hello", 4, COZK_CUT_START, buf, sizeof(buf)), "\xe2\x80\xa6llo");
	assert_string_equal(cozk_text_fit("hello", 1, COZK_CUT_END, buf, sizeof(buf)), "\xe2\x80\xa6");
	assert_string_equal(cozk_text_fit("12345", 2, COZK_CUT_NEVER, buf, sizeof(buf)), "12345");
	/* Never half a character: two columns are left for a wide one, then one. */
	assert_string_equal(cozk_text_fit("a\xe6\x97\xa5z", 4, COZK_CUT_END, buf, sizeof(buf)), "a\xe6\x97\xa5z");
	assert_string_equal(cozk_text_fit("a\xe6\x97\xa5z", 3, COZK_CUT_END, buf, sizeof(buf)), "a\xe2\x80\xa6");
	assert_string_equal(cozk_text_fit("\xc3\xa4\xc3\xb6\xc3\xbc", 2, COZK_CUT_START, buf, sizeof(buf)),
			    "\xe2\x80\xa6\xc3\xbc");
	assert_string_equal(cozk_text_fit("a\033[31m\xff\n", 20, COZK_CUT_END, buf, sizeof(buf)), "a?[31m??");
}

static void test_fit_place(void **state)
{
	static const char text[] = "ferret-parallel.c:398 rank_query";

	(void)state;
	assert_string_equal(cozk_text_fit(text, 40, COZK_CUT_PLACE, buf, sizeof(buf)), text);
	assert_string_equal(cozk_text_fit(text, 26, COZK_CUT_PLACE, buf, sizeof(buf)),
			    "ferret-parallel.c:398 ran\xe2\x80\xa6");
	assert_string_equal(cozk_text_fit(text, 22, COZK_CUT_PLACE, buf, sizeof(buf)), "ferret-parallel.c:398");
	assert_string_equal(cozk_text_fit(text, 12, COZK_CUT_PLACE, buf, sizeof(buf)), "\xe2\x80\xa6"
										       "allel.c:398");
	assert_string_equal(cozk_text_fit("operator new(int)", 10, COZK_CUT_PLACE, buf, sizeof(buf)),
			    "operator \xe2\x80\xa6");
	assert_string_equal(cozk_text_fit("a::b::c", 4, COZK_CUT_PLACE, buf, sizeof(buf)), "a::\xe2\x80\xa6");
}

static void test_fit_small_buffer(void **state)
{
	char small[8];

	(void)state;
	assert_string_equal(cozk_text_fit("abcdefghijkl", 20, COZK_CUT_END, small, sizeof(small)), "abcdefg");
	assert_string_equal(cozk_text_fit("abcdefghijkl", 10, COZK_CUT_END, small, sizeof(small)), "abcd\xe2\x80\xa6");
	assert_string_equal(cozk_text_fit("abcdefghijkl", 10, COZK_CUT_START, small, sizeof(small)), "\xe2\x80\xa6"
												     "defg");
}

/* What a table of two rows looks like. */
static char *printed(unsigned int width, bool colour)
{
	struct cozk_table *t = cozk_table_create();
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	cozk_table_column(t, "name", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "number", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "path", COZK_ALIGN_LEFT, COZK_CUT_START);
	cozk_table_cell(t, COZK_STYLE_PLAIN, "a_function_with_a_name");
	cozk_table_cellf(t, COZK_STYLE_GOOD, "%d", 12);
	cozk_table_cell(t, COZK_STYLE_PLAIN, "/a/long/path/to/file.c:10");
	cozk_table_cell(t, COZK_STYLE_PLAIN, "f");
	cozk_table_cell(t, COZK_STYLE_BAD, "1234567");
	cozk_table_cell(t, COZK_STYLE_PLAIN, "x.c:1");
	assert_int_equal(cozk_table_print(t, out, width, colour), 0);
	cozk_table_destroy(t);
	fclose(out);
	return text;
}

static void test_table(void **state)
{
	char *text;

	(void)state;
	text = printed(0, false);
	assert_string_equal(text, "name                     number  path\n"
				  "a_function_with_a_name       12  /a/long/path/to/file.c:10\n"
				  "f                       1234567  x.c:1\n");
	free(text);
	text = printed(41, false);
	assert_string_equal(text, "name              number  path\n"
				  "a_function_wit\xe2\x80\xa6       12  \xe2\x80\xa6h/to/file.c:10\n"
				  "f                1234567  x.c:1\n");
	free(text);
	text = printed(0, true);
	assert_non_null(strstr(text, "\033[1mname\033[0m"));
	assert_non_null(strstr(text, "     \033[32m12\033[0m  /a/long"));
	free(text);
}

static void test_no_memory_is_no_crash(void **state)
{
	(void)state;
	cozk_table_column(NULL, "x", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_cell(NULL, COZK_STYLE_PLAIN, "x");
	assert_true(cozk_table_print(NULL, stdout, 0, false) < 0);
	cozk_table_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),	  cmocka_unit_test(test_fit),
		cmocka_unit_test(test_fit_place), cmocka_unit_test(test_fit_small_buffer),
		cmocka_unit_test(test_table),	  cmocka_unit_test(test_no_memory_is_no_crash),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
