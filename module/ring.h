/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-CPU rings of records that user space maps; see include/uapi/cozk_ring.h for the protocol. */
#ifndef COZK_RING_H
#define COZK_RING_H

#include <linux/types.h>

#include "../include/uapi/cozk_ring.h"

struct cozk_session;
struct cozk_thread;
struct vm_area_struct;

/* Context: process, may sleep. */
int cozk_ring_create(struct cozk_session *s);
void cozk_ring_destroy(struct cozk_session *s);
int cozk_ring_mmap(struct cozk_session *s, struct vm_area_struct *vma);

/* Are there unread records?  Context: process. */
bool cozk_ring_pending(struct cozk_session *s);

/*
 * Writes @record into this CPU's ring, with the thread's ids and the CPU filled in; counts a loss
 * when it is full.  Context: interrupts off, not NMI.
 */
void cozk_ring_write(struct cozk_session *s, const struct cozk_thread *t,
		     struct cozk_record *record);

/* A record of @type about @t's process, now.  Context: any but NMI. */
void cozk_ring_event(struct cozk_session *s, const struct cozk_thread *t, u16 type, u64 ip,
		     u64 aux);

#endif
