// SPDX-License-Identifier: GPL-2.0-or-later
/* From the module's counts to the profile's visits, and samples counted by place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/controller.h"
#include "../../userspace/samples.h"
#include "../../userspace/window_record.h"

static const struct cozk_point points[] = {
	{ .type = COZK_POINT_THROUGHPUT, .index = 0, .name = "item" },
	{ .type = COZK_POINT_END, .index = 1, .name = "request" },
	{ .type = COZK_POINT_BEGIN, .index = 2, .name = "request" },
};

static void test_visits(void **state)
{
	const struct cozk_count counts[] = {
		{ .point = 0, .type = COZK_POINT_THROUGHPUT, .start = 10, .end = 25 },
		{ .point = 1, .type = COZK_POINT_END, .start = 5, .end = 9 },
		{ .point = 2, .type = COZK_POINT_BEGIN, .start = 3, .end = 8 },
	};
	struct cozk_window window = { .counts_len = 3 };
	struct cozk_visits visits[3];
	uint64_t most;

	(void)state;
	assert_int_equal(cozk_window_visits(&window, counts, points, 3, visits, &most), 2);
	assert_string_equal(visits[0].name, "item");
	assert_int_equal(visits[0].delta, 15);
	assert_string_equal(visits[1].name, "request");
	assert_int_equal(visits[1].type, COZK_VISITS_LATENCY);
	assert_int_equal(visits[1].arrivals, 5);
	assert_int_equal(visits[1].departures, 4);
	/* More ends than begins is a small negative number, not a huge positive one. */
	assert_int_equal(visits[1].difference, -1);
	assert_int_equal(most, 15);
}

static void test_no_point(void **state)
{
	struct cozk_window window = { .sample_ns = 123000000 };
	struct cozk_visits visits[1];
	uint64_t most;

	(void)state;
	assert_int_equal(cozk_window_visits(&window, NULL, points, 0, visits, &most), 1);
	assert_string_equal(visits[0].name, COZK_END_TO_END_POINT);
	assert_int_equal(visits[0].delta, 123);
	assert_int_equal(most, 0);
}

static void test_experiment(void **state)
{
	const struct cozk_controller_target target = { .name = "a.c:3", .unit = COZK_UNIT_LINE };
	struct cozk_window window = {
		.start_ns = 100,
		.end_ns = 1100,
		.due_start_ns = 50,
		.due_end_ns = 450,
		.hits = 4,
		.end_reason = COZK_END_SIGNAL,
	};
	struct cozk_experiment experiment;

	(void)state;
	cozk_window_experiment(&experiment, &window, &target, 500000, 7, NULL, 0);
	assert_int_equal(experiment.wall_ns, 1000);
	assert_int_equal(experiment.due_ns, 400);
	assert_int_equal(experiment.duration_ns, 600);
	assert_int_equal(experiment.block, 7);
	assert_int_equal(experiment.hits, 4);
	assert_string_equal(experiment.selected, "a.c:3");
	assert_string_equal(experiment.end_reason, "signal");
}

static void test_samples(void **state)
{
	struct cozk_place place = {
		.binary = "/p",
		.function = "f",
		.file = "/src/a.c",
		.line = 3,
		.chain = "f",
		.in_scope = true,
		.has_line = true,
	};
	struct cozk_samples samples;
	struct cozk_sampled *first, *second;

	(void)state;
	cozk_samples_init(&samples, COZK_UNIT_LINE);
	first = cozk_samples_add(&samples, &place, true, 1000);
	second = cozk_samples_add(&samples, &place, true, 500);
	assert_ptr_equal(first, second);
	assert_string_equal(first->count.location, "/src/a.c:3");
	assert_int_equal(first->count.count, 2);
	assert_int_equal(first->count.weight_ns, 1500);

	/* Without a line it goes by function, even when lines are wanted. */
	place.has_line = false;
	place.in_scope = false;
	second = cozk_samples_add(&samples, &place, true, 1);
	assert_string_equal(second->count.location, "f");
	assert_int_equal(second->unit, COZK_UNIT_FUNCTION);
	cozk_samples_add(&samples, &place, false, 1);
	assert_int_equal(samples.in_scope, 2);
	assert_int_equal(samples.out_of_scope, 1);
	assert_int_equal(samples.unresolved, 1);
	assert_int_equal(samples.total_ns, 1502);
	cozk_samples_deinit(&samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visits),
		cmocka_unit_test(test_no_point),
		cmocka_unit_test(test_experiment),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests_name("window_record", tests, NULL, NULL);
}
