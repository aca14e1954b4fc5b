/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges: one thread lets another go on, by waking it or by giving up a CPU (rules 3 to 6).
 * Context for all: interrupts off, a runqueue's or the task's own lock held.
 */
#ifndef COZK_EDGE_H
#define COZK_EDGE_H

#include <linux/types.h>

struct cozk_thread;

/* @t is about to be woken by @waker, a thread in task context that has a record, or NULL. */
void cozk_edge_waking(struct cozk_thread *t, struct cozk_thread *waker, u64 now);

/* @t gives up this CPU, still runnable or not. */
void cozk_edge_switch_out(struct cozk_thread *t, u64 now, bool runnable);

/* @t gets this CPU. */
void cozk_edge_switch_in(struct cozk_thread *t, u64 now);

#endif
