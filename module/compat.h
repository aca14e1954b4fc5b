/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only file with kernel conditions.  Each difference is one adapter, found by a compile
 * probe (probes/), with the commit that made it.
 */
#ifndef COZK_COMPAT_H
#define COZK_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>

#include "cozk_probes.h"

/* v6.15, 908a1d775422 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
#ifndef COZK_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/* v6.4, "fork/vm: Move common PF_IO_WORKER behavior to new flag"; a macro tells by itself. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER 0
#endif

/* v6.16: the sched_process_exit tracepoint tells whether the whole group is dead. */
#ifdef COZK_HAVE_EXIT_GROUP_DEAD
#define COZK_EXIT_GROUP_DEAD , bool group_dead
#else
#define COZK_EXIT_GROUP_DEAD
#endif

/* v6.3, bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions") */
static inline void cozk_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef COZK_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

#endif
