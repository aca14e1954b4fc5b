// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows over programs with known behaviour: what the result's fields say. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

enum { ONE_WINDOW_MS = 500 };

static struct state {
	struct meter hot, cold;
	struct cozk_window unused;
	volatile uint64_t received;
	int ends[2];
	volatile uint32_t ticket;
} * state;

static void *run_cold(void *unused)
{
	spin_cold(&state->cold);
	return unused;
}

static int hot_alone(void *unused)
{
	(void)unused;
	spin_hot(&state->hot);
	return 0;
}

static int hot_and_cold(void *unused)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_cold, NULL);
	return hot_alone(unused);
}

static struct held start(int (*program)(void *))
{
	struct held h;

	memset(state, 0, sizeof(*state));
	h = held_make(program, NULL);
	child_go(&h.child);
	sleep_ms(100);
	return h;
}

static void show(const struct cozk_window *w)
{
	note("time %llu due %llu samples %llu/%llu hits %llu/%llu owed %llu paid %llu credited %llu",
	     (unsigned long long)(w->end_ns - w->start_ns) / 1000,
	     (unsigned long long)(w->due_end_ns - w->due_start_ns) / 1000, (unsigned long long)w->samples,
	     (unsigned long long)w->sample_ns / 1000, (unsigned long long)w->hits, (unsigned long long)w->hit_ns / 1000,
	     (unsigned long long)w->owed_ns / 1000, (unsigned long long)w->paid_ns / 1000,
	     (unsigned long long)w->credited_ns / 1000);
	note("surplus %llu pauses %llu settle %llu forgiven %llu (us)", (unsigned long long)w->surplus_ns / 1000,
	     (unsigned long long)w->pauses, (unsigned long long)w->settle_ns / 1000,
	     (unsigned long long)w->forgiven_ns / 1000);
}

static void run(const struct held *h, uint32_t percent, struct cozk_window *w)
{
	if (window(h->fd, ONE_WINDOW_MS * MS, percent, w))
		bail("WINDOW failed");
	show(w);
}

static void speedup_zero(void)
{
	struct held h = start(hot_and_cold);
	struct cozk_window w;

	run(&h, 0, &w);
	ok(w.end_reason == COZK_END_DURATION, "a window runs its time");
	within(w.end_ns - w.start_ns, ONE_WINDOW_MS * MS, (ONE_WINDOW_MS + 1000) * MS, "as told");
	ok(w.hits > 0 && w.hits <= w.samples && w.hit_ns > 0, "s = 0 counts hits");
	ok(w.due_end_ns == w.due_start_ns, "s = 0 adds no delay");
	ok(!w.owed_ns && !w.paid_ns && !w.credited_ns && !w.surplus_ns && !w.forgiven_ns && !w.pauses,
	   "s = 0 holds nobody");
	ok(w.threads == 2 && w.id == 1, "threads and number are right");
	within(w.sample_ns, ONE_WINDOW_MS * MS / 4, 2 * (w.end_ns - w.start_ns) + MS, "samples stand for the CPU time");
	ok(!session_status(h.fd).pauses, "and there never was a pause");
	held_end(&h);
}

static void one_hitter(uint32_t percent)
{
	struct held h = start(hot_alone);
	struct cozk_window w;
	uint64_t want;

	run(&h, percent, &w);
	want = w.hit_ns / 100 * percent;
	ok(w.hit_ns > w.sample_ns / 100 * 95, "one hitter hits all the time");
	within(w.due_end_ns - w.due_start_ns, want / 1000 * 995, want / 1000 * 1005 + 1000, "due grows by s * hit_ns");
	ok(w.due_end_ns - w.due_start_ns <= w.end_ns - w.start_ns, "no faster than real time");
	ok(!w.pauses && !w.paid_ns, "and nobody else is there to pay");
	held_end(&h);
}

/*
 * The other thread never waits for anything, so all that falls due it pays by being held.  How
 * exactly, only the best of a few windows tells: an emulated processor may stand still itself.
 */
static void two_threads(uint32_t percent)
{
	struct held h = start(hot_and_cold);
	struct cozk_window w;
	uint64_t due, settled, over, least = UINT64_MAX;
	int i, bad = 0, idle = 0, unsettled = 0;

	for (i = 0; i < 4; i++) {
		run(&h, percent, &w);
		due = w.due_end_ns - w.due_start_ns;
		settled = w.owed_ns + w.credited_ns + w.forgiven_ns;
		bad += !due || due > w.end_ns - w.start_ns || w.owed_ns > w.paid_ns;
		idle += !w.pauses;
		unsettled += settled < due / 100 * 97 || settled > due / 100 * 103 + MS;
		over = (w.paid_ns - w.owed_ns) * 1000 / (w.owed_ns + 1);
		least = over < least ? over : least;
	}
	ok(!bad, "%u %%: due grows, no faster than time", percent);
	ok(!unsettled, "every debt is settled once");
	ok(!idle, "the other thread pauses");
	ok(least < 20, "paid is what was owed within 2 %% (%llu per mille)", (unsigned long long)least);
	within(session_status(h.fd).max_pause_ns, 1, 400 * MS, "no pause is longer than may be");
	held_end(&h);
}

/* Sends a byte every so often; the receiver does nothing but wait for it. */
static void *send_bytes(void *unused)
{
	for (;;) {
		for (volatile int i = 0; i < 200000; i++)
			;
		if (write(state->ends[1], "", 1) != 1)
			return unused;
	}
}

static void *receive_bytes(void *unused)
{
	char byte;

	while (read(state->ends[0], &byte, 1) == 1)
		state->received++;
	return unused;
}

static int pipe_program(void *unused)
{
	pthread_t thread;

	if (pipe(state->ends))
		return 1;
	pthread_create(&thread, NULL, send_bytes, NULL);
	pthread_create(&thread, NULL, receive_bytes, NULL);
	return hot_alone(unused);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *give_tickets(void *unused)
{
	for (;;) {
		for (volatile int i = 0; i < 200000; i++)
			;
		pthread_mutex_lock(&mutex);
		state->ticket++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *take_tickets(void *unused)
{
	uint32_t last = 0;

	for (;;) {
		pthread_mutex_lock(&mutex);
		while (state->ticket == last)
			pthread_cond_wait(&changed, &mutex);
		last = state->ticket;
		pthread_mutex_unlock(&mutex);
		state->received++;
	}
	return unused;
}

static int futex_program(void *unused)
{
	pthread_t thread;

	pthread_create(&thread, NULL, give_tickets, NULL);
	pthread_create(&thread, NULL, take_tickets, NULL);
	return hot_alone(unused);
}

/* Two debtors: the sender pays, the receiver, waiting for it, is as late and must not pay again. */
static void waiting_is_paying(int (*program)(void *), const char *by)
{
	struct held h = start(program);
	struct cozk_window w;
	uint64_t due;

	run(&h, 50, &w);
	due = w.due_end_ns - w.due_start_ns;
	ok(state->received > 0 && due > 0, "%s: the program runs", by);
	within(w.credited_ns, due / 2, due * 2 + MS, "who waits for a paused thread is credited");
	within(w.paid_ns, due / 4, due / 10 * 17, "and only the other pays");
	held_end(&h);
}

/* Windows in a row: nothing of one is left in the next. */
static void rows(void)
{
	struct held h = start(hot_and_cold);
	struct cozk_window first, w;
	int i, bad = 0;

	run(&h, 75, &first);
	for (i = 0; i < 5; i++) {
		if (window(h.fd, 50 * MS, i % 2 ? 100 : 0, &w))
			bail("WINDOW failed");
		bad += w.id != first.id + 1 + i || w.due_start_ns < first.due_end_ns ||
		       (i % 2 == 0 && (w.paid_ns || w.credited_ns || w.due_end_ns != w.due_start_ns));
	}
	ok(!bad, "windows follow each other and leave nothing behind");
	ok(session_status(h.fd).windows == 6, "and are counted");
	ok(session_status(h.fd).due_ns == w.due_end_ns, "STATUS tells the same due");
	held_end(&h);
}

/* Two sessions at once, each with its own program and window. */
static void two_sessions(void)
{
	struct async_window a, b;
	struct held g, h;

	g = start(hot_alone);
	h = held_make(hot_alone, NULL);
	child_go(&h.child);
	sleep_ms(100);
	fails(session_adopt(g.fd, h.child.pid), EBUSY, "a program is in one session only");
	window_start(&a, g.fd, 400 * MS, 100);
	window_start(&b, h.fd, 400 * MS, 0);
	window_join(&a);
	window_join(&b);
	ok(!a.ret && !b.ret && a.w.hits && b.w.hits, "two sessions have windows at once");
	ok(a.w.due_end_ns > a.w.due_start_ns && b.w.due_end_ns == b.w.due_start_ns, "each its own");
	held_end(&g);
	ok(meter_rate(&state->hot, 50) > 0 && session_status(h.fd).threads == 1, "and one ends without the other");
	held_end(&h);
}

int main(void)
{
	state = shared(sizeof(*state));
	speedup_zero();
	one_hitter(25);
	one_hitter(100);
	two_threads(30);
	two_threads(100);
	waiting_is_paying(pipe_program, "pipe");
	waiting_is_paying(futex_program, "futex");
	rows();
	two_sessions();
	return done();
}
