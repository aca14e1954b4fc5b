// SPDX-License-Identifier: GPL-2.0-or-later
/* How a window and a session end, and what signals do meanwhile. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static struct state {
	struct meter hot, cold;
	volatile uint64_t handled_ns;
	volatile uint64_t waits, interrupted;
	volatile pid_t program;
	bool outlives;
} * state;

static void *run_hot(void *unused)
{
	spin_hot(&state->hot);
	return unused;
}

static void on_term(int sig)
{
	(void)sig;
	state->handled_ns = now_ns();
}

/* The first thread, which gets the signals, is the one that is paused. */
static int paused_main(void *unused)
{
	pthread_t thread;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, run_hot, unused);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGTERM, on_term);
	if (state->outlives)
		prctl(PR_SET_PDEATHSIG, 0);
	state->program = getpid();
	spin_cold(&state->cold);
	return 0;
}

static struct held start(int (*program)(void *))
{
	struct held h;

	memset((void *)state, 0, sizeof(*state));
	h = held_make(program, NULL);
	child_go(&h.child);
	sleep_ms(150);
	return h;
}

static void signal_arrives(void)
{
	struct held h = start(paused_main);
	struct async_window a;
	uint64_t sent;
	int i, j, lost = 0, late = 0;

	window_start(&a, h.fd, 1500 * MS, 100);
	sleep_ms(200);
	for (i = 0; i < 10; i++) {
		state->handled_ns = 0;
		sent = now_ns();
		kill(h.child.pid, SIGTERM);
		for (j = 0; !state->handled_ns && j < 400; j++)
			sleep_ms(1);
		if (!state->handled_ns)
			lost++;
		else
			late += state->handled_ns - sent > 200 * MS;
		sleep_ms(20);
	}
	window_join(&a);
	ok(!lost, "a signal reaches a paused thread (%d lost)", lost);
	/*
	 * The signal is taken at once, but its handler is user code, and may be held before it
	 * runs.  And an emulated processor may itself stand still for as long.
	 */
	ok(late <= 2, "and its handler runs within the longest pause (%d of 10 late)", late);
	ok(a.w.pauses > 0 && a.w.paid_ns > 100 * MS, "while it was paused");
	held_end(&h);
}

static void *wait_a_lot(void *unused)
{
	struct timespec ts = { 0, 3 * MS };
	int polls = 0;

	for (;;) {
		errno = 0;
		if ((++polls % 2 ? poll(NULL, 0, 3) : nanosleep(&ts, NULL)) && errno == EINTR)
			state->interrupted++;
		state->waits++;
	}
	return unused;
}

static int waiting_program(void *unused)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_a_lot, unused);
	return paused_main(unused);
}

static void no_eintr(void)
{
	struct held h = start(waiting_program);
	struct cozk_window w;

	if (window(h.fd, 800 * MS, 100, &w))
		bail("WINDOW failed");
	ok(state->waits > 5 && w.pauses > 5, "poll and nanosleep go on beside pauses (%llu, %llu)",
	   (unsigned long long)state->waits, (unsigned long long)w.pauses);
	ok(!state->interrupted, "and none sees EINTR");
	held_end(&h);
}

static void stop_and_go(void)
{
	struct held h = start(paused_main);
	struct async_window a;
	int status;

	window_start(&a, h.fd, 700 * MS, 50);
	kill(h.child.pid, SIGSTOP);
	ok(waitpid(h.child.pid, &status, WUNTRACED) == h.child.pid && WIFSTOPPED(status),
	   "a program under a window can be stopped");
	sleep_ms(20);
	ok(meter_rate(&state->cold, 100) == 0 && meter_rate(&state->hot, 50) == 0, "and stands");
	kill(h.child.pid, SIGCONT);
	ok(meter_rate(&state->cold, 200) > 0 && meter_rate(&state->hot, 50) > 0, "and goes on");
	window_join(&a);
	ok(!a.ret && a.w.end_reason == COZK_END_DURATION, "the window ends in its time");
	held_end(&h);
}

static void program_killed(void)
{
	struct held h = start(paused_main);
	struct async_window a;
	uint64_t killed;

	window_start(&a, h.fd, 20 * SEC, 100);
	sleep_ms(200);
	killed = now_ns();
	kill(h.child.pid, SIGKILL);
	window_join(&a);
	within(now_ns() - killed, 0, 500 * MS, "kill -9 of the program ends the window");
	ok(!a.ret && a.w.end_reason == COZK_END_EXIT && a.w.threads == 0 && a.w.hits, "which says so, and what it had");
	child_wait(&h.child);
	rings_unmap(h.rings);
	close(h.fd);
}

static void ignore(int sig)
{
	(void)sig;
}

static void controller_signalled(int flags, const char *name)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = flags };
	struct timespec ts = { 0, 200 * MS };
	struct itimerspec in = { .it_value = ts };
	struct held h = start(paused_main);
	struct cozk_window w;
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &in, NULL);
	ok(!window(h.fd, 20 * SEC, 50, &w) && w.end_reason == COZK_END_SIGNAL, "%s", name);
	within(w.end_ns - w.start_ns, 100 * MS, SEC, "at once");
	ok(w.hits > 0 && w.due_end_ns > w.due_start_ns, "with what was measured");
	ok(session_status(h.fd).threads == 2, "and the session goes on");
	timer_delete(timer);
	held_end(&h);
}

/* The controller, a process of its own: a window that would last a minute, at 100 %. */
static int controller(void *unused)
{
	struct held h;
	struct cozk_window w;

	(void)unused;
	memset((void *)state, 0, sizeof(*state));
	state->outlives = true;
	h = held_make(paused_main, NULL);
	child_go(&h.child);
	window(h.fd, 60 * SEC, 100, &w);
	return 0;
}

/* False: this machine was too busy to tell, or nothing was released. */
static bool controller_killed_once(void)
{
	struct child c = child_make(controller, NULL);
	double rate, paused = 1e300, soon, later = 0;
	int i;

	state->program = 0;
	child_go(&c);
	for (i = 0; (!state->program || !state->hot.count) && i < 500; i++)
		sleep_ms(10);
	sleep_ms(200);
	for (i = 0; i < 3; i++) {
		rate = meter_rate(&state->cold, 150);
		paused = rate < paused ? rate : paused;
	}
	kill(c.pid, SIGKILL);
	soon = meter_rate(&state->cold, 200);
	child_wait(&c);
	later = meter_rate(&state->cold, 300);
	kill(state->program, SIGKILL);
	note("rate paused %.0f, first 200 ms %.0f, later %.0f", paused, soon, later);
	return later > 0 && paused < 0.3 * later && soon > 0.3 * later;
}

static void controller_killed(void)
{
	int tries = 1;

	while (!controller_killed_once() && tries < 4)
		tries++;
	ok(tries < 4, "at 100 %% a thread is held, and kill -9 of the controller lets it go at once");
}

static double best_rate(void)
{
	double best = 0;
	int i;

	for (i = 0; i < 4; i++) {
		double rate = meter_rate(&state->cold, 80);

		best = rate > best ? rate : best;
	}
	return best;
}

static void closing_releases(void)
{
	struct held h = start(paused_main);
	double before, after;
	struct cozk_window w;

	if (window(h.fd, 300 * MS, 100, &w))
		bail("WINDOW failed");
	before = best_rate();
	rings_unmap(h.rings);
	close(h.fd);
	after = best_rate();
	ok(before > 0 && after > 0.4 * before, "after a window, and after the session, all run");
	child_kill(&h.child);
}

int main(void)
{
	state = shared(sizeof(*state));
	signal_arrives();
	no_eintr();
	stop_and_go();
	program_killed();
	controller_signalled(0, "a signal for the controller ends the window");
	controller_signalled(SA_RESTART, "also one that restarts system calls");
	closing_releases();
	controller_killed();
	return done();
}
