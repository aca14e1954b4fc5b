/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: one profiling of one process tree, alive as long as its control fd.
 *
 * References: the control fd, every client fd and every thread record hold one.  What ends with
 * the control fd is the *use*: cozk_session_end() stops targets, pauses and sampling and lets all
 * threads go; the memory goes with the last reference.
 */
#ifndef COZK_SESSION_H
#define COZK_SESSION_H

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "../include/uapi/cozk.h"
#include "../include/uapi/cozk_ring.h"
#include "vtime.h"

enum {
	COZK_MAX_THREADS = 8192,
	/*
	 * A thread runs user code only while it owes less than this.  Below it a pause costs more
	 * (an interrupt and a trip through task work) than the exactness it buys; what is left is
	 * not forgotten, it is paid with the next debt.
	 */
	COZK_DEBT_BOUND_NS = 10000,
	/* No thread is held longer than this at once; then it runs until the next sample. */
	COZK_MAX_PAUSE_NS = 100000000,
	/* How long settling waits for the running threads to pay. */
	COZK_MAX_SETTLE_NS = 250000000,
};

/* A table of ranges, replaced as a whole under RCU. */
struct cozk_ranges {
	struct rcu_head rcu;
	u32 count;
	struct cozk_span ranges[];
};

/* What one CPU keeps for one session.  Only that CPU touches it, with interrupts off. */
struct cozk_session_cpu {
	struct cozk_ring_head *ring; /* head page, then the records */
	u64 left_ns;		     /* of the sample clock until the next sample */
	u64 run_ns;		     /* CPU time since the last sample, before clock_start */
	u64 unpublished_ns;	     /* weight of samples that got no record of their own */
	u64 window_id;		     /* the window run_ns was collected in */
	u64 random;		     /* xorshift state for the jitter */

	/* The last thread of the session that ran here, for rule 4. */
	u64 left_at;   /* when it gave up the CPU */
	u64 left_held; /* its held then */

	/* Totals. */
	u64 samples;
	u64 window_samples; /* of the window window_id */
	u64 window_ns;
	u64 pauses;
	u64 paused_ns;
	u64 max_pause_ns;
};

struct cozk_session {
	struct kref kref;
	u32 number; /* since the module was loaded, for netlink */
	u64 born;
	const struct cred *cred; /* of the opener: what it may hold and see */
	pid_t owner;		 /* pid in the initial namespace, for netlink */
	char owner_comm[TASK_COMM_LEN];
	bool kernel_ip;	      /* the opener may see kernel addresses */
	bool ptrace_any;      /* the opener may hold any task */
	struct list_head all; /* on the list of sessions, under its mutex */

	/*
	 * control serialises the ioctls that change the session; it may be held while sleeping,
	 * for as long as a window.  Nothing that a profiled thread does takes it.
	 */
	struct mutex control;
	bool busy;  /* a window is open or settling; written under control */
	bool ended; /* written once, read everywhere; only ever becomes true */

	/* ledger guards vtime and every record's vt; innermost lock, taken with interrupts off. */
	raw_spinlock_t ledger;
	struct vtime_session vtime;
	bool active;   /* debts may exist: in a window with a speedup, and settling */
	u64 window_id; /* of the open window; 0: none */
	u64 window_start;
	u64 windows; /* opened so far */

	/* threads guards the list of records; readers may also use RCU. */
	raw_spinlock_t threads_lock;
	struct list_head threads;
	u32 threads_alive;
	atomic_t processes_alive;
	unsigned long *processes; /* a bit per pid: of the threads that exit as one, one counts */
	u64 threads_seen;
	atomic64_t threads_lost;
	atomic64_t left_setid;
	atomic_t next_space;

	u64 period_ns;	      /* of the sample clock, 0: off */
	u64 window_period_ns; /* the same inside the open window */
	struct cozk_pmu *pmu; /* sampling by perf events instead, under control */

	struct cozk_ranges __rcu *target;
	struct xarray scopes; /* space -> struct cozk_ranges */

	struct cozk_session_cpu __percpu *cpu;
	void *rings; /* vmalloc area that user space maps */
	u32 ring_records;
	u64 ring_stride;

	struct cozk_progress *progress;

	/* Woken when the last thread is gone; by irq work, as that is under a runqueue lock. */
	wait_queue_head_t wait;
	struct irq_work wake;
};

/* Context for all: process, may sleep. */
struct cozk_session *cozk_session_create(void);
void cozk_session_end(struct cozk_session *s);
void cozk_session_get(struct cozk_session *s);

/* Context: any; the last put frees from a work item. */
void cozk_session_put(struct cozk_session *s);

/* May the session's opener hold @task, whose program is @mm's?  Context: any, @task pinned. */
bool cozk_session_may_hold(const struct cozk_session *s, struct task_struct *task,
			   struct mm_struct *mm);

/* Calls @fn for every session until it returns non-zero.  Context: process, may sleep. */
int cozk_session_for_each(int (*fn)(struct cozk_session *s, void *data), void *data);

/*
 * The process @pid is in the session, or has left it.  Return true for the call that made the
 * difference.  Context: any.
 */
bool cozk_session_process_born(struct cozk_session *s, pid_t pid);
bool cozk_session_process_gone(struct cozk_session *s, pid_t pid);

/* Fills the totals.  Context: process. */
void cozk_session_status(struct cozk_session *s, struct cozk_status *status);

static inline bool cozk_session_ended(const struct cozk_session *s)
{
	return READ_ONCE(s->ended);
}

#endif
