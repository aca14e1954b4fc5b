// SPDX-License-Identifier: GPL-2.0-only
#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/irq_regs.h>

#include "pause.h"
#include "sample.h"
#include "session.h"
#include "thread.h"

/* Less than this is not worth a sleep: the timer and two switches would take as long. */
enum { SLEEP_MIN_NS = 50000, SLEEP_SLACK_NS = 10000 };

u64 cozk_pause_debt_hint(const struct cozk_thread *t)
{
	s64 debt = READ_ONCE(t->session->vtime.due) - READ_ONCE(t->vt.held);

	return debt > 0 ? debt : 0;
}

static bool owes(const struct cozk_thread *t)
{
	return READ_ONCE(t->session->active) && cozk_pause_debt_hint(t) > COZK_DEBT_BOUND_NS;
}

static void account(struct cozk_thread *t, u64 ns)
{
	struct cozk_session *s = t->session;
	struct cozk_session_cpu *sc;
	unsigned long flags;

	raw_spin_lock_irqsave(&s->ledger, flags);
	/* What is held after settling belongs to no window and must not become a surplus. */
	if (s->active)
		vtime_pause(&s->vtime, &t->vt, ns);
	t->external_debt -= min(t->external_debt, ns);
	sc = this_cpu_ptr(s->cpu);
	sc->paused_ns += ns;
	raw_spin_unlock_irqrestore(&s->ledger, flags);
}

/*
 * Keeps the CPU.  In the faster world the thread would be running here, so no other of its
 * session may; spinning with preemption allowed says exactly that to the scheduler.  When its
 * time slice ends, time off the CPU is no pause, and the next thread of the session to run here
 * finds the CPU as late as rule 4 says.
 *
 * @told, if not 0, is when an interrupt took the CPU from the user code to say so: the way from
 * there to here is as much a hold as the rest.
 */
static void hold_cpu(struct cozk_thread *t, u64 told, u64 deadline)
{
	u64 now;

	local_irq_disable();
	now = ktime_get_mono_fast_ns();
	if (told && told >= t->since)
		now = told;
	cozk_sample_clock_stop(t, now);
	WRITE_ONCE(t->hold_start, now);
	set_bit(COZK_HOLDING, &t->flags);
	local_irq_enable();

	for (;;) {
		s64 held;

		now = ktime_get_mono_fast_ns();
		held = now - READ_ONCE(t->hold_start);
		if (held >= (s64)cozk_pause_debt_hint(t) || !READ_ONCE(t->session->active) ||
		    signal_pending(current) || now >= deadline)
			break;
		cpu_relax();
		cond_resched();
	}

	local_irq_disable();
	now = ktime_get_mono_fast_ns();
	clear_bit(COZK_HOLDING, &t->flags);
	account(t, now - t->hold_start);
	cozk_sample_clock_start(t, now);
	local_irq_enable();
}

/* Gives the CPU away for @ns: the part of a debt from a wait for something outside. */
static void sleep_off(struct cozk_thread *t, u64 ns)
{
	ktime_t timeout = ns_to_ktime(ns);
	u64 start = ktime_get_mono_fast_ns();

	set_bit(COZK_SLEEPING, &t->flags);
	set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
	/* Looked at after the state is set, so that cozk_pause_release_all() is not missed. */
	if (READ_ONCE(t->session->active))
		schedule_hrtimeout_range(&timeout, SLEEP_SLACK_NS, HRTIMER_MODE_REL);
	__set_current_state(TASK_RUNNING);
	clear_bit(COZK_SLEEPING, &t->flags);
	/* From the wake-up on it waits for a CPU like anyone else. */
	if (t->woken_at > start)
		account(t, t->woken_at - start);
}

static void pay(struct cozk_thread *t, u64 told, u64 start)
{
	u64 deadline = start + COZK_MAX_PAUSE_NS;

	while (owes(t) && !signal_pending(current)) {
		u64 now = ktime_get_mono_fast_ns();
		u64 asleep;

		if (now >= deadline)
			break;
		asleep = min3(READ_ONCE(t->external_debt), cozk_pause_debt_hint(t), deadline - now);
		if (asleep >= SLEEP_MIN_NS)
			sleep_off(t, asleep);
		else
			hold_cpu(t, told, deadline);
		told = 0;
	}
}

static void count_pause(struct cozk_thread *t, u64 ns)
{
	struct cozk_session_cpu *sc = get_cpu_ptr(t->session->cpu);

	sc->pauses++;
	sc->max_pause_ns = max(sc->max_pause_ns, ns);
	put_cpu_ptr(t->session->cpu);
}

/*
 * Context: the thread itself, returning to user mode or exiting, no kernel lock held.
 * A debt that comes up between the last look and clearing COZK_PAUSING finds the next sample.
 */
static void run_pause(struct callback_head *head)
{
	struct cozk_thread *t = container_of(head, struct cozk_thread, pause);
	u64 start = ktime_get_mono_fast_ns();
	u64 told = t->told_at;

	set_bit(COZK_PAUSING, &t->flags);
	clear_bit(COZK_PAUSE_QUEUED, &t->flags);
	if (!(current->flags & PF_EXITING) && owes(t)) {
		pay(t, told, start);
		count_pause(t, ktime_get_mono_fast_ns() - start);
	}
	clear_bit(COZK_PAUSING, &t->flags);
	cozk_thread_put(t);
}

void cozk_pause_init(struct cozk_thread *t)
{
	init_task_work(&t->pause, run_pause);
}

/* When user code was interrupted, or 0 if it was the kernel, which goes on before the pause. */
static u64 interrupted_at(void)
{
	struct pt_regs *regs = get_irq_regs();

	return regs && user_mode(regs) ? ktime_get_mono_fast_ns() : 0;
}

/* Not under a runqueue's lock: with KASAN, task_work_add() may allocate. */
void cozk_pause_check(struct cozk_thread *t)
{
	if (!owes(t) || test_bit(COZK_PAUSING, &t->flags) ||
	    test_and_set_bit(COZK_PAUSE_QUEUED, &t->flags))
		return;
	t->told_at = interrupted_at();
	cozk_thread_get(t);
	if (task_work_add(t->task, &t->pause, TWA_RESUME)) {
		/* It is exiting and will run no more user code. */
		clear_bit(COZK_PAUSE_QUEUED, &t->flags);
		cozk_thread_put(t);
	}
}

/* Hard interrupt: the thread running here looks whether it owes. */
static void check_current(void)
{
	struct cozk_thread *t;

	rcu_read_lock();
	t = cozk_sample_running(smp_processor_id());
	if (t && t->task == current)
		cozk_pause_check(t);
	rcu_read_unlock();
}

static void check_kicked(void *unused)
{
	check_current();
}

static DEFINE_PER_CPU(call_single_data_t, kicked);

static void kick(struct cozk_session *s, const struct cozk_thread *but)
{
	struct cozk_thread *t;
	int cpu;

	rcu_read_lock();
	for_each_online_cpu(cpu) {
		t = cozk_sample_running(cpu);
		/* -EBUSY: it has been kicked and has not looked yet. */
		if (t && t != but && t->session == s && owes(t) &&
		    !test_bit(COZK_PAUSING, &t->flags) && !test_bit(COZK_PAUSE_QUEUED, &t->flags))
			smp_call_function_single_async(cpu, &per_cpu(kicked, cpu));
	}
	rcu_read_unlock();
}

void cozk_pause_kick_others(struct cozk_thread *t)
{
	kick(t->session, t);
}

void cozk_pause_kick_all(struct cozk_session *s)
{
	preempt_disable();
	kick(s, NULL);
	preempt_enable();
}

void cozk_pause_release_all(struct cozk_session *s)
{
	struct cozk_thread *t;

	rcu_read_lock();
	list_for_each_entry_rcu(t, &s->threads, list)
		if (test_bit(COZK_SLEEPING, &t->flags))
			wake_up_process(t->task);
	rcu_read_unlock();
}

/* Runs as soon as the switch is over and interrupts are on again. */
static void check_switched_in(struct irq_work *work)
{
	check_current();
}

static DEFINE_PER_CPU(struct irq_work, switched_in);

void cozk_pause_switch_in(struct cozk_thread *t, u64 now)
{
	if (test_bit(COZK_HOLDING, &t->flags))
		WRITE_ONCE(t->hold_start, now);
	else if (owes(t) && !test_bit(COZK_PAUSE_QUEUED, &t->flags) &&
		 !test_bit(COZK_PAUSING, &t->flags))
		irq_work_queue(this_cpu_ptr(&switched_in));
}

void cozk_pause_switch_out(struct cozk_thread *t, u64 now)
{
	if (test_bit(COZK_HOLDING, &t->flags)) {
		account(t, now - t->hold_start);
		WRITE_ONCE(t->hold_start, now);
	}
}

/* At run time: before v6.15 per-CPU data of modules is not relocated, pointers in it are NULL. */
void cozk_pause_setup(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(switched_in, cpu) = IRQ_WORK_INIT_HARD(check_switched_in);
		INIT_CSD(&per_cpu(kicked, cpu), check_kicked, NULL);
	}
}

static void nothing(void *unused)
{
}

void cozk_pause_cleanup(void)
{
	int cpu;

	/* Calls run in the order they were made: after these none of ours is on its way. */
	on_each_cpu(nothing, NULL, 1);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(switched_in, cpu));
}
