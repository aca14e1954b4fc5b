/* SPDX-License-Identifier: GPL-2.0-only */
/* From the interrupted user registers to the frame that is charged with the sample. */
#ifndef COZK_CALLCHAIN_H
#define COZK_CALLCHAIN_H

#include <linux/types.h>

struct cozk_session;
struct cozk_thread;
struct pt_regs;

/*
 * The user address that a sample of @t is charged to: the interrupted one when it is in scope,
 * else the nearest caller in scope, else the interrupted one again.  Sets COZK_SAMPLE_SCOPED and
 * COZK_SAMPLE_CALLER in @flags.  Bounded; reads user memory without taking faults.
 * Context: interrupts off, @t is current, under rcu_read_lock().
 */
u64 cozk_callchain_find(struct cozk_session *s, const struct cozk_thread *t, struct pt_regs *user,
			u16 *flags);

#endif
