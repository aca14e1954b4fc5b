// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles written and read: what goes in comes out, and what goes wrong is said. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../userspace/profile_read.h"

static char path[] = "/tmp/cozk-test-profile-XXXXXX";
static char err[256];

static int setup(void **state)
{
	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void put_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* The whole file in a static buffer. */
static const char *file_text(void)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void read_text(const char *text, struct cozk_profile *p, struct cozk_read_report *report, int want)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(in);
	*p = (struct cozk_profile){ 0 };
	*report = (struct cozk_read_report){ 0 };
	*err = '\0';
	assert_int_equal(cozk_profile_read_stream(in, "test", p, report, err, sizeof(err)), want);
	fclose(in);
}

/* ---- things to write ---- */

static const char *const argv[] = { "./prog", "a \"b\"\n", NULL };
static const struct cozk_startup startup = {
	.time_ns = 1795999552101088801,
	.version = "0.1.0",
	.abi = 1,
	.argv = argv,
	.seed = 42,
	.kernel = "6.1.0",
	.by = COZK_UNIT_FUNCTION,
	.cpus = 2,
	.sample_period_ns = 1000000,
	.window_period_ns = 250000,
};
static const struct cozk_visits visits[] = {
	{ .name = "item", .type = COZK_VISITS_THROUGHPUT, .delta = 31 },
	{ .name = "request", .type = COZK_VISITS_LATENCY, .arrivals = 31, .departures = 33, .difference = -2 },
};
static const struct cozk_experiment experiment = {
	.selected = "/src/a.c:4",
	.unit = COZK_UNIT_LINE,
	.function = "work",
	.binary = "/bin/prog",
	.chain = "main > work",
	.speedup_ppm = 250000,
	.duration_ns = 500093771,
	.hits = 249,
	.window = 7,
	.block = 3,
	.wall_ns = 510000000,
	.due_ns = 9906229,
	.samples = 1000,
	.sample_ns = 900000000,
	.hit_ns = 200000000,
	.owed_ns = 5,
	.paid_ns = 4,
	.credited_ns = 1,
	.surplus_ns = 2,
	.pauses = 9,
	.settle_ns = 8,
	.forgiven_ns = 6,
	.threads = 3,
	.end_reason = "duration",
	.visits = visits,
	.visits_len = 2,
};
static const struct cozk_runtime runtime = {
	.time_ns = 1549088774,
	.status = "exit 0",
	.samples = 1900,
	.samples_lost = 3,
	.samples_unresolved = 2,
	.threads_seen = 5,
	.windows = 1,
	.points_seen = 3,
};
static const struct cozk_sample_count samples[] = {
	{ .location = "/src/a.c:4",
	  .count = 160,
	  .weight_ns = 160000000,
	  .function = "work",
	  .binary = "/bin/prog",
	  .in_scope = true },
	{ .location = "[unmapped]", .count = 2 },
};

static struct cozk_profile_file *open_for(enum cozk_profile_mode mode)
{
	struct cozk_profile_file *f = NULL;

	*err = '\0';
	if (cozk_profile_open(path, mode, &f, err, sizeof(err)))
		fail_msg("%s", err);
	return f;
}

static void write_run(enum cozk_profile_mode mode)
{
	struct cozk_profile_file *f = open_for(mode);

	assert_int_equal(cozk_profile_startup(f, &startup), 0);
	assert_int_equal(cozk_profile_window(f, &experiment), 0);
	assert_int_equal(cozk_profile_runtime(f, &runtime, samples, 2), 0);
	assert_null(cozk_profile_error(f));
	assert_int_equal(cozk_profile_close(f), 0);
}

/* ---- writing ---- */

static void test_written_form(void **state)
{
	(void)state;
	write_run(COZK_PROFILE_TRUNCATE);
	assert_string_equal(
		file_text(),
		"{\"type\":\"startup\",\"time\":1795999552101088801,\"version\":\"0.1.0\",\"abi\":1,"
		"\"program\":[\"./prog\",\"a "
		"\\\"b\\\"\\u000a\"],\"seed\":42,\"kernel\":\"6.1.0\",\"by\":\"function\",\"cpus\":2,"
		"\"sample_period_ns\":1000000,\"window_period_ns\":250000}\n"
		"{\"type\":\"experiment\",\"selected\":\"/src/a.c:4\",\"speedup\":0.25,\"duration\":500093771,"
		"\"selected_samples\":249,\"speedup_ppm\":250000,\"kind\":\"line\",\"function\":\"work\",\"binary\":\"/"
		"bin/prog\","
		"\"chain\":\"main > "
		"work\",\"window\":7,\"block\":3,\"wall_ns\":510000000,\"due_ns\":9906229,\"samples\":1000,"
		"\"sample_ns\":900000000,\"hit_ns\":200000000,\"owed_ns\":5,\"paid_ns\":4,\"credited_ns\":1,\"surplus_"
		"ns\":2,"
		"\"pauses\":9,\"settle_ns\":8,\"forgiven_ns\":6,\"threads\":3,\"end_reason\":\"duration\"}\n"
		"{\"type\":\"throughput-point\",\"name\":\"item\",\"delta\":31}\n"
		"{\"type\":\"latency-point\",\"name\":\"request\",\"arrivals\":31,\"departures\":33,\"difference\":-2}"
		"\n"
		"{\"type\":\"runtime\",\"time\":1549088774,\"status\":\"exit 0\",\"samples\":1900,\"samples_lost\":3,"
		"\"samples_unresolved\":2,\"threads_seen\":5,\"threads_lost\":0,\"windows\":1,\"points_seen\":3}\n"
		"{\"type\":\"samples\",\"location\":\"/src/"
		"a.c:4\",\"count\":160,\"weight_ns\":160000000,\"function\":\"work\","
		"\"binary\":\"/bin/prog\",\"in_scope\":true}\n"
		"{\"type\":\"samples\",\"location\":\"[unmapped]\",\"count\":2,\"weight_ns\":0,\"in_scope\":false}\n");
}

static void test_speedup_form(void **state)
{
	static const struct {
		uint32_t ppm;
		const char *text;
	} cases[] = {
		{ 0, "\"speedup\":0.00," },	     { 50000, "\"speedup\":0.05," },
		{ 1000000, "\"speedup\":1.00," },    { 4000, "\"speedup\":0.004000," },
		{ 125000, "\"speedup\":0.125000," }, { 999999, "\"speedup\":0.999999," },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cozk_experiment e = experiment;
		struct cozk_profile_file *f = open_for(COZK_PROFILE_TRUNCATE);

		e.speedup_ppm = cases[i].ppm;
		assert_int_equal(cozk_profile_window(f, &e), 0);
		assert_int_equal(cozk_profile_close(f), 0);
		assert_non_null(strstr(file_text(), cases[i].text));
	}
}

static void test_names_that_are_no_utf8(void **state)
{
	struct cozk_visits v = { .name = "a\xff\xc3\xa4\xed\xa0\x80\xf0\x9f\x98\x80\t\x7f", .delta = 1 };
	struct cozk_experiment e = experiment;
	struct cozk_profile_file *f = open_for(COZK_PROFILE_TRUNCATE);
	struct cozk_profile p;
	struct cozk_read_report report;

	(void)state;
	e.visits = &v;
	e.visits_len = 1;
	assert_int_equal(cozk_profile_window(f, &e), 0);
	assert_int_equal(cozk_profile_close(f), 0);
	read_text(file_text(), &p, &report, 0);
	assert_string_equal(p.points[0].name,
			    "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\t\x7f");
	cozk_profile_deinit(&p);
}

static void test_append(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_read_report report = { 0 };

	(void)state;
	write_run(COZK_PROFILE_APPEND);
	write_run(COZK_PROFILE_APPEND);
	assert_int_equal(cozk_profile_read(path, &p, &report, err, sizeof(err)), 0);
	assert_int_equal(p.runs_len, 2);
	assert_int_equal(p.windows_len, 2);
	assert_int_equal(p.windows[1].run, 1);
	assert_int_equal(p.targets_len, 1);
	assert_int_equal(p.points_len, 2);
	cozk_profile_deinit(&p);
}

static void test_append_takes_back_half_a_line(void **state)
{
	(void)state;
	put_file("{\"type\":\"startup\",\"time\":5}\n{\"type\":\"experiment\",\"selec");
	cozk_profile_close(open_for(COZK_PROFILE_APPEND));
	assert_string_equal(file_text(), "{\"type\":\"startup\",\"time\":5}\n");
	put_file("{\"type\":\"startup\",\"time\":5}"); /* just no newline */
	cozk_profile_close(open_for(COZK_PROFILE_APPEND));
	assert_string_equal(file_text(), "{\"type\":\"startup\",\"time\":5}\n");
	put_file("{\"type\":\"star");
	cozk_profile_close(open_for(COZK_PROFILE_APPEND));
	assert_string_equal(file_text(), "");
}

static void test_append_half_a_long_line(void **state)
{
	static char text[20000];

	(void)state;
	strcpy(text, "{\"type\":\"startup\",\"time\":5}\n{\"type\":\"");
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	put_file(text);
	cozk_profile_close(open_for(COZK_PROFILE_APPEND));
	assert_string_equal(file_text(), "{\"type\":\"startup\",\"time\":5}\n");
}

static void test_open_errors(void **state)
{
	struct cozk_profile_file *f = NULL, *first;

	(void)state;
	put_file("#!/bin/sh\nrm everything\n");
	assert_int_equal(cozk_profile_open(path, COZK_PROFILE_APPEND, &f, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "not a profile"));
	assert_string_equal(file_text(), "#!/bin/sh\nrm everything\n");
	assert_int_equal(cozk_profile_open("/nonexistent/x", COZK_PROFILE_APPEND, &f, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonexistent/x: No such file or directory");
	assert_int_equal(cozk_profile_open("/", COZK_PROFILE_APPEND, &f, err, sizeof(err)), -EISDIR);
	assert_null(f);
	put_file("");
	first = open_for(COZK_PROFILE_APPEND);
	assert_int_equal(cozk_profile_open(path, COZK_PROFILE_APPEND, &f, err, sizeof(err)), -EBUSY);
	assert_int_equal(cozk_profile_open(path, COZK_PROFILE_TRUNCATE, &f, err, sizeof(err)), -EBUSY);
	assert_non_null(strstr(err, "another cozk"));
	cozk_profile_close(first);
	cozk_profile_close(open_for(COZK_PROFILE_APPEND));
}

static void test_disk_full(void **state)
{
	struct rlimit old, small;
	struct cozk_profile_file *f = open_for(COZK_PROFILE_TRUNCATE);
	const char *message;
	struct stat before, after;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(cozk_profile_startup(f, &startup), 0);
	assert_int_equal(cozk_profile_window(f, &experiment), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = (rlim_t)before.st_size + 100; /* the next group gets in by a part */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(cozk_profile_window(f, &experiment), -EFBIG);
	assert_int_equal(cozk_profile_window(f, &experiment), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_int_equal(cozk_profile_window(f, &experiment), 0); /* there is room again */
	message = cozk_profile_error(f);
	assert_non_null(message);
	assert_non_null(strstr(message, "File too large; 2 windows of this run are in the file, 2 are not"));
	/* The report loses nothing. */
	assert_int_equal(cozk_profile_model(f)->windows_len, 4);
	assert_int_equal(cozk_profile_close(f), 0);
}

static void test_device_full(void **state)
{
	struct cozk_profile_file *f = NULL;

	(void)state;
	assert_int_equal(cozk_profile_open("/dev/full", COZK_PROFILE_APPEND, &f, err, sizeof(err)), 0);
	assert_int_equal(cozk_profile_startup(f, &startup), -ENOSPC);
	assert_int_equal(cozk_profile_window(f, &experiment), -ENOSPC);
	assert_non_null(strstr(cozk_profile_error(f), "/dev/full: No space left on device; 0 windows"));
	cozk_profile_close(f);
}

/* ---- reading ---- */

static void test_round_trip(void **state)
{
	struct cozk_profile p = { 0 };
	struct cozk_read_report report = { 0 };
	const struct cozk_experiment *e;
	const struct cozk_profile_run *run;

	(void)state;
	write_run(COZK_PROFILE_TRUNCATE);
	assert_int_equal(cozk_profile_read(path, &p, &report, err, sizeof(err)), 0);
	assert_int_equal(report.records, 7);
	assert_int_equal(report.warnings_len, 0);
	run = &p.runs[0];
	assert_true(run->has_startup && run->has_runtime);
	assert_int_equal(run->startup.time_ns, startup.time_ns);
	assert_string_equal(run->startup.argv[1], argv[1]);
	assert_null(run->startup.argv[2]);
	assert_int_equal(run->startup.by, COZK_UNIT_FUNCTION);
	assert_int_equal(run->startup.seed, 42);
	assert_string_equal(run->runtime.status, "exit 0");
	assert_int_equal(run->runtime.samples_lost, 3);
	assert_int_equal(run->samples_len, 2);
	assert_true(run->samples[0].in_scope);
	assert_false(run->samples[1].in_scope);
	assert_int_equal(run->samples[0].weight_ns, 160000000);
	e = &p.windows[0];
	assert_string_equal(e->selected, "/src/a.c:4");
	assert_string_equal(e->chain, "main > work");
	assert_int_equal(e->speedup_ppm, 250000);
	assert_int_equal(e->duration_ns, 500093771);
	assert_int_equal(e->hits, 249);
	assert_int_equal(e->block, 3);
	assert_int_equal(e->owed_ns, 5);
	assert_int_equal(e->forgiven_ns, 6);
	assert_int_equal(e->threads, 3);
	assert_string_equal(e->end_reason, "duration");
	assert_int_equal(e->visits_len, 2);
	assert_int_equal(e->visits[0].delta, 31);
	assert_int_equal(e->visits[1].type, COZK_VISITS_LATENCY);
	assert_int_equal(e->visits[1].difference, -2);
	cozk_profile_deinit(&p);
}

static void test_read_coz(void **state)
{
	struct cozk_profile p;
	struct cozk_read_report report;

	(void)state;
	read_text("{\"type\":\"startup\",\"time\":1795999552101088801}\n"
		  "{\"type\":\"experiment\",\"selected\":\"/src/latp.c:4\",\"speedup\":0.05,\"duration\":500093771,"
		  "\"selected_samples\":249}\n"
		  "{\"type\":\"throughput_point\",\"name\":\"tx-done\",\"delta\":31}\n"
		  "{\"type\":\"latency-point\",\"name\":\"tx\",\"arrivals\":31,\"departures\":30,\"difference\":2}\n"
		  "{\"type\":\"experiment\",\"selected\":\"/src/latp.c:4\",\"speedup\":0.35,"
		  "\"duration\":18446744073700000000,\"selected_samples\":249}\n"
		  "{\"type\":\"throughput-point\",\"name\":\"tx-done\",\"delta\":31}\n"
		  "{\"type\":\"latency-point\",\"name\":\"tx\",\"arrivals\":31,\"departures\":30,"
		  "\"difference\":17364172535296355316}\n"
		  "{\"type\":\"runtime\",\"time\":1549088774}\n"
		  "{\"type\":\"samples\",\"location\":\"/src/toy_scaled.cpp:18\",\"count\":160}\n",
		  &p, &report, 0);
	assert_int_equal(p.windows_len, 2);
	assert_int_equal(p.windows[0].unit, COZK_UNIT_LINE);
	assert_int_equal(p.windows[0].speedup_ppm, 50000);
	assert_int_equal(p.windows[0].visits_len, 2);
	assert_null(p.windows[0].end_reason);
	assert_int_equal(p.windows[1].speedup_ppm, 350000);
	assert_int_equal(p.windows[1].duration_ns, 0);
	assert_int_equal(report.bad_durations, 1);
	assert_int_equal(p.windows[1].visits_len, 1);
	assert_int_equal(report.warnings_len, 2);
	assert_non_null(strstr(report.warnings[0], "line 5: the duration is no possible time"));
	assert_non_null(strstr(report.warnings[1], "line 7: impossible difference of latency point \"tx\""));
	assert_int_equal(p.runs[0].samples_len, 1);
	assert_true(p.runs[0].samples[0].in_scope);
	cozk_profile_deinit(&p);
}

static void test_read_bad_lines(void **state)
{
	struct cozk_profile p;
	struct cozk_read_report report;

	(void)state;
	read_text(
		"{\"type\":\"startup\",\"time\":1}\r\n"
		"\n"
		"what?\n"
		"{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":\"fast\",\"duration\":5}\n"
		"{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":2,\"duration\":5}\n"
		"{\"type\":\"throughput-point\",\"name\":\"lonely\",\"delta\":31}\n"
		"{\"type\":\"weather\",\"sun\":true}\n"
		"[1,2]\n"
		"{\"type\":\"experiment\",\"selected\":\"a\",\"speedup\":0.5,\"duration\":5,\"new_key\":{\"a\":[1]}}\n"
		"{\"type\":\"throughput-point\",\"name\":\"x\",\"delta\":3}\n"
		"{\"type\":\"throughput-point\",\"name\":\"x\",\"de",
		&p, &report, 0);
	assert_int_equal(report.lines, 10);
	assert_int_equal(report.bad_lines, 5);
	assert_int_equal(p.windows_len, 1);
	assert_int_equal(p.windows[0].visits_len, 1);
	assert_int_equal(p.windows[0].unit, COZK_UNIT_FUNCTION);
	assert_int_equal(report.warnings_len, 7);
	assert_non_null(strstr(report.warnings[0], "line 3: no JSON"));
	assert_non_null(strstr(report.warnings[3], "line 6: a progress point without an experiment"));
	assert_non_null(strstr(report.warnings[4], "line 7: unknown record \"weather\""));
	assert_non_null(strstr(report.warnings[6], "line 11: half a record"));
	cozk_profile_deinit(&p);
}

static void test_read_nothing(void **state)
{
	struct cozk_profile p;
	struct cozk_read_report report;

	(void)state;
	read_text("\n", &p, &report, -EINVAL);
	assert_string_equal(err, "test: the file is empty");
	read_text("hello\n", &p, &report, -EINVAL);
	assert_string_equal(err, "test: not a profile: no line of it is a record");
	read_text("startup\ttime=5\nexperiment\tselected=a:1\tspeedup=0.1\n", &p, &report, -EINVAL);
	assert_non_null(strstr(err, "Coz's older text form"));
	assert_int_equal(cozk_profile_read("/nonexistent", &p, &report, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonexistent: No such file or directory");
	assert_int_equal(cozk_profile_read("/", &p, &report, err, sizeof(err)), -EISDIR);
}

static void test_later_dump_replaces(void **state)
{
	struct cozk_profile p;
	struct cozk_read_report report;

	(void)state;
	read_text("{\"type\":\"runtime\",\"time\":1}\n{\"type\":\"samples\",\"location\":\"a:1\",\"count\":1}\n"
		  "{\"type\":\"runtime\",\"time\":2}\n{\"type\":\"samples\",\"location\":\"a:1\",\"count\":5}\n"
		  "{\"type\":\"samples\",\"location\":\"a:2\",\"count\":1}\n",
		  &p, &report, 0);
	assert_int_equal(p.runs_len, 1);
	assert_false(p.runs[0].has_startup);
	assert_int_equal(p.runs[0].runtime.time_ns, 2);
	assert_int_equal(p.runs[0].samples_len, 2);
	assert_int_equal(p.runs[0].samples[0].count, 5);
	cozk_profile_deinit(&p);
}

int main(void)
{
#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		FILE_TEST(test_written_form),
		FILE_TEST(test_speedup_form),
		FILE_TEST(test_names_that_are_no_utf8),
		FILE_TEST(test_append),
		FILE_TEST(test_append_takes_back_half_a_line),
		FILE_TEST(test_append_half_a_long_line),
		FILE_TEST(test_open_errors),
		FILE_TEST(test_disk_full),
		cmocka_unit_test(test_device_full),
		FILE_TEST(test_round_trip),
		cmocka_unit_test(test_read_coz),
		cmocka_unit_test(test_read_bad_lines),
		cmocka_unit_test(test_read_nothing),
		cmocka_unit_test(test_later_dump_replaces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
