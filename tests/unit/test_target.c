// SPDX-License-Identifier: GPL-2.0-or-later
/* module/target.c: range tables, by hand and against a plain scan of random tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "target.h"

enum { SPACES = 4, ADDRESSES = 200, TABLES = 400 };

static unsigned int seed;

static struct cozk_span span(uint32_t space, uint64_t start, uint64_t end)
{
	return (struct cozk_span){ .start = start, .end = end, .space = space };
}

static void valid_tables(void **unused)
{
	struct cozk_span r[3] = { span(1, 10, 20), span(1, 20, 30), span(2, 5, 6) };

	(void)unused;
	assert_true(cozk_ranges_valid(NULL, 0));
	assert_true(cozk_ranges_valid(r, 3));
	r[2] = span(1, 30, ~0ULL);
	assert_true(cozk_ranges_valid(r, 3));
}

static void invalid_tables(void **unused)
{
	struct cozk_span good[2] = { span(1, 10, 20), span(1, 20, 30) };
	const struct cozk_span bad[] = {
		span(1, 10, 10), span(1, 20, 10), span(1, 10, 21), span(1, 30, 40), span(2, 10, 20),
	};
	struct cozk_span r[2];
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(r, good, sizeof(r));
		r[0] = bad[i];
		assert_false(cozk_ranges_valid(r, 2));
	}
	memcpy(r, good, sizeof(r));
	r[1].reserved = 1;
	assert_false(cozk_ranges_valid(r, 2));
	/* The same range twice, and the last of many. */
	r[1] = good[0];
	assert_false(cozk_ranges_valid(r, 2));
}

static void edges(void **unused)
{
	const struct cozk_span r[] = { span(1, 10, 20), span(1, 20, 30), span(3, 0, ~0ULL) };

	(void)unused;
	assert_false(cozk_ranges_contain(NULL, 0, 1, 10));
	assert_false(cozk_ranges_contain(r, 3, 1, 9));
	assert_true(cozk_ranges_contain(r, 3, 1, 10));
	assert_true(cozk_ranges_contain(r, 3, 1, 19));
	assert_true(cozk_ranges_contain(r, 3, 1, 20));
	assert_true(cozk_ranges_contain(r, 3, 1, 29));
	assert_false(cozk_ranges_contain(r, 3, 1, 30));
	assert_false(cozk_ranges_contain(r, 3, 0, 10));
	assert_false(cozk_ranges_contain(r, 3, 2, 10));
	assert_true(cozk_ranges_contain(r, 3, 3, 0));
	assert_true(cozk_ranges_contain(r, 3, 3, ~0ULL - 1));
	assert_false(cozk_ranges_contain(r, 3, 3, ~0ULL));
	assert_false(cozk_ranges_contain(r, 3, 4, 0));
}

static void known_spaces(void **unused)
{
	const struct cozk_span r[] = { span(1, 10, 20), span(3, ~0ULL - 1, ~0ULL) };

	(void)unused;
	assert_false(cozk_ranges_know(NULL, 0, 1));
	assert_false(cozk_ranges_know(r, 2, 0));
	assert_true(cozk_ranges_know(r, 2, 1));
	assert_false(cozk_ranges_know(r, 2, 2));
	assert_true(cozk_ranges_know(r, 2, 3));
	assert_false(cozk_ranges_know(r, 2, 4));
	assert_false(cozk_ranges_know(r, 2, ~0U));
}

/* A random table, sorted as it is made; returns its length. */
static uint32_t make_table(struct cozk_span *r)
{
	uint32_t space, n = 0;

	for (space = 0; space < SPACES; space++) {
		uint64_t at = 0;

		if (rand() % 3 == 0)
			continue;
		while (at < ADDRESSES) {
			uint64_t start = at + rand() % 20;
			uint64_t end = start + 1 + rand() % 10;

			r[n++] = span(space, start, end);
			at = end;
		}
	}
	return n;
}

static bool scan(const struct cozk_span *r, uint32_t n, uint32_t space, uint64_t addr, bool *known)
{
	uint32_t i;
	bool in = false;

	*known = false;
	for (i = 0; i < n; i++) {
		if (r[i].space != space)
			continue;
		*known = true;
		in |= addr >= r[i].start && addr < r[i].end;
	}
	return in;
}

static void against_scan(void **unused)
{
	struct cozk_span r[SPACES * (ADDRESSES + 1)];
	uint32_t space, n;
	uint64_t addr;
	bool known;
	int i;

	(void)unused;
	srand(seed);
	for (i = 0; i < TABLES; i++) {
		n = make_table(r);
		assert_true(cozk_ranges_valid(r, n));
		for (space = 0; space <= SPACES; space++) {
			for (addr = 0; addr < ADDRESSES + 40; addr++) {
				bool in = scan(r, n, space, addr, &known);

				assert_int_equal(cozk_ranges_contain(r, n, space, addr), in);
			}
			assert_int_equal(cozk_ranges_know(r, n, space), known);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_tables), cmocka_unit_test(invalid_tables), cmocka_unit_test(edges),
		cmocka_unit_test(known_spaces), cmocka_unit_test(against_scan),
	};
	const char *given = getenv("COZK_TEST_SEED");

	seed = given ? strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	printf("# COZK_TEST_SEED=%u\n", seed);
	fflush(stdout);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
