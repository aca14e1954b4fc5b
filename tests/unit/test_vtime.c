// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * module/vtime.c: worked examples by hand, and the properties that docs promise, over random
 * programs.  COZK_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "vtime.h"

#define US 1000ULL
#define MS 1000000ULL
#define PERCENT 10000U

enum { THREADS = 5, STEPS = 400, PROGRAMS = 500 };

static unsigned int seed;

static u64 below(u64 n)
{
	return n ? (((u64)rand() << 31) ^ (u64)rand()) % n : 0;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* ---- worked examples ---- */

static void start(struct vtime_session *s, struct vtime_thread *t, int n, u32 percent)
{
	memset(s, 0, sizeof(*s));
	vtime_open(s, percent * PERCENT);
	while (n--)
		vtime_thread_init(&t[n], s, NULL);
}

/*
 * G1: two threads and a barrier; A works 10 ms a round, all on the target, B 8 ms.  The truth at
 * s = 50 % is a round of max(5, 8) = 8 ms.  A is never held.  B is held 5 ms while A works, so it
 * comes to the barrier at 13 ms, where A has waited since 10: 13 - 5 = 8.
 */
static void barrier_half(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2], *a = &t[0], *b = &t[1];
	int ms;

	(void)unused;
	start(&s, t, 2, 50);
	for (ms = 0; ms < 10; ms++) {
		assert_true(vtime_hit(&s, a, MS));
		assert_int_equal(vtime_debt(&s, a), 0);
		assert_int_equal(vtime_debt(&s, b), MS / 2);
		vtime_pause(&s, b, MS / 2);
		assert_int_equal(vtime_debt(&s, b), 0);
	}
	/* At 13 ms B lets A go, which had waited 3 ms and owes nothing for it. */
	vtime_edge(&s, a, b->held, 3 * MS);
	assert_int_equal(s.due, 5 * MS);
	assert_int_equal(13 * MS - s.due, 8 * MS);
	assert_int_equal(vtime_debt(&s, a), 0);
	assert_int_equal(s.hits, 10);
	assert_int_equal(s.hit_ns, 10 * MS);
	assert_int_equal(s.held_ns, 5 * MS);
	assert_int_equal(s.credited_ns, 0);
}

/*
 * The same at s = 10 %: the truth is max(9, 8) = 9 ms.  B has paid 0.8 ms when it comes to the
 * barrier at 8.8 ms.  A comes at 10 ms, by when 1 ms is due; B, which waited for it, owes none
 * of the missing 0.2 ms: 10 - 1 = 9.
 */
static void barrier_tenth(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2], *a = &t[0], *b = &t[1];
	int ms;

	(void)unused;
	start(&s, t, 2, 10);
	for (ms = 0; ms < 8; ms++) {
		vtime_hit(&s, a, MS);
		vtime_pause(&s, b, MS / 10);
	}
	vtime_hit(&s, a, MS);
	vtime_hit(&s, a, MS);
	assert_int_equal(vtime_debt(&s, b), 200 * US);
	vtime_edge(&s, b, a->held, 1200 * US);
	assert_int_equal(vtime_debt(&s, b), 0);
	assert_int_equal(b->held, MS);
	assert_int_equal(s.credited_ns, 200 * US);
	assert_int_equal(10 * MS - s.due, 9 * MS);
}

/*
 * Two threads take turns on one CPU: A 10 ms on the target, then B 8 ms.  At s = 50 % the truth
 * is 5 + 8 = 13 ms a turn.  B was kept waiting by A, so it owes nothing (rule 4): 18 - 5 = 13.
 */
static void one_cpu(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2], *a = &t[0], *b = &t[1];

	(void)unused;
	start(&s, t, 2, 50);
	vtime_hit(&s, a, 10 * MS);
	assert_int_equal(vtime_debt(&s, b), 5 * MS);
	vtime_edge(&s, b, a->held, 10 * MS);
	assert_int_equal(vtime_debt(&s, b), 0);
	vtime_edge(&s, a, b->held, 8 * MS);
	assert_int_equal(vtime_debt(&s, a), 0);
	assert_int_equal(18 * MS - s.due, 13 * MS);
	assert_int_equal(s.held_ns, 0);
}

/* T asked 1 ms ago for what W lets go now, but 3 ms became due meanwhile: T owes the other two. */
static void short_wait(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2];

	(void)unused;
	start(&s, t, 2, 100);
	vtime_hit(&s, &t[0], 3 * MS);
	vtime_edge(&s, &t[1], t[0].held, MS);
	assert_int_equal(vtime_debt(&s, &t[1]), 2 * MS);
}

/* A waker that owes hands on no more than it has paid itself. */
static void poor_waker(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[3];

	(void)unused;
	start(&s, t, 3, 100);
	vtime_hit(&s, &t[0], 4 * MS);
	vtime_pause(&s, &t[1], MS);
	vtime_edge(&s, &t[2], t[1].held, 4 * MS);
	assert_int_equal(vtime_debt(&s, &t[2]), 3 * MS);
	/* And one that has paid less than T takes nothing from it. */
	vtime_pause(&s, &t[2], 2 * MS);
	vtime_edge(&s, &t[2], t[1].held, 4 * MS);
	assert_int_equal(vtime_debt(&s, &t[2]), MS);
}

static void surplus_first(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[3];

	(void)unused;
	start(&s, t, 3, 50);
	vtime_hit(&s, &t[0], 2 * MS);
	vtime_pause(&s, &t[1], 3 * MS); /* 2 ms too long */
	assert_int_equal(vtime_debt(&s, &t[1]), 0);
	assert_int_equal(vtime_debt(&s, &t[2]), MS);
	vtime_hit(&s, &t[0], 2 * MS);
	assert_int_equal(vtime_debt(&s, &t[1]), 0);
	assert_int_equal(vtime_debt(&s, &t[2]), 2 * MS);
	vtime_hit(&s, &t[0], 4 * MS);
	assert_int_equal(vtime_debt(&s, &t[1]), MS);
	assert_int_equal(vtime_debt(&s, &t[2]), 4 * MS);
	assert_int_equal(s.due, 4 * MS);
}

/* What was held too long is no credit: only s * w becomes due. */
static void surplus_hits(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2];

	(void)unused;
	start(&s, t, 2, 50);
	vtime_pause(&s, &t[0], 7 * MS);
	assert_true(vtime_hit(&s, &t[0], 2 * MS));
	assert_int_equal(s.due, MS);
	assert_int_equal(vtime_debt(&s, &t[1]), MS);
}

static void born_and_settled(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2], child;

	(void)unused;
	start(&s, t, 2, 100);
	vtime_hit(&s, &t[0], 3 * MS);
	vtime_thread_init(&child, &s, &t[1]);
	assert_int_equal(vtime_debt(&s, &child), 3 * MS);
	vtime_thread_init(&child, &s, NULL);
	assert_int_equal(vtime_debt(&s, &child), 0);
	vtime_close(&s);
	assert_false(vtime_hit(&s, &t[0], 9 * MS));
	assert_int_equal(s.due, 3 * MS);
	assert_int_equal(vtime_settle(&s, &t[1]), 3 * MS);
	vtime_pause(&s, &t[0], MS);
	assert_int_equal(vtime_settle(&s, &t[0]), 0);
	vtime_open(&s, 100 * PERCENT);
	/* A surplus ends with its window. */
	vtime_hit(&s, &t[1], MS);
	assert_int_equal(vtime_debt(&s, &t[0]), MS);
	assert_int_equal(s.hits + s.held_ns + s.credited_ns, 1);
}

/* The longest sample at the highest speedup. */
static void large_numbers(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2];
	const u64 day = 86400ULL * 1000 * MS;

	(void)unused;
	start(&s, t, 2, 100);
	s.due = t[0].held = t[1].held = 365 * day;
	vtime_hit(&s, &t[0], 60 * 1000 * MS);
	assert_int_equal(vtime_debt(&s, &t[1]), 60 * 1000 * MS);
	vtime_edge(&s, &t[1], t[0].held, day);
	assert_int_equal(vtime_debt(&s, &t[1]), 0);
}

/* ---- random programs ---- */

enum state { RUNS, BLOCKED, GONE };

/* A program in which all that happens could happen: time is spent once. */
struct program {
	struct vtime_session s;
	struct vtime_thread t[THREADS];
	enum state state[THREADS];
	u64 unsampled[THREADS]; /* run time since the last sample */
	u64 since[THREADS];	/* when it blocked */
	u64 now;
	u64 overslept; /* by all, ever */
	bool oversleeps;
};

static void check_ledger(const struct program *p)
{
	int i;

	for (i = 0; i < THREADS; i++) {
		u64 paid = least(p->t[i].held, p->s.due);

		assert_int_equal(paid + vtime_debt(&p->s, &p->t[i]), p->s.due);
	}
	/* No negative duration. */
	assert_true(p->s.due <= p->now + p->overslept);
}

/* Time passes: who owes is held, who does not runs. */
static void pass(struct program *p, u64 ns)
{
	int i;

	p->now += ns;
	for (i = 0; i < THREADS; i++) {
		u64 debt = vtime_debt(&p->s, &p->t[i]);
		u64 held = p->oversleeps && debt ? ns : least(debt, ns);

		if (p->state[i] != RUNS)
			continue;
		if (held) {
			vtime_pause(&p->s, &p->t[i], held);
			p->overslept += held - least(debt, held);
		}
		p->unsampled[i] += ns - held;
	}
}

static void wake(struct program *p, int by, int who)
{
	u64 wait = p->now - p->since[who];
	u64 before = vtime_debt(&p->s, &p->t[who]);

	p->state[who] = RUNS;
	vtime_edge(&p->s, &p->t[who], p->t[by].held, wait);
	assert_true(vtime_debt(&p->s, &p->t[who]) <= before);
	/* Waiting for one that has paid costs nothing: as late as it came to wait, and no later. */
	if (!vtime_debt(&p->s, &p->t[by]) && wait >= before)
		assert_int_equal(vtime_debt(&p->s, &p->t[who]), 0);
}

static void step(struct program *p)
{
	int i = below(THREADS), j = below(THREADS);
	u64 due = p->s.due;

	pass(p, below(2 * MS));
	switch (below(4)) {
	case 0:
	case 1:
		if (p->state[i] != RUNS)
			break;
		vtime_hit(&p->s, &p->t[i], p->unsampled[i]);
		p->unsampled[i] = 0;
		break;
	case 2:
		/* A thread blocks only from its own code, where it owes nothing; one always runs. */
		if (i && p->state[i] == RUNS && !vtime_debt(&p->s, &p->t[i])) {
			p->state[i] = BLOCKED;
			p->since[i] = p->now;
		}
		break;
	case 3:
		if (p->state[i] == BLOCKED && p->state[j] == RUNS)
			wake(p, j, i);
	}
	assert_true(p->s.due >= due);
	check_ledger(p);
}

static void make_program(struct program *p, u32 percent, bool oversleeps)
{
	memset(p, 0, sizeof(*p));
	start(&p->s, p->t, THREADS, percent);
	p->oversleeps = oversleeps;
}

static void properties(void **unused)
{
	struct program p;
	int i, n;

	(void)unused;
	srand(seed);
	for (i = 0; i < PROGRAMS; i++) {
		make_program(&p, below(101), i % 2);
		for (n = 0; n < STEPS; n++)
			step(&p);
	}
}

static void speedup_zero(void **unused)
{
	struct program p;
	int i, n;

	(void)unused;
	srand(seed);
	for (i = 0; i < 50; i++) {
		make_program(&p, 0, true);
		for (n = 0; n < STEPS; n++)
			step(&p);
		assert_int_equal(p.s.due, 0);
		for (n = 0; n < THREADS; n++)
			assert_int_equal(p.t[n].held, 0);
		assert_int_equal(p.s.held_ns + p.s.credited_ns, 0);
		assert_true(p.s.hits > 0);
	}
}

/* The last thread never runs, is never woken: the others must not notice. */
static void bystander(void **unused)
{
	struct program with, without;
	int i, n, t;

	(void)unused;
	for (i = 0; i < 100; i++) {
		make_program(&with, 60, i % 2);
		make_program(&without, 60, i % 2);
		with.state[THREADS - 1] = GONE;
		without.state[THREADS - 1] = GONE;
		without.t[THREADS - 1].held = ~0ULL / 2;
		srand(seed + i);
		for (n = 0; n < STEPS; n++)
			step(&with);
		srand(seed + i);
		for (n = 0; n < STEPS; n++)
			step(&without);
		assert_int_equal(with.s.due, without.s.due);
		for (t = 0; t < THREADS - 1; t++)
			assert_int_equal(with.t[t].held, without.t[t].held);
	}
}

/* ---- order ---- */

struct event {
	int kind;
	int thread;
	u64 amount;
	u64 giver_held;
};

static void happen(struct program *p, const struct event *e)
{
	if (e->kind == 0)
		vtime_hit(&p->s, &p->t[e->thread], e->amount);
	else if (e->kind == 1)
		vtime_pause(&p->s, &p->t[e->thread], e->amount);
	else
		vtime_edge(&p->s, &p->t[e->thread], e->giver_held, e->amount);
}

static struct event any_event(const struct program *p, int thread, int giver)
{
	struct event e = {
		.kind = below(3),
		.thread = thread,
		.amount = below(2 * MS),
		.giver_held = p->t[giver].held,
	};

	if (e.kind == 1)
		e.amount = below(vtime_debt(&p->s, &p->t[thread]) + 1);
	return e;
}

static void assert_same(const struct program *a, const struct program *b)
{
	int i;

	assert_int_equal(a->s.due, b->s.due);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(a->t[i].held, b->t[i].held);
}

/* Two events of one instant that concern different threads may come in either order. */
static void order(void **unused)
{
	struct program p, q;
	struct event e, f;
	int i, n;

	(void)unused;
	srand(seed);
	for (i = 0; i < PROGRAMS * 4; i++) {
		make_program(&p, below(101), false);
		for (n = below(100); n; n--)
			step(&p);
		e = any_event(&p, 0, 2);
		f = any_event(&p, 1, 3);
		q = p;
		happen(&p, &e);
		happen(&p, &f);
		happen(&q, &f);
		happen(&q, &e);
		assert_same(&p, &q);
	}
}

/*
 * The exception: a thread that was held too long and hits at the same instant as another.  If it
 * comes second its surplus has paid the other's credit already, and its own adds to it.  What the
 * order can change is no more than that surplus.
 */
static void order_with_surplus(void **unused)
{
	struct vtime_session s;
	struct vtime_thread t[2];
	u64 surplus, weight[2], due[2];
	int i, first;

	(void)unused;
	srand(seed);
	for (i = 0; i < PROGRAMS; i++) {
		surplus = below(2 * MS);
		weight[0] = below(2 * MS);
		weight[1] = below(2 * MS);
		for (first = 0; first < 2; first++) {
			start(&s, t, 2, 100);
			vtime_pause(&s, &t[1], surplus);
			vtime_hit(&s, &t[first], weight[first]);
			vtime_hit(&s, &t[!first], weight[!first]);
			due[first] = s.due;
		}
		assert_int_equal(due[1], weight[0] > weight[1] ? weight[0] : weight[1]);
		assert_true(due[0] >= due[1] && due[0] <= due[1] + surplus);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(barrier_half), cmocka_unit_test(barrier_tenth),      cmocka_unit_test(one_cpu),
		cmocka_unit_test(short_wait),	cmocka_unit_test(poor_waker),	      cmocka_unit_test(surplus_first),
		cmocka_unit_test(surplus_hits), cmocka_unit_test(born_and_settled),   cmocka_unit_test(large_numbers),
		cmocka_unit_test(properties),	cmocka_unit_test(speedup_zero),	      cmocka_unit_test(bystander),
		cmocka_unit_test(order),	cmocka_unit_test(order_with_surplus),
	};
	const char *given = getenv("COZK_TEST_SEED");

	seed = given ? strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	printf("# COZK_TEST_SEED=%u\n", seed);
	fflush(stdout);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("vtime", tests, NULL, NULL);
}
