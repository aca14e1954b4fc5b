// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/irq_regs.h>

#include "callchain.h"
#include "compat.h"
#include "edge.h"
#include "pause.h"
#include "ring.h"
#include "sample.h"
#include "session.h"
#include "target.h"
#include "thread.h"

/*
 * A window samples finely, but user space only needs shares: a record stands for at least this
 * much CPU time.
 */
enum { PUBLISH_NS = 1000000 };

struct sample_cpu {
	struct hrtimer timer;
	struct cozk_thread *curr; /* written here with interrupts off; RCU readers elsewhere */
	u64 clock_start;
	bool ticking;
};

static DEFINE_PER_CPU(struct sample_cpu, sample_cpu);

static u64 next_random(struct cozk_session_cpu *sc)
{
	sc->random ^= sc->random << 13;
	sc->random ^= sc->random >> 7;
	sc->random ^= sc->random << 17;
	return sc->random;
}

/* Uniform in [period/2, 3 period/2): the clock must not beat with a loop of the program. */
static u64 jittered(struct cozk_session_cpu *sc, u64 period)
{
	return period / 2 + next_random(sc) % period;
}

static u64 period_of(const struct cozk_session *s)
{
	u64 inside = READ_ONCE(s->window_period_ns);

	return inside && READ_ONCE(s->window_id) ? inside : READ_ONCE(s->period_ns);
}

static const struct cozk_ranges *target_of(struct cozk_session *s)
{
	return rcu_dereference_check(s->target, irqs_disabled());
}

static bool on_target(struct cozk_session *s, const struct cozk_thread *t, u64 ip)
{
	const struct cozk_ranges *target = target_of(s);

	if (!target)
		return false;
	if (cozk_ranges_contain(target->ranges, target->count, t->space, ip))
		return true;
	/* Forked since user space last looked: its code is where its parent's is. */
	return t->origin && !cozk_ranges_know(target->ranges, target->count, t->space) &&
	       cozk_ranges_contain(target->ranges, target->count, t->origin, ip);
}

/* Returns true if the others may have a new debt. */
static bool credit_hit(struct cozk_session *s, struct cozk_thread *t, u64 window, u64 weight)
{
	bool grew = false;

	raw_spin_lock(&s->ledger);
	if (s->window_id == window)
		grew = vtime_hit(&s->vtime, &t->vt, weight);
	raw_spin_unlock(&s->ledger);
	return grew;
}

/* Counts the sample in the open window; true if it was a hit. */
static bool window_sample(struct cozk_session *s, struct cozk_session_cpu *sc,
			  struct cozk_thread *t, u64 ip, u64 weight, u64 now)
{
	u64 window = READ_ONCE(s->window_id);
	u64 open_for;

	if (!window)
		return false;
	if (sc->window_id != window) {
		sc->window_id = window;
		sc->window_samples = 0;
		sc->window_ns = 0;
		/* Time from before the window does not count in it. */
		open_for = now - READ_ONCE(s->window_start);
		weight = min(weight, open_for);
	}
	sc->window_samples++;
	sc->window_ns += weight;
	if (!on_target(s, t, ip))
		return false;
	if (credit_hit(s, t, window, weight))
		cozk_pause_kick_others(t);
	return true;
}

static void publish(struct cozk_session *s, struct cozk_session_cpu *sc, struct cozk_thread *t,
		    struct cozk_record *record, u64 weight, bool in_window)
{
	sc->unpublished_ns += weight;
	if (in_window && sc->unpublished_ns < PUBLISH_NS)
		return;
	record->type = COZK_RECORD_SAMPLE;
	record->weight_ns = sc->unpublished_ns;
	sc->unpublished_ns = 0;
	cozk_ring_write(s, t, record);
}

static void take(struct cozk_thread *t, struct pt_regs *regs, u64 weight, u64 now)
{
	struct cozk_session *s = t->session;
	struct cozk_session_cpu *sc = this_cpu_ptr(s->cpu);
	struct cozk_record record = { .time_ns = now };
	struct pt_regs *user = regs;

	if (!user_mode(regs)) {
		user = task_pt_regs(current);
		record.flags |= COZK_SAMPLE_KERNEL;
		record.kernel_ip = s->kernel_ip ? instruction_pointer(regs) : 0;
	}
	record.ip = cozk_callchain_find(s, t, user, &record.flags);
	sc->samples++;
	if (window_sample(s, sc, t, record.ip, weight, now))
		record.flags |= COZK_SAMPLE_HIT;
	publish(s, sc, t, &record, weight, READ_ONCE(s->window_id));
	cozk_pause_check(t);
}

/* CPU time of the session on this CPU since its last sample here; starts the next period. */
static u64 collect(struct sample_cpu *c, struct cozk_session_cpu *sc, u64 now)
{
	u64 weight = sc->run_ns + (now - c->clock_start);

	sc->run_ns = 0;
	c->clock_start = now;
	return weight;
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);
	struct cozk_thread *t = c->curr;
	struct pt_regs *regs = get_irq_regs();
	struct cozk_session_cpu *sc;
	u64 now, period;

	if (!t || !c->ticking || t->task != current || !regs)
		return HRTIMER_NORESTART;
	sc = this_cpu_ptr(t->session->cpu);
	now = ktime_get_mono_fast_ns();
	rcu_read_lock();
	take(t, regs, collect(c, sc, now), now);
	rcu_read_unlock();
	period = period_of(t->session);
	if (!period || t->session->pmu)
		return HRTIMER_NORESTART;
	sc->left_ns = jittered(sc, period);
	hrtimer_set_expires(timer, ns_to_ktime(now + sc->left_ns));
	return HRTIMER_RESTART;
}

void cozk_sample_event(struct pt_regs *regs)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);
	struct cozk_thread *t = c->curr;
	u64 now;

	if (!t || !c->ticking || t->task != current)
		return;
	now = ktime_get_mono_fast_ns();
	rcu_read_lock();
	take(t, regs, collect(c, this_cpu_ptr(t->session->cpu), now), now);
	rcu_read_unlock();
}

void cozk_sample_clock_start(struct cozk_thread *t, u64 now)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);
	struct cozk_session *s = t->session;
	struct cozk_session_cpu *sc = this_cpu_ptr(s->cpu);
	u64 period = period_of(s);
	bool by_event = READ_ONCE(s->pmu);

	if (c->curr != t || c->ticking || !(period || by_event))
		return;
	c->clock_start = now;
	c->ticking = true;
	if (by_event)
		return;
	/* The period may have become finer since the last sample. */
	if (!sc->left_ns || sc->left_ns > 2 * period)
		sc->left_ns = jittered(sc, period);
	hrtimer_start(&c->timer, ns_to_ktime(now + sc->left_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

void cozk_sample_clock_stop(struct cozk_thread *t, u64 now)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);
	struct cozk_session_cpu *sc = this_cpu_ptr(t->session->cpu);
	u64 ran;

	if (c->curr != t || !c->ticking)
		return;
	/* A pause counts from the interrupt that announced it; a sample may have come after. */
	ran = now > c->clock_start ? now - c->clock_start : 0;
	sc->run_ns += ran;
	/* At least something, so that an overdue sample comes at once. */
	sc->left_ns = ran < sc->left_ns ? sc->left_ns - ran : 1;
	c->ticking = false;
	hrtimer_try_to_cancel(&c->timer);
}

void cozk_sample_switch_in(struct cozk_thread *t, u64 now)
{
	WRITE_ONCE(this_cpu_ptr(&sample_cpu)->curr, t);
	if (!test_bit(COZK_HOLDING, &t->flags))
		cozk_sample_clock_start(t, now);
}

void cozk_sample_switch_out(struct cozk_thread *t, u64 now)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);

	cozk_sample_clock_stop(t, now);
	if (c->curr == t)
		WRITE_ONCE(c->curr, NULL);
}

void cozk_sample_leave(struct cozk_thread *t)
{
	unsigned long flags;

	local_irq_save(flags);
	cozk_sample_switch_out(t, ktime_get_mono_fast_ns());
	local_irq_restore(flags);
}

struct cozk_thread *cozk_sample_running(int cpu)
{
	return READ_ONCE(per_cpu(sample_cpu, cpu).curr);
}

static void forget_here(void *unused)
{
	struct sample_cpu *c = this_cpu_ptr(&sample_cpu);
	struct cozk_thread *t = c->curr;

	if (!t || !hlist_unhashed_lockless(&t->hash))
		return;
	cozk_sample_clock_stop(t, ktime_get_mono_fast_ns());
	WRITE_ONCE(c->curr, NULL);
}

void cozk_sample_forget(void)
{
	on_each_cpu(forget_here, NULL, 1);
}

static void restart_here(void *data)
{
	u64 now = ktime_get_mono_fast_ns();
	struct cozk_thread *t;

	rcu_read_lock();
	t = cozk_thread_find(current);
	if (t && t->session == data) {
		if (this_cpu_ptr(&sample_cpu)->curr != t) {
			cozk_edge_switch_in(t, now);
			cozk_sample_switch_in(t, now);
		} else if (!test_bit(COZK_HOLDING, &t->flags)) {
			cozk_sample_clock_stop(t, now);
			cozk_sample_clock_start(t, now);
		}
	}
	rcu_read_unlock();
}

void cozk_sample_restart(struct cozk_session *s)
{
	on_each_cpu(restart_here, s, 1);
}

void cozk_sample_quiesce(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sample_cpu *c = &per_cpu(sample_cpu, cpu);

		hrtimer_cancel(&c->timer);
		c->curr = NULL;
		c->ticking = false;
	}
}

void cozk_sample_init(struct cozk_session *s)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(s->cpu, cpu)->random = get_random_u64() | 1;
}

int cozk_sample_setup(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_setup(&per_cpu(sample_cpu, cpu).timer, tick, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}
