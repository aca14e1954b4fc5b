/* SPDX-License-Identifier: GPL-2.0-only */
/* Holding a thread on its way to user mode until its debt is paid (rule 2). */
#ifndef COZK_PAUSE_H
#define COZK_PAUSE_H

#include <linux/types.h>

struct cozk_session;
struct cozk_thread;

void cozk_pause_setup(void);
void cozk_pause_cleanup(void);

void cozk_pause_init(struct cozk_thread *t);

/*
 * A guess, without the ledger's lock, of what @t owes.  Wrong by what is being written at this
 * instant, which the thread itself finds out under the lock.  Context: any.
 */
u64 cozk_pause_debt_hint(const struct cozk_thread *t);

/* Every other running thread of @t's session that owes is told to pause.  Context: irqs off */
void cozk_pause_kick_others(struct cozk_thread *t);

/* The same for every running thread of @s.  Context: process or irqs off. */
void cozk_pause_kick_all(struct cozk_session *s);

/* Nobody owes any more (active is false): wakes who sleeps a debt off.  Context: process. */
void cozk_pause_release_all(struct cozk_session *s);

/* @t, running here, pauses if it owes.  Context: hard interrupt, not NMI. */
void cozk_pause_check(struct cozk_thread *t);

/* Context: interrupts off, runqueue lock held. */
void cozk_pause_switch_out(struct cozk_thread *t, u64 now);
void cozk_pause_switch_in(struct cozk_thread *t, u64 now);

#endif
