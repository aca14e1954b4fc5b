/* SPDX-License-Identifier: GPL-2.0-only */
/* Progress points: names, and counters in pages that the profiled program writes itself. */
#ifndef COZK_PROGRESS_H
#define COZK_PROGRESS_H

#include <linux/types.h>

#include "../include/uapi/cozk.h"

struct cozk_progress;
struct cozk_thread;
struct vm_area_struct;

/* Context for all but read: process, may sleep. */
struct cozk_progress *cozk_progress_create(void);
void cozk_progress_destroy(struct cozk_progress *p);
int cozk_progress_mmap(struct cozk_progress *p, struct vm_area_struct *vma);

/* Finds or makes the point @point->{type,name}; fills index and total. */
int cozk_progress_point(struct cozk_progress *p, struct cozk_point *point);

/* Copies up to @max points to user space; returns how many there are, or an error. */
int cozk_progress_list(struct cozk_progress *p, struct cozk_point __user *to, u32 max);

/* The lane of thread @t: its own, or -ENOSPC. */
int cozk_progress_lane(struct cozk_progress *p, struct cozk_thread *t);

/* @t is gone: its lane may go to another thread, its counts stay.  Context: any but NMI. */
void cozk_progress_free_lane(struct cozk_thread *t);

u32 cozk_progress_count(struct cozk_progress *p);

/* The type of point @index < count. */
u32 cozk_progress_type(struct cozk_progress *p, u32 index);

/*
 * Totals of the points 0 … @count - 1.  Context: any; bounded by COZK_MAX_POINTS *
 * (COZK_MAX_LANES + 1) loads, in practice points used * threads that ever counted.
 */
void cozk_progress_read(struct cozk_progress *p, u64 *totals, u32 count);

#endif
