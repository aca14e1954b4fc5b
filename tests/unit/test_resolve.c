// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The resolver on this very process and on children that are gone. Must be built with -g.
 * Sources: ranges.c scope.c maps.c debugfile.c binary.c ehframe.c symname.c symbols.c linetab.c
 * linepath.c units.c lines.c inlines.c linesearch.c funcsearch.c htab.c resolve.c resolve_place.c
 * resolve_ranges.c; libraries: dw elf z iberty
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../userspace/linesearch.h"
#include "../../userspace/resolve.h"

static const struct cozk_scope everything;

__attribute__((noinline)) int known_function(int x);

/* All on the line that is named before it. */
/* clang-format off */
enum { KNOWN_LINE = __LINE__ + 1 };
int known_function(int x) { __asm__ volatile("" : "+r"(x)); return x; }
/* clang-format on */

static uint64_t addr_of(const void *p)
{
	return (uintptr_t)p;
}

static void test_place(void **state)
{
	struct cozk_resolver *r = cozk_resolver_create(&everything);
	struct cozk_place place, again;
	struct cozk_resolver_stats stats;

	(void)state;
	assert_non_null(r);
	assert_int_equal(cozk_resolve(r, getpid(), addr_of(known_function), &place), 0);
	assert_string_equal(place.function, "known_function");
	assert_string_equal(place.chain, "known_function");
	assert_true(place.has_line);
	assert_int_equal(place.line, KNOWN_LINE);
	assert_non_null(strstr(place.file, "/test_resolve.c"));
	assert_int_equal(place.file[0], '/');
	assert_true(place.in_scope);

	/* The same strings, not equal ones: a caller may compare pointers. */
	assert_int_equal(cozk_resolve(r, getpid(), addr_of(known_function), &again), 0);
	assert_memory_equal(&again, &place, sizeof(place));
	cozk_resolver_stats(r, &stats);
	assert_int_equal(stats.places, 1);
	assert_int_equal(stats.maps_reads, 1);

	/* A library is not in the default scope. */
	assert_int_equal(cozk_resolve(r, getpid(), addr_of(strtoul), &place), 0);
	assert_false(place.in_scope);
	assert_non_null(strstr(place.binary, "libc"));
	cozk_resolver_destroy(r);
	cozk_resolver_destroy(NULL);
}

static void test_nowhere(void **state)
{
	struct cozk_resolver *r = cozk_resolver_create(&everything);
	struct cozk_resolver_stats stats;
	struct cozk_place place;
	void *code;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(cozk_resolve(r, getpid(), 8, &place), -ENOENT);
	assert_string_equal(place.function, "[unmapped]");
	assert_string_equal(place.file, "");
	assert_false(place.in_scope);
	/* An address that stays unknown must not have the maps read for each sample of it. */
	cozk_resolver_stats(r, &stats);
	assert_true(stats.maps_reads >= 1 && stats.maps_reads <= 10);

	/* Mapped later: found once the interval is over. */
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code != MAP_FAILED) {
		usleep(120 * 1000);
		assert_int_equal(cozk_resolve(r, getpid(), addr_of(code) + 20, &place), 0);
		assert_string_equal(place.binary, "[anon]");
		assert_int_equal(strncmp(place.function, "[anon]+0x", 9), 0);
		assert_false(place.has_line);
		munmap(code, 4096);
	}
	cozk_resolver_destroy(r);
}

static void test_gone_child(void **state)
{
	struct cozk_resolver *r = cozk_resolver_create(&everything);
	struct cozk_ranges ranges = { 0 };
	struct cozk_place place;
	char err[200];
	pid_t pid;

	(void)state;
	assert_int_equal(cozk_resolver_load(r, getpid()), 0);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* Without the word that it was forked, nothing is known of it. */
	assert_int_equal(cozk_resolver_load(r, pid), -ESRCH);
	assert_int_equal(cozk_resolver_scope_ranges(r, pid, &ranges), -ESRCH);
	assert_int_equal(cozk_resolver_ranges(r, pid, COZK_TARGET_FUNCTION, "known_function", &ranges, err,
					      sizeof(err)),
			 -ESRCH);
	assert_non_null(strstr(err, "has ended"));

	assert_int_equal(cozk_resolver_fork(r, getpid(), pid), 0);
	assert_int_equal(cozk_resolve(r, pid, addr_of(known_function), &place), 0);
	assert_string_equal(place.function, "known_function");
	assert_true(place.in_scope);
	assert_int_equal(cozk_resolver_scope_ranges(r, pid, &ranges), 0);
	assert_true(cozk_ranges_have(&ranges, addr_of(known_function)));
	cozk_resolver_stale(r, pid);
	assert_int_equal(cozk_resolve(r, pid, addr_of(known_function), &place), 0);
	cozk_ranges_deinit(&ranges);
	cozk_resolver_destroy(r);
}

static void test_targets(void **state)
{
	static const char *const bad[] = {
		"", "a.c", "a.c:", ":3", "a.c:x", "a.c:0", "a.c:3x", "a.c:-3", "a.c:99999999999999999999"
	};
	struct cozk_resolver *r = cozk_resolver_create(&everything);
	struct cozk_ranges ranges = { 0 };
	char err[300], line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_LINE, bad[i], &ranges, err, sizeof(err)),
				 -EINVAL);
		assert_non_null(strstr(err, "FILE:LINE"));
	}
	snprintf(line, sizeof(line), "test_resolve.c:%d", KNOWN_LINE);
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_LINE, line, &ranges, err, sizeof(err)), 0);
	assert_string_equal(err, "");
	assert_true(cozk_ranges_have(&ranges, addr_of(known_function)));
	assert_false(cozk_ranges_have(&ranges, addr_of(test_targets)));
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_FUNCTION, "known_function", &ranges, err,
					      sizeof(err)),
			 0);
	assert_true(cozk_ranges_have(&ranges, addr_of(known_function)));
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_LINE, "test_resolve.c:1", &ranges, err,
					      sizeof(err)),
			 -ENOENT);
	assert_non_null(strstr(err, "no code at test_resolve.c:1; nearest line with code: "));
	assert_int_equal(ranges.len, 0);
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_FUNCTION, "no_such", &ranges, err, sizeof(err)),
			 -ENOENT);
	assert_non_null(strstr(err, "no function no_such in "));
	/* No room for the text is no reason to write there. */
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_FUNCTION, "no_such", &ranges, NULL, 0), -ENOENT);
	cozk_ranges_deinit(&ranges);
	cozk_resolver_destroy(r);
}

static void test_scopes(void **state)
{
	struct cozk_scope none = { 0 }, elsewhere = { 0 };
	struct cozk_resolver *r;
	struct cozk_ranges ranges = { 0 };
	struct cozk_place place;
	char err[300], line[64];

	(void)state;
	assert_int_equal(cozk_scope_add(&none, COZK_SCOPE_BINARY, "/no/such/binary"), 0);
	r = cozk_resolver_create(&none);
	assert_int_equal(cozk_resolver_scope_ranges(r, getpid(), &ranges), 0);
	assert_int_equal(ranges.len, 0);
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_FUNCTION, "known_function", &ranges, err,
					      sizeof(err)),
			 -ENOENT);
	assert_non_null(strstr(err, "no ELF file in the binary scope"));
	cozk_resolver_destroy(r);

	assert_int_equal(cozk_scope_add(&elsewhere, COZK_SCOPE_SOURCE_EXCLUDE, "%/test_resolve.c"), 0);
	r = cozk_resolver_create(&elsewhere);
	assert_int_equal(cozk_resolve(r, getpid(), addr_of(known_function), &place), 0);
	assert_true(place.has_line);
	assert_false(place.in_scope);
	snprintf(line, sizeof(line), "test_resolve.c:%d", KNOWN_LINE);
	assert_int_equal(cozk_resolver_ranges(r, getpid(), COZK_TARGET_LINE, line, &ranges, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "source scope"));
	cozk_resolver_destroy(r);
	cozk_scope_deinit(&none);
	cozk_scope_deinit(&elsewhere);
	cozk_ranges_deinit(&ranges);
}

struct listed {
	bool known;
	char last_file[512];
	unsigned int last_line;
};

static int list_line(const char *file, unsigned int line, void *arg)
{
	struct listed *listed = arg;
	int order = strcmp(listed->last_file, file);

	assert_true(order < 0 || (order == 0 && listed->last_line < line));
	snprintf(listed->last_file, sizeof(listed->last_file), "%s", file);
	listed->last_line = line;
	listed->known |= strstr(file, "/test_resolve.c") && line == KNOWN_LINE;
	return 0;
}

static void test_list(void **state)
{
	struct cozk_binary *binary;
	struct listed listed = { .known = false };

	(void)state;
	assert_int_equal(cozk_binary_open_path("/proc/self/exe", &binary), 0);
	assert_int_equal(cozk_lines_each(binary, NULL, list_line, &listed), 0);
	assert_true(listed.known);
	cozk_binary_close(binary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),	cmocka_unit_test(test_nowhere), cmocka_unit_test(test_gone_child),
		cmocka_unit_test(test_targets), cmocka_unit_test(test_scopes),	cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
