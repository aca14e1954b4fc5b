// SPDX-License-Identifier: GPL-2.0-or-later
/* The plan: what is tried next, at which speedup, for how long. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../userspace/plan.h"

enum { MS = 1000000 };

static struct cozk_plan plan;

static int set_up(void **state)
{
	(void)state;
	cozk_plan_init(&plan, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cozk_plan_deinit(&plan);
	return 0;
}

static int speedups(const char *text)
{
	char err[256];

	return cozk_plan_speedups(&plan, text, err, sizeof(err));
}

static void test_speedups_list(void **state)
{
	(void)state;
	assert_int_equal(speedups("50,0,12.5,50"), 0);
	assert_int_equal(plan.speedups_len, 3);
	assert_int_equal(plan.speedups[0], 500000);
	assert_int_equal(plan.speedups[1], 0);
	assert_int_equal(plan.speedups[2], 125000);
}

static void test_speedups_range(void **state)
{
	(void)state;
	assert_int_equal(speedups("10-30:10,100"), 0);
	assert_int_equal(plan.speedups_len, 5);
	assert_int_equal(plan.speedups[2], 300000);
	assert_int_equal(plan.speedups[3], 1000000);
	assert_int_equal(plan.speedups[4], 0);
	/* A step that binary fractions cannot hold must not lose the end. */
	assert_int_equal(speedups("0-1:0.1"), 0);
	assert_int_equal(plan.speedups_len, 11);
}

static void test_speedups_bad(void **state)
{
	static const char *const bad[] = { "",	    "x",     "101",	  "-1",	 "50,",		  "1-2:0",
					   "2-1:1", "0-100", "0-100:25x", "nan", "0-100:0.5,3.3", "1e9" };
	char err[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err[0] = '\0';
		assert_int_equal(cozk_plan_speedups(&plan, bad[i], err, sizeof(err)), -EINVAL);
		assert_true(err[0]);
	}
}

static void test_nothing_to_try(void **state)
{
	struct cozk_plan_window window;

	(void)state;
	assert_int_equal(speedups("0,50"), 0);
	assert_false(cozk_plan_next(&plan, &window));
	assert_int_equal(cozk_plan_add(&plan, false), 0);
	/* A target without a sample has no claim. */
	assert_false(cozk_plan_next(&plan, &window));
	plan.targets[0].weight_ns = 1;
	assert_true(cozk_plan_next(&plan, &window));
}

/* Every block has one target and every speedup exactly once. */
static void test_blocks(void **state)
{
	struct cozk_plan_window window;
	unsigned int seen, block, i;
	size_t target;

	(void)state;
	assert_int_equal(speedups("0-100:25"), 0);
	cozk_plan_add(&plan, false);
	cozk_plan_add(&plan, false);
	plan.targets[0].weight_ns = 3;
	plan.targets[1].weight_ns = 1;
	for (block = 0; block < 50; block++) {
		seen = 0;
		for (i = 0; i < 5; i++) {
			assert_true(cozk_plan_next(&plan, &window));
			assert_int_equal(window.block, block);
			if (i == 0)
				target = window.target;
			assert_int_equal(window.target, target);
			seen |= 1U << (window.speedup_ppm / 250000);
		}
		assert_int_equal(seen, 0x1f);
	}
	/* Blocks go by share, with a floor for the small one. */
	assert_in_range(plan.targets[0].blocks, 30, 40);
	assert_int_equal(plan.targets[0].blocks + plan.targets[1].blocks, 50);
}

static void test_fixed_targets_alone(void **state)
{
	struct cozk_plan_window window;
	int i;

	(void)state;
	assert_int_equal(speedups("0,50"), 0);
	cozk_plan_add(&plan, true);
	cozk_plan_add(&plan, false);
	plan.targets[1].weight_ns = 1000;
	for (i = 0; i < 10; i++) {
		assert_true(cozk_plan_next(&plan, &window));
		assert_int_equal(window.target, 0);
	}
	cozk_plan_drop(&plan, 0);
	assert_false(cozk_plan_next(&plan, &window));
}

static void test_drop_ends_block(void **state)
{
	struct cozk_plan_window window;
	size_t first;

	(void)state;
	assert_int_equal(speedups("0,25,50"), 0);
	cozk_plan_add(&plan, false);
	cozk_plan_add(&plan, false);
	plan.targets[0].weight_ns = plan.targets[1].weight_ns = 1;
	assert_true(cozk_plan_next(&plan, &window));
	first = window.target;
	cozk_plan_drop(&plan, first);
	assert_true(cozk_plan_next(&plan, &window));
	assert_int_not_equal(window.target, first);
}

/* Runs a block with so many visits a window; returns the length of the next block's windows. */
static uint64_t block_with(uint64_t visits)
{
	struct cozk_plan_window window;
	size_t i;

	for (i = 0; i < plan.speedups_len; i++) {
		assert_true(cozk_plan_next(&plan, &window));
		cozk_plan_feedback(&plan, visits);
	}
	assert_true(cozk_plan_next(&plan, &window));
	for (i = 1; i < plan.speedups_len; i++)
		cozk_plan_next(&plan, &window);
	return window.duration_ns;
}

static void test_window_length(void **state)
{
	uint64_t length;
	int i;

	(void)state;
	assert_int_equal(speedups("0,50"), 0);
	cozk_plan_add(&plan, true);
	length = plan.window_ns;
	assert_int_equal(block_with(50), length);
	assert_int_equal(block_with(2), 2 * length);
	assert_int_equal(block_with(1000), length);
	for (i = 0; i < 10; i++)
		block_with(0);
	assert_int_equal(block_with(0), plan.max_window_ns);
	for (i = 0; i < 10; i++)
		block_with(100000);
	assert_int_equal(block_with(100000), plan.min_window_ns);
}

static void test_seed(void **state)
{
	struct cozk_plan other;
	struct cozk_plan_window a, b;
	char err[64];
	int i, same = 0;

	(void)state;
	assert_int_equal(speedups("0-100:10"), 0);
	cozk_plan_add(&plan, true);
	cozk_plan_init(&other, 2);
	assert_int_equal(cozk_plan_speedups(&other, "0-100:10", err, sizeof(err)), 0);
	cozk_plan_add(&other, true);
	for (i = 0; i < 110; i++) {
		cozk_plan_next(&plan, &a);
		cozk_plan_next(&other, &b);
		same += a.speedup_ppm == b.speedup_ppm;
	}
	assert_in_range(same, 0, 40);
	cozk_plan_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_speedups_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_speedups_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_speedups_bad, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_to_try, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fixed_targets_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_drop_ends_block, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_window_length, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_seed, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
