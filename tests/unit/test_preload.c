// SPDX-License-Identifier: GPL-2.0-or-later
/* Which programs need the library, what is wrong with those that cannot run, and event names. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cozk.h"
#include "diag.h"
#include "events.h"
#include "points.h"
#include "preload.h"
#include "program.h"

/* The lookup of coz.h and cozk.h, by its string. */
#define LOOKUP                  \
	"#include <dlfcn.h>\n"  \
	"#include <stddef.h>\n" \
	"void *look(void) { return dlsym(NULL, \"_coz_get_counter\"); }\n"

static char dir[] = "/tmp/cozk-preload-XXXXXX";
static char why[PATH_MAX + 256];

static void write_file(const char *name, const void *text, size_t len, mode_t mode)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void run(const char *command)
{
	if (system(command))
		fail_msg("failed: %s", command);
}

/* Compiles @source to @name with @flags. */
static void build(const char *name, const char *flags, const char *source)
{
	char command[1024];

	write_file("source.c", source, strlen(source), 0600);
	snprintf(command, sizeof(command), "${CC:-gcc} -O1 -w %s -o %s source.c %s", strstr(flags, "-l") ? "" : flags,
		 name, strstr(flags, "-l") ? flags : "");
	run(command);
}

static void expect(const char *name, int want, const char *text)
{
	int got;

	memset(why, 0, sizeof(why));
	got = cozk_preload_needed(name, why, sizeof(why));
	if (got != want || !strstr(why, text))
		fail_msg("%s: got %d (%s), want %d (%s)", name, got, why, want, text);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || chdir(dir))
		return -1;
	unsetenv("LD_LIBRARY_PATH");
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") || system(command);
}

/* ---- programs that can run ---- */

static void test_plain(void **state)
{
	(void)state;
	build("plain", "", "int main(void) { return 0; }\n");
	expect("./plain", COZK_PRELOAD_NO, "no progress points");
	build("starter", "", "#include <unistd.h>\nint main(int c, char **v) { return execv(v[1], v); }\n");
	expect("./starter", COZK_PRELOAD_MAYBE, "can start programs");
	build("opener", "", "#include <dlfcn.h>\nint main(int c, char **v) { return !dlopen(v[1], 1); }\n");
	expect("./opener", COZK_PRELOAD_MAYBE, "load plugins");
}

static void test_points(void **state)
{
	(void)state;
	build("points", "", LOOKUP "int main(void) { return !look(); }\n");
	expect("./points", COZK_PRELOAD_YES, "it has progress points");
	run("strip points");
	expect("./points", COZK_PRELOAD_YES, "it has progress points");
	build("nopie", "-no-pie", LOOKUP "int main(void) { return !look(); }\n");
	expect("./nopie", COZK_PRELOAD_YES, "it has progress points");
	/* As cozk.h does it: an undefined symbol that may stay so. */
	build("weak", "",
	      "static void v(void) __attribute__((weakref(\"_cozk_visit\")));\n"
	      "int main(void) { if (v) v(); return 0; }\n");
	expect("./weak", COZK_PRELOAD_YES, "it has progress points");
}

static void test_only_what_is_loaded_counts(void **state)
{
	(void)state;
	/* Named in a section that is not loaded, as in debug information. */
	build("mention", "",
	      "__asm__(\".section .debug_x\\n.asciz \\\"_coz_get_counter\\\"\\n.text\");\n"
	      "int main(void) { return 0; }\n");
	run("grep -q _coz_get_counter mention");
	expect("./mention", COZK_PRELOAD_NO, "no progress points");
}

static void test_static(void **state)
{
	(void)state;
	build("static", "-static",
	      "#include <unistd.h>\n"
	      "const char *volatile name = \"_coz_get_counter\";\n"
	      "int main(void) { return !name; }\n");
	expect("./static", COZK_PRELOAD_NO, "static program");
	build("staticpie", "-static-pie",
	      "const char *volatile name = \"_coz_get_counter\";\n"
	      "int main(void) { return !name; }\n");
	expect("./staticpie", COZK_PRELOAD_NO, "static program");
}

static void test_linked(void **state)
{
	(void)state;
	build("libcoz-lite.so", "-shared -fPIC", "void *_coz_get_counter(int t, const char *n) { return 0; }\n");
	build("linked", "-L. -lcoz-lite",
	      "void *_coz_get_counter(int, const char *);\n"
	      "int main(void) { return !_coz_get_counter(1, \"x\"); }\n");
	expect("./linked", COZK_PRELOAD_NO, "linked with libcoz-lite");
	build("defines", "-rdynamic",
	      "void *_coz_get_counter(int t, const char *n) { return 0; }\n"
	      "int main(void) { return 0; }\n");
	expect("./defines", COZK_PRELOAD_NO, "linked with libcoz-lite");
}

static void test_library_with_points(void **state)
{
	const char *main_c = "void *look(void); int main(void) { return !look(); }\n";

	(void)state;
	assert_int_equal(mkdir("sub", 0755), 0);
	build("sub/libwork.so", "-shared -fPIC", LOOKUP);
	build("runpath", "-Lsub -lwork -Wl,-rpath,'$ORIGIN/sub'", main_c);
	expect("./runpath", COZK_PRELOAD_YES, "libwork.so has progress points");
	build("nopath", "-Lsub -lwork", main_c);
	expect("./nopath", COZK_PRELOAD_NO, "no progress points");
	setenv("LD_LIBRARY_PATH", "/nowhere:sub", 1);
	expect("./nopath", COZK_PRELOAD_YES, "libwork.so has progress points");
	unsetenv("LD_LIBRARY_PATH");
	/* Through another library. */
	build("sub/libouter.so", "-shared -fPIC -Lsub -Wl,--no-as-needed -lwork", "void *outer(void) { return 0; }\n");
	build("deep", "-Lsub -louter -Wl,-rpath,'$ORIGIN/sub' -Wl,-rpath-link,sub",
	      "void *outer(void); int main(void) { return !outer(); }\n");
	expect("./deep", COZK_PRELOAD_YES, "libwork.so has progress points");
}

static void test_scripts(void **state)
{
	(void)state;
	write_file("script", "#!/bin/sh -e\ntrue\n", 18, 0755);
	expect("./script", COZK_PRELOAD_MAYBE, "script");
	write_file("bare", "true\n", 5, 0755);
	expect("./bare", COZK_PRELOAD_MAYBE, "script");
	write_file("orphan", "#!/no/such/interpreter -x\n", 26, 0755);
	expect("./orphan", -ENOENT, "'/no/such/interpreter'");
}

/* ---- files that cannot run ---- */

/* A copy of ./plain with one byte changed. */
static void patched(const char *name, size_t offset, uint8_t value)
{
	char command[64];
	int fd;

	snprintf(command, sizeof(command), "cp plain %s", name);
	run(command);
	fd = open(name, O_WRONLY);
	assert_int_equal(pwrite(fd, &value, 1, (off_t)offset), 1);
	close(fd);
}

static void test_wrong_kind(void **state)
{
	(void)state;
	build("plain", "", "int main(void) { return 0; }\n");
	patched("narrow", EI_CLASS, ELFCLASS32);
	expect("./narrow", -ENOEXEC, "32-bit program");
	patched("foreign", offsetof(Elf64_Ehdr, e_machine), EM_RISCV);
	expect("./foreign", -ENOEXEC, "another kind of machine");
	patched("core", offsetof(Elf64_Ehdr, e_type), ET_CORE);
	expect("./core", -ENOEXEC, "core dump");
	build("object", "-c", "int x;\n");
	expect("./object", -ENOEXEC, "object file");
	build("library", "-shared -fPIC", "int x;\n");
	expect("./library", -ENOEXEC, "shared library");
	build("lost", "-Wl,--dynamic-linker=/no/such/ld.so", "int main(void) { return 0; }\n");
	expect("./lost", -ENOENT, "dynamic linker /no/such/ld.so");
	write_file("empty", "", 0, 0755);
	expect("./empty", -ENOEXEC, "is empty");
	expect("./missing", -ENOENT, "cannot read ./missing");
}

static void test_garbage(void **state)
{
	static const char bytes[] = "\x01\x02\0\x03 no program";

	(void)state;
	write_file("garbage", bytes, sizeof(bytes), 0755);
	memset(why, 0, sizeof(why));
	/* With binfmt_misc in use, the kernel may know what we do not. */
	if (cozk_preload_needed("./garbage", why, sizeof(why)) != COZK_PRELOAD_MAYBE)
		expect("./garbage", -ENOEXEC, "neither a program nor a script");
}

/* Whatever is broken, the answer is one of those that are promised. */
static void test_broken_elf(void **state)
{
	uint8_t whole[65536], copy[65536];
	FILE *f;
	size_t len;
	unsigned int seed = 1;

	(void)state;
	build("victim", "-s", LOOKUP "int main(void) { return !look(); }\n");
	f = fopen("victim", "r");
	len = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	for (int i = 0; i < 400; i++) {
		size_t cut = len;
		int got;

		memcpy(copy, whole, len);
		if (i % 2)
			cut = (size_t)rand_r(&seed) % len;
		else
			for (int j = 0; j < 8; j++)
				copy[(size_t)rand_r(&seed) % (j < 4 ? 1024 : len)] = (uint8_t)rand_r(&seed);
		write_file("broken", copy, cut, 0755);
		why[0] = '\0';
		got = cozk_preload_needed("./broken", why, sizeof(why));
		assert_true(got <= COZK_PRELOAD_YES);
		assert_true(why[0]);
	}
}

/* ---- finding ---- */

static void find(const char *name, int want, const char *text)
{
	char path[PATH_MAX] = "";
	int got;

	memset(why, 0, sizeof(why));
	got = cozk_program_find(name, path, sizeof(path), why, sizeof(why));
	if (got != want || !strstr(want ? why : path, text))
		fail_msg("%s: got %d (%s, %s), want %d (%s)", name, got, path, why, want, text);
}

static void test_find(void **state)
{
	char *path = strdup(getenv("PATH"));

	(void)state;
	run("mkdir -p a b a/folder; echo >a/tool; echo >b/tool; chmod +x b/tool; echo >here; chmod +x here; echo "
	    ">plainfile");
	setenv("PATH", "a:b:/nowhere", 1);
	find("tool", 0, "b/tool");
	find("./here", 0, "./here");
	find("here", -ENOENT, "./here");
	find("folder", -ENOENT, "no such program: folder");
	find("./a", -EISDIR, "is a directory");
	find("./plainfile", -EACCES, "not executable");
	find("./here/there", -ENOTDIR, "");
	find("", -ENOENT, "no such program");
	setenv("PATH", "a", 1);
	find("tool", -EACCES, "not executable");
	setenv("PATH", ":a", 1);
	find("here", 0, "./here");
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(cozk_program_exit_status(-ENOENT), COZK_EXIT_NOT_FOUND);
	assert_int_equal(cozk_program_exit_status(-EACCES), COZK_EXIT_NOT_EXECUTABLE);
	assert_int_equal(cozk_program_exit_status(-ENOEXEC), COZK_EXIT_NOT_EXECUTABLE);
}

static void test_library(void **state)
{
	char path[PATH_MAX], here[PATH_MAX];

	(void)state;
	write_file("lib.so", "x", 1, 0644);
	setenv("COZK_LIBRARY", "lib.so", 1);
	assert_int_equal(cozk_preload_library(path, sizeof(path)), 0);
	assert_non_null(realpath("lib.so", here));
	assert_string_equal(path, here);
	setenv("COZK_LIBRARY", "./no/lib.so", 1);
	assert_int_equal(cozk_preload_library(path, sizeof(path)), -ENOENT);
	assert_string_equal(path, "./no/lib.so");
	unsetenv("COZK_LIBRARY");
}

/* ---- points in source text ---- */

static void point(const char *text, const char *source, int type, const char *name)
{
	struct cozk_point_text got;
	char file[512];

	snprintf(file, sizeof(file), "first line\n%s\nlast line\n", text);
	write_file("points.c", file, strlen(file), 0600);
	cozk_point_text_read("points.c", 2, &got);
	assert_string_equal(got.source, source);
	assert_int_equal(got.type, type);
	assert_string_equal(got.name, name);
}

static void test_point_text(void **state)
{
	struct cozk_point_text got;

	(void)state;
	point("\tCOZ_PROGRESS;", "COZ_PROGRESS", COZK_POINT_THROUGHPUT, "");
	point("if (x) { COZ_PROGRESS_NAMED(\"a)b\"); }", "COZ_PROGRESS_NAMED(\"a)b\")", COZK_POINT_THROUGHPUT, "a)b");
	point("COZ_BEGIN( \"req\" )", "COZ_BEGIN( \"req\" )", COZK_POINT_BEGIN, "req");
	point("COZ_END(name(1));", "COZ_END(name(1))", COZK_POINT_END, "");
	point("COZ_END(\"a\" \"b\");", "COZ_END(\"a\" \"b\")", COZK_POINT_END, "");
	point("COZ_BEGIN(\"a\\\"b\")", "COZ_BEGIN(\"a\\\"b\")", COZK_POINT_BEGIN, "");
	point("COZ_BEGIN(", "COZ_BEGIN", COZK_POINT_BEGIN, "");
	point("  MY_POINT(7);\r", "MY_POINT(7);", 0, "");
	cozk_point_text_read("points.c", 9, &got);
	assert_string_equal(got.source, "");
	cozk_point_text_read("no/such/file.c", 1, &got);
	assert_string_equal(got.source, "");
}

/* ---- events ---- */

static void test_events(void **state)
{
	struct perf_event_attr attr;
	char err[256];

	(void)state;
	assert_int_equal(cozk_event_parse("cycles", &attr, err, sizeof(err)), 0);
	assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_false(attr.exclude_kernel || attr.exclude_user);
	assert_int_equal(cozk_event_parse("cache-misses:u", &attr, err, sizeof(err)), 0);
	assert_int_equal(attr.config, PERF_COUNT_HW_CACHE_MISSES);
	assert_true(attr.exclude_kernel && !attr.exclude_user);
	assert_int_equal(cozk_event_parse("PERF_COUNT_SW_TASK_CLOCK", &attr, err, sizeof(err)), 0);
	assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr.config, PERF_COUNT_SW_TASK_CLOCK);
}

static void test_event_errors(void **state)
{
	struct perf_event_attr attr;
	char err[256], small[12];

	(void)state;
	assert_int_equal(cozk_event_parse("cylces", &attr, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "cylces; did you mean "));
	assert_non_null(strstr(err, "CYCLES"));
	assert_int_equal(cozk_event_parse("quite-another-thing", &attr, err, sizeof(err)), -ENOENT);
	assert_null(strstr(err, "did you mean"));
	assert_int_equal(cozk_event_parse("cycles:zz", &attr, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "cycles:zz"));
	assert_int_equal(cozk_event_parse("", &attr, err, sizeof(err)), -ENOENT);
	assert_int_equal(cozk_event_parse("cylces", &attr, small, sizeof(small)), -ENOENT);
	assert_string_equal(small, "no such per");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_only_what_is_loaded_counts),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_library_with_points),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_wrong_kind),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_broken_elf),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_point_text),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_event_errors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
