// SPDX-License-Identifier: GPL-2.0-or-later
/* Scope patterns, path matching and range lists. Sources: scope.c linepath.c ranges.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/linepath.h"
#include "../../userspace/ranges.h"
#include "../../userspace/scope.h"

static void test_match(void **state)
{
	(void)state;
	assert_true(cozk_scope_match("%", ""));
	assert_true(cozk_scope_match("%", "/a/b.c"));
	assert_true(cozk_scope_match("%/b.c", "/a/b.c"));
	assert_true(cozk_scope_match("/a/%", "/a/b/c.c"));
	assert_true(cozk_scope_match("%a%a%", "banana"));
	assert_true(cozk_scope_match("%ana", "banana"));
	assert_true(cozk_scope_match("%%c", "abc"));
	assert_true(cozk_scope_match("abc", "abc"));
	assert_false(cozk_scope_match("", "a"));
	assert_false(cozk_scope_match("abc", "abcd"));
	assert_false(cozk_scope_match("abcd", "abc"));
	assert_false(cozk_scope_match("%a%b%a%a", "abab"));
	assert_false(cozk_scope_match("*", "abc"));
}

static void test_binary(void **state)
{
	struct cozk_scope scope;

	(void)state;
	cozk_scope_init(&scope);
	assert_true(cozk_scope_binary(&scope, "/bin/app", true));
	assert_false(cozk_scope_binary(&scope, "/lib/libc.so.6", false));
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_BINARY, ""), -EINVAL);
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_BINARY, "%libc%"), 0);
	assert_true(cozk_scope_binary(&scope, "/lib/libc.so.6", false));
	assert_false(cozk_scope_binary(&scope, "/bin/app", true));
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_BINARY, "MAIN"), 0);
	assert_true(cozk_scope_binary(&scope, "/bin/app", true));
	assert_false(cozk_scope_binary(&scope, "/bin/app", false));
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_BINARY_EXCLUDE, "%.so.6"), 0);
	assert_false(cozk_scope_binary(&scope, "/lib/libc.so.6", false));
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_BINARY_EXCLUDE, "MAIN"), 0);
	assert_false(cozk_scope_binary(&scope, "/bin/app", true));
	cozk_scope_deinit(&scope);
	assert_true(cozk_scope_binary(&scope, "/bin/app", true));
}

static void test_source(void **state)
{
	struct cozk_scope scope = { 0 };

	(void)state;
	assert_true(cozk_scope_source(&scope, "/src/a.c"));
	assert_true(cozk_scope_source(&scope, ""));
	assert_false(cozk_scope_source(&scope, "/usr/include/coz.h"));
	assert_false(cozk_scope_source(&scope, "cozk.h"));
	assert_true(cozk_scope_source(&scope, "/src/mycozk.h"));
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_SOURCE, "/src/%"), 0);
	assert_true(cozk_scope_source(&scope, "/src/a.c"));
	assert_false(cozk_scope_source(&scope, "/src/coz.h"));
	assert_false(cozk_scope_source(&scope, "/usr/include/stdio.h"));
	assert_false(cozk_scope_source(&scope, ""));
	assert_int_equal(cozk_scope_add(&scope, COZK_SCOPE_SOURCE_EXCLUDE, "%/gen/%"), 0);
	assert_false(cozk_scope_source(&scope, "/src/gen/a.c"));
	cozk_scope_deinit(&scope);
}

static void check_tidy(const char *in, const char *want)
{
	char *path = strdup(in);

	cozk_path_tidy(path);
	assert_string_equal(path, want);
	free(path);
}

static void test_paths(void **state)
{
	char *path;

	(void)state;
	check_tidy("", "");
	check_tidy("/", "/");
	check_tidy("a", "a");
	check_tidy("./a", "a");
	check_tidy("/a//b/./c", "/a/b/c");
	check_tidy("/a/../b", "/b");
	check_tidy("/../b", "/b");
	check_tidy("../b", "../b");
	check_tidy("../../b", "../../b");
	check_tidy("a/../../b", "../b");
	check_tidy("a/..", "");
	check_tidy("/a/b/..", "/a");
	check_tidy("..a/..", "");
	check_tidy("/a/b/", "/a/b");

	path = cozk_path_join("/src", "lib/../inc", "x.h");
	assert_string_equal(path, "/src/inc/x.h");
	free(path);
	path = cozk_path_join("/src", "/abs", "x.h");
	assert_string_equal(path, "/abs/x.h");
	free(path);
	path = cozk_path_join("/src", NULL, "/top/x.c");
	assert_string_equal(path, "/top/x.c");
	free(path);
	path = cozk_path_join(NULL, NULL, "./x.c");
	assert_string_equal(path, "x.c");
	free(path);

	assert_true(cozk_path_ends("/src/a.c", "a.c"));
	assert_true(cozk_path_ends("/src/a.c", "src/a.c"));
	assert_true(cozk_path_ends("/src/a.c", "./src/a.c"));
	assert_true(cozk_path_ends("/src/a.c", "/src/a.c"));
	assert_false(cozk_path_ends("/top/src/a.c", "/src/a.c"));
	assert_false(cozk_path_ends("/src/aa.c", "a.c"));
	assert_false(cozk_path_ends("a.c", "/a.c"));
	assert_false(cozk_path_ends("/src/a.c", ""));
}

static void test_ranges(void **state)
{
	struct cozk_ranges ranges = { 0 };

	(void)state;
	cozk_ranges_merge(&ranges);
	assert_false(cozk_ranges_have(&ranges, 0));
	assert_int_equal(cozk_ranges_add(&ranges, 30, 40), 0);
	assert_int_equal(cozk_ranges_add(&ranges, 10, 20), 0);
	assert_int_equal(cozk_ranges_add(&ranges, 20, 25), 0);
	assert_int_equal(cozk_ranges_add(&ranges, 12, 14), 0);
	assert_int_equal(cozk_ranges_add(&ranges, 50, 50), 0);
	assert_int_equal(cozk_ranges_add(&ranges, UINT64_MAX - 1, UINT64_MAX), 0);
	cozk_ranges_merge(&ranges);
	assert_int_equal(ranges.len, 3);
	assert_int_equal(ranges.v[0].start, 10);
	assert_int_equal(ranges.v[0].end, 25);
	assert_true(cozk_ranges_have(&ranges, 10));
	assert_true(cozk_ranges_have(&ranges, 24));
	assert_false(cozk_ranges_have(&ranges, 25));
	assert_false(cozk_ranges_have(&ranges, 9));
	assert_true(cozk_ranges_have(&ranges, 39));
	assert_false(cozk_ranges_have(&ranges, 40));
	assert_true(cozk_ranges_have(&ranges, UINT64_MAX - 1));
	assert_false(cozk_ranges_have(&ranges, UINT64_MAX));
	cozk_ranges_deinit(&ranges);
	assert_int_equal(ranges.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match), cmocka_unit_test(test_binary), cmocka_unit_test(test_source),
		cmocka_unit_test(test_paths), cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
