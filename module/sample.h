/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample clock: a pinned hard-interrupt timer per CPU that runs only while a thread of a
 * session runs user or kernel code there.  It stands still while the CPU idles, runs strangers,
 * or holds a pausing thread, so a period is CPU time of the session and nothing else.
 */
#ifndef COZK_SAMPLE_H
#define COZK_SAMPLE_H

#include <linux/types.h>

struct cozk_session;
struct cozk_thread;
struct pt_regs;

int cozk_sample_setup(void);

/* Prepares the per-CPU part of a new session.  Context: process. */
void cozk_sample_init(struct cozk_session *s);

/* Context: interrupts off, on the CPU concerned. */
void cozk_sample_switch_out(struct cozk_thread *t, u64 now);
void cozk_sample_switch_in(struct cozk_thread *t, u64 now);
void cozk_sample_clock_stop(struct cozk_thread *t, u64 now);
void cozk_sample_clock_start(struct cozk_thread *t, u64 now);

/* The current thread leaves its session.  Context: that thread, preemption off. */
void cozk_sample_leave(struct cozk_thread *t);

/* The thread with a record that runs on @cpu, or NULL.  Under rcu_read_lock(). */
struct cozk_thread *cozk_sample_running(int cpu);

/* No CPU refers to a retired record after this.  Context: process, sleeps. */
void cozk_sample_forget(void);

/*
 * The period or the threads of @s have changed: the clocks of those that are running start anew
 * now, not after their next switch.  Context: process, sleeps.
 */
void cozk_sample_restart(struct cozk_session *s);

/* Stops every timer; no hook is registered.  Context: process. */
void cozk_sample_quiesce(void);

/*
 * One sample of the thread running here, by another clock than the timer (a perf event).
 * Context: interrupts off, not NMI.
 */
void cozk_sample_event(struct pt_regs *regs);

#endif
