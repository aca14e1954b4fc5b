// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libcoz-lite and cozk.h against a fake session.  The library decides once a process whether
 * there is a session, so every test runs in a process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cozk.h"
#include "fake_client.h"
#include "uapi/cozk.h"

coz_counter_t *_coz_get_counter(int type, const char *name);
void _coz_add_delays(void);
void _coz_pre_block(void);
void _coz_post_block(int skip_delays);

#define THROUGHPUT COZ_COUNTER_TYPE_THROUGHPUT

/* Inside the process of a test: says what is wrong and gives up. */
#define CHECK(condition)                                                          \
	do {                                                                      \
		if (!(condition)) {                                               \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                                 \
		}                                                                 \
	} while (0)

static void visit(int times)
{
	for (int i = 0; i < times; i++)
		COZ_PROGRESS_NAMED("item");
}

static int64_t items(void)
{
	return fake_client_total(THROUGHPUT, "item");
}

static void reap(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *visitor_thread(void *times)
{
	visit((int)(intptr_t)times);
	return NULL;
}

static void visit_in_threads(int threads, int times)
{
	pthread_t thread[256];

	for (int i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, visitor_thread, (void *)(intptr_t)times));
	for (int i = 0; i < threads; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

/* --- off --- */

static void off_without_variable(void)
{
	unsetenv("COZK_CLIENT_FD");
	visit(10);
	CHECK(!_coz_get_counter(THROUGHPUT, "item"));
}

static void off_with_bad_number(void)
{
	static const char *const bad[] = { "", "-1", "3x", " 3", "99999999999999999999", "0x3" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			fake_client_start();
			setenv("COZK_CLIENT_FD", bad[i], 1);
			visit(3);
			CHECK(fake_client_points() == 0);
			CHECK(!_coz_get_counter(THROUGHPUT, "item"));
			_exit(0);
		}
		reap(pid);
	}
}

static void off_with_another_file(void)
{
	char text[16];
	int fd = open("/dev/null", O_RDWR);

	fake_client_start();
	snprintf(text, sizeof(text), "%d", fd);
	setenv("COZK_CLIENT_FD", text, 1);
	visit(3);
	CHECK(fake_client_points() == 0);
}

static void off_with_another_abi(void)
{
	fake_client_start();
	fake_client_set_abi(COZK_ABI_VERSION + 1);
	visit(3);
	CHECK(fake_client_points() == 0);
}

static void off_stays_off(void)
{
	unsetenv("COZK_CLIENT_FD");
	visit(1);
	fake_client_start();
	visit(1);
	CHECK(fake_client_points() == 0);
}

static void ended_session_keeps_counting(void)
{
	fake_client_start();
	visit(5);
	fake_client_end();
	visit(5);
	visit_in_threads(2, 5);
	CHECK(items() == 20);
	COZ_PROGRESS_NAMED("new");
	CHECK(fake_client_points() == 1);
}

/* --- Coz's ABI --- */

static void coz_counters(void)
{
	coz_counter_t *counter[3];

	fake_client_start();
	for (int type = 1; type <= 3; type++) {
		counter[type - 1] = _coz_get_counter(type, "abi");
		CHECK(counter[type - 1]);
		CHECK(_coz_get_counter(type, "abi") == counter[type - 1]);
		__atomic_add_fetch(&counter[type - 1]->count, (size_t)type, __ATOMIC_RELAXED);
	}
	CHECK(sizeof(coz_counter_t) == 2 * sizeof(size_t));
	CHECK(fake_client_points() == 3);
	for (int type = 1; type <= 3; type++)
		CHECK(fake_client_total(type, "abi") == type);
	_coz_add_delays();
	_coz_pre_block();
	_coz_post_block(1);
}

static void coz_refusals(void)
{
	fake_client_start();
	errno = 77;
	CHECK(!_coz_get_counter(0, "abi"));
	CHECK(!_coz_get_counter(4, "abi"));
	CHECK(!_coz_get_counter(1, NULL));
	CHECK(!_coz_get_counter(1, ""));
	fake_client_limit_points(0);
	CHECK(!_coz_get_counter(1, "abi"));
	CHECK(errno == 77);
}

static void coz_and_cozk_share_a_point(void)
{
	coz_counter_t *counter;

	fake_client_start();
	visit(4);
	counter = _coz_get_counter(THROUGHPUT, "item");
	CHECK(counter);
	__atomic_add_fetch(&counter->count, 3, __ATOMIC_RELAXED);
	CHECK(fake_client_points() == 1);
	CHECK(items() == 7);
	CHECK(fake_client_shared(THROUGHPUT, "item") == 3);
}

/* --- cozk.h --- */

static void macros_name_and_type(void)
{
	char here[300];

	fake_client_start();
	for (int i = 0; i < 3; i++)
		COZ_PROGRESS snprintf(here, sizeof(here), "%s:%d", __FILE__, __LINE__);
	CHECK(fake_client_total(THROUGHPUT, here) == 3);
	COZ_BEGIN("request");
	COZ_END("request");
	COZ_END("request");
	CHECK(fake_client_total(COZ_COUNTER_TYPE_BEGIN, "request") == 1);
	CHECK(fake_client_total(COZ_COUNTER_TYPE_END, "request") == 2);
	COZ_PRE_BLOCK;
	COZ_POST_BLOCK(1);
	COZ_CATCH_UP;
	CHECK(fake_client_points() == 3);
}

static void sites_share_a_name(void)
{
	fake_client_start();
	visit(2);
	COZ_PROGRESS_NAMED("item");
	CHECK(fake_client_points() == 1);
	CHECK(items() == 3);
}

static void long_names_keep_their_tail(void)
{
	char name[COZK_POINT_NAME_MAX + 100];

	fake_client_start();
	memset(name, 'a', sizeof(name));
	strcpy(name + sizeof(name) - 8, ".c:1234");
	COZ_PROGRESS_NAMED(name);
	CHECK(fake_client_total(THROUGHPUT, name + sizeof(name) - COZK_POINT_NAME_MAX) == 1);
	memset(name, 'b', sizeof(name));
	name[COZK_POINT_NAME_MAX - 1] = '\0';
	COZ_BEGIN(name);
	CHECK(fake_client_total(COZ_COUNTER_TYPE_BEGIN, name) == 1);
}

static void no_room_for_a_point(void)
{
	fake_client_start();
	fake_client_limit_points(1);
	visit(2);
	for (int i = 0; i < 3; i++)
		COZ_PROGRESS_NAMED("too many");
	CHECK(fake_client_points() == 1);
	CHECK(items() == 2);
}

static void errno_survives(void)
{
	fake_client_start();
	fake_client_limit_lanes(0);
	errno = 77;
	visit(3);
	CHECK(errno == 77);
	fake_client_end();
	COZ_PROGRESS_NAMED("new");
	CHECK(errno == 77);
}

static void on_signal(int signal)
{
	(void)signal;
	visit(1);
}

static void handlers_may_visit(void)
{
	enum { SIGNALS = 2000 };
	struct sigaction action = { .sa_handler = on_signal };
	int64_t visits = 0;
	pid_t pid;
	int status;

	fake_client_start();
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		for (int i = 0; i < SIGNALS; i++) {
			kill(getppid(), SIGUSR1);
			usleep(20);
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		visit(1000);
		visits += 1000;
	}
	/* Signals merge when they come too fast, so the handler's visits are at most SIGNALS. */
	CHECK(items() > visits && items() <= visits + SIGNALS);
}

/* --- lanes --- */

static void every_thread_has_a_lane(void)
{
	enum { THREADS = 100, TIMES = 10000 };

	fake_client_start();
	visit_in_threads(THREADS, TIMES);
	CHECK(items() == THREADS * TIMES);
	CHECK(fake_client_shared(THROUGHPUT, "item") == 0);
	CHECK(fake_client_lane_calls() == THREADS);
}

static void threads_without_a_lane(void)
{
	enum { THREADS = 8, TIMES = 20000, LANES = 3 };

	fake_client_start();
	fake_client_limit_lanes(LANES);
	visit_in_threads(THREADS, TIMES);
	CHECK(items() == THREADS * TIMES);
	CHECK(fake_client_lanes() == LANES);
	CHECK(fake_client_shared(THROUGHPUT, "item") == (THREADS - LANES) * TIMES);
	/* A thread is refused once, not at every visit. */
	CHECK(fake_client_lane_calls() == THREADS);
}

static void threads_outside_the_session(void)
{
	fake_client_start();
	fake_client_limit_lanes(FAKE_CLIENT_STRANGER);
	visit_in_threads(4, 1000);
	CHECK(items() == 4000);
	CHECK(fake_client_shared(THROUGHPUT, "item") == 4000);
	CHECK(fake_client_lane_calls() == 4);
}

/* --- fork --- */

static pid_t plain_fork(void)
{
	return fork();
}

/* No handler of the C library runs here. */
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void count_across_fork(pid_t (*do_fork)(void))
{
	enum { TIMES = 3000000 };
	pid_t child, grandchild;

	fake_client_start();
	visit(1);
	child = do_fork();
	CHECK(child >= 0);
	if (!child) {
		grandchild = do_fork();
		CHECK(grandchild >= 0);
		/* Parent, child and grandchild at once: a lane in common would lose counts. */
		visit(TIMES);
		if (!grandchild)
			_exit(0);
		reap(grandchild);
		_exit(0);
	}
	visit(TIMES);
	reap(child);
	CHECK(items() == 3 * (int64_t)TIMES + 1);
	CHECK(fake_client_lanes() == 3);
}

static void forked_children_count(void)
{
	count_across_fork(plain_fork);
}

static void raw_forked_children_count(void)
{
	count_across_fork(raw_fork);
}

/* The first visit in the child comes from a thread that has never had a lane. */
static void new_thread_in_forked_child(void)
{
	pid_t child;

	fake_client_start();
	visit(1);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		visit_in_threads(2, 10);
		visit(10);
		_exit(0);
	}
	reap(child);
	visit(10);
	CHECK(items() == 41);
	CHECK(fake_client_lanes() == 4);
}

static void fork_before_the_first_visit(void)
{
	pid_t child;

	fake_client_start();
	child = fork();
	CHECK(child >= 0);
	visit(1000);
	if (!child)
		_exit(0);
	reap(child);
	CHECK(items() == 2000);
	CHECK(fake_client_lanes() == 2);
}

/* --- the runner --- */

static void run_in_child(void **state)
{
	void (*test)(void) = *(void (**)(void)) * state;
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		test();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "off without the variable", off_without_variable },
	{ "off with a bad number", off_with_bad_number },
	{ "off with another file's fd", off_with_another_file },
	{ "off with another ABI version", off_with_another_abi },
	{ "off stays off", off_stays_off },
	{ "an ended session does no harm", ended_session_keeps_counting },
	{ "Coz's counters", coz_counters },
	{ "Coz's function refuses bad arguments and keeps errno", coz_refusals },
	{ "coz.h and cozk.h count the same point", coz_and_cozk_share_a_point },
	{ "macros make the right names and types", macros_name_and_type },
	{ "places with one name share a point", sites_share_a_name },
	{ "long names keep their tail", long_names_keep_their_tail },
	{ "no room for another point", no_room_for_a_point },
	{ "errno survives", errno_survives },
	{ "signal handlers may visit", handlers_may_visit },
	{ "a lane for every thread", every_thread_has_a_lane },
	{ "threads without a lane use the shared one", threads_without_a_lane },
	{ "threads outside the session use the shared lane", threads_outside_the_session },
	{ "forked children count", forked_children_count },
	{ "children of a raw clone count", raw_forked_children_count },
	{ "a new thread's visit is the first in a forked child", new_thread_in_forked_child },
	{ "fork before the first visit", fork_before_the_first_visit },
};

int main(void)
{
	enum { COUNT = sizeof(tests) / sizeof(tests[0]) };
	struct CMUnitTest unit[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		unit[i] = (struct CMUnitTest){ .name = tests[i].name,
					       .test_func = run_in_child,
					       .initial_state = (void *)&tests[i].run };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("coz_lite", unit, COUNT, NULL, NULL);
}
