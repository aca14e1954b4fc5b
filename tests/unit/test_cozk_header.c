// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cozk.h in a program where another profiler, such as Coz, provides _coz_get_counter and nobody
 * _cozk_visit: this test is that profiler, and libcoz-lite is not linked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cozk.h"

coz_counter_t *_coz_get_counter(int type, const char *name);

static coz_counter_t counters[4];
static int asked;

coz_counter_t *_coz_get_counter(int type, const char *name)
{
	asked++;
	errno = ENOENT;
	return strcmp(name, "refused") ? &counters[type] : NULL;
}

static void foreign_counter_counts(void **state)
{
	(void)state;
	memset(counters, 0, sizeof(counters));
	asked = 0;
	for (int i = 0; i < 5; i++)
		COZ_PROGRESS_NAMED("item");
	COZ_BEGIN("request");
	COZ_END("request");
	assert_int_equal(counters[COZ_COUNTER_TYPE_THROUGHPUT].count, 5);
	assert_int_equal(counters[COZ_COUNTER_TYPE_BEGIN].count, 1);
	assert_int_equal(counters[COZ_COUNTER_TYPE_END].count, 1);
	assert_int_equal(asked, 3);
}

static void refused_point_is_off(void **state)
{
	(void)state;
	memset(counters, 0, sizeof(counters));
	asked = 0;
	errno = 77;
	for (int i = 0; i < 5; i++)
		COZ_PROGRESS_NAMED("refused");
	assert_int_equal(counters[COZ_COUNTER_TYPE_THROUGHPUT].count, 0);
	assert_int_equal(asked, 1);
	assert_int_equal(errno, 77);
}

enum { THREADS = 8, TIMES = 50000 };

static void *visitor_thread(void *arg)
{
	for (int i = 0; i < TIMES; i++)
		COZ_PROGRESS_NAMED("threads");
	return arg;
}

static void threads_lose_nothing(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	memset(counters, 0, sizeof(counters));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, visitor_thread, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(counters[COZ_COUNTER_TYPE_THROUGHPUT].count, THREADS * TIMES);
}

/* Compiles only if the macros stand where Coz's may: without a semicolon, in any statement. */
static void macros_are_statements(void **state)
{
	(void)state;
	memset(counters, 0, sizeof(counters));
	if (!*state)
		COZ_PROGRESS_NAMED("statement")
	else
		COZ_PROGRESS
	COZ_PRE_BLOCK;
	COZ_POST_BLOCK(1);
	COZ_CATCH_UP;
	assert_int_equal(counters[COZ_COUNTER_TYPE_THROUGHPUT].count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_counter_counts),
		cmocka_unit_test(refused_point_is_off),
		cmocka_unit_test(threads_lose_nothing),
		cmocka_unit_test(macros_are_statements),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
