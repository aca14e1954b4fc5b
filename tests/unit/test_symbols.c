// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of functions, and this test's own symbol and unwind tables. Sources: symname.c symbols.c
 * ehframe.c binary.c debugfile.c units.c linetab.c linepath.c ranges.c; libraries: dw elf z iberty
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/binary.h"
#include "../../userspace/ehframe.h"
#include "../../userspace/symbols.h"
#include "../../userspace/symname.h"

static void test_display(void **state)
{
	static const char *const cases[][2] = {
		{ "foo", "foo" },
		{ "foo.cold", "foo" },
		{ "foo.part.0", "foo" },
		{ "foo.constprop.0.isra.1.cold", "foo" },
		{ "foo.lto_priv.12", "foo" },
		{ "foo.llvm.123456", "foo" },
		{ "foo.localalias", "foo" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "main.func1", "main.func1" },
		{ "main.func1.2", "main.func1.2" },
		{ ".text", ".text" },
		{ ".cold", ".cold" },
		{ "@odd", "@odd" },
		{ "_start", "_start" },
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_ZN3foo3barEi.part.0.cold", "foo::bar(int)" },
		{ "_Z3maxIiET_S0_S0_", "int max<int>(int, int)" },
		{ "_ZN4core3ptr9drop_impl17h0123456789abcdefE", "core::ptr::drop_impl" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_Znonsense", "_Znonsense" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *display = cozk_symbol_display(cases[i][0]);

		assert_non_null(display);
		assert_string_equal(display, cases[i][1]);
		free(display);
	}
}

static bool is_called(const char *raw, const char *name)
{
	char *display = cozk_symbol_display(raw), key[64];
	bool same = cozk_symbol_matches(raw, display, name);

	cozk_symbol_key(name, key, sizeof(key));
	/* The quick test may let too much through, never too little. */
	if (same)
		assert_non_null(strstr(raw, key));
	free(display);
	return same;
}

static void test_matches(void **state)
{
	(void)state;
	assert_true(is_called("foo", "foo"));
	assert_true(is_called("foo.cold", "foo"));
	assert_true(is_called("foo.cold", "foo.cold"));
	assert_false(is_called("foobar", "foo"));
	assert_false(is_called("foo", "foobar"));
	assert_true(is_called("_ZN3foo3barEi", "foo::bar"));
	assert_true(is_called("_ZN3foo3barEi", "foo::bar(int)"));
	assert_true(is_called("_ZN3foo3barEi", "_ZN3foo3barEi"));
	assert_false(is_called("_ZN3foo3barEi", "foo::bar(long)"));
	assert_false(is_called("_ZN3foo3barEi", "foo"));
	assert_true(is_called("_Z3maxIiET_S0_S0_", "max<int>"));
	assert_true(
		is_called("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"));
	assert_true(is_called("_ZNK3fooplERKS_", "foo::operator+"));
	assert_true(is_called("_ZN3fooD1Ev", "foo::~foo"));
	assert_true(is_called("_ZNSaIcEC1Ev", "std::allocator<char>::allocator"));
	assert_true(is_called("_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar()"));
}

__attribute__((noinline)) int known_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

/* Where this test's image was loaded. */
static uint64_t load_bias(struct cozk_binary *binary)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	GElf_Ehdr ehdr;

	gelf_getehdr(binary->elf, &ehdr);
	return ehdr.e_type == ET_DYN ? (uintptr_t)__ehdr_start : 0;
}

static int count_known(const struct cozk_symbol *sym, const char *display, void *arg)
{
	int *count = arg;

	assert_true(sym->start < sym->end);
	*count += !strcmp(display, "known_function");
	return 0;
}

static int stop_at_once(const struct cozk_symbol *sym, const char *display, void *arg)
{
	(void)sym;
	(void)display;
	++*(int *)arg;
	return 7;
}

static void test_own_symbols(void **state)
{
	struct cozk_binary *binary;
	struct cozk_symbol sym;
	struct cozk_ranges ranges = { 0 };
	uint64_t vaddr, start, end;
	int count = 0;

	(void)state;
	assert_int_equal(cozk_binary_open_path("/proc/self/exe", &binary), 0);
	vaddr = (uintptr_t)known_function - load_bias(binary);
	assert_true(cozk_binary_is_code(binary, vaddr));
	assert_int_equal(cozk_symbols_find(binary, vaddr + 1, &sym), 0);
	assert_string_equal(sym.name, "known_function");
	assert_int_equal(sym.start, vaddr);

	assert_int_equal(cozk_ehframe_find(binary, vaddr + 1, &start, &end), 0);
	assert_int_equal(start, vaddr);
	assert_int_equal(end, sym.end);
	assert_int_equal(cozk_ehframe_find(binary, 0, &start, &end), -ENOENT);

	assert_int_equal(cozk_symbols_ranges(binary, "known_function", &ranges), 0);
	cozk_ranges_merge(&ranges);
	assert_int_equal(ranges.len, 1);
	assert_true(cozk_ranges_have(&ranges, vaddr));
	assert_false(cozk_ranges_have(&ranges, sym.end));
	cozk_ranges_deinit(&ranges);
	assert_int_equal(cozk_symbols_ranges(binary, "no_such_function", &ranges), 0);
	assert_int_equal(ranges.len, 0);

	assert_int_equal(cozk_symbols_each(binary, count_known, &count), 0);
	assert_int_equal(count, 1);
	count = 0;
	assert_int_equal(cozk_symbols_each(binary, stop_at_once, &count), 7);
	assert_int_equal(count, 1);
	assert_int_equal(cozk_symbols_find(binary, UINT64_MAX, &sym), -ENOENT);
	cozk_binary_close(binary);
}

static void test_no_binary(void **state)
{
	struct cozk_binary *binary = NULL;

	(void)state;
	assert_int_equal(cozk_binary_open_path("/no/such/file", &binary), -ENOENT);
	assert_int_equal(cozk_binary_open_path("/proc/self/maps", &binary), -ENOEXEC);
	assert_int_equal(cozk_binary_open_path("/proc/self", &binary), -ENOEXEC);
	assert_null(binary);
	cozk_binary_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_display),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_own_symbols),
		cmocka_unit_test(test_no_binary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
