/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One record per thread of a session, found by its task.
 *
 * A record is made in the fork (or adopt) and is in the table until the thread's last switch;
 * the table holds one reference, a queued pause another.  Records are freed by the reaper, a
 * work item, since their last reference may go under a runqueue lock.
 */
#ifndef COZK_THREAD_H
#define COZK_THREAD_H

#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include "vtime.h"

struct cozk_session;

enum cozk_thread_state {
	COZK_RUNNING,
	COZK_RUNNABLE, /* waits for a CPU */
	COZK_BLOCKED,
};

/* bits of cozk_thread.flags */
enum {
	COZK_PAUSE_QUEUED, /* its task work is queued */
	COZK_PAUSING,	   /* in its pause */
	COZK_HOLDING,	   /* … keeping the CPU: the time counts as held, not as run */
	COZK_SLEEPING,	   /* … asleep: its wake-up is no event of the program */
};

struct cozk_thread {
	struct hlist_node hash;	  /* under the bucket's lock; RCU readers */
	struct list_head list;	  /* under session->threads_lock; RCU readers */
	struct task_struct *task; /* pinned */
	struct cozk_session *session;
	refcount_t refs;
	unsigned long flags;

	struct vtime_thread vt; /* under session->ledger */
	u64 external_debt;	/* the same: accrued while something outside held it up */

	/*
	 * Written by the switch and waking hooks only; those are ordered by the scheduler's own
	 * locks (a thread is switched out before another CPU may enqueue it).
	 */
	enum cozk_thread_state state;
	u64 since;	/* when the state began */
	u64 woken_at;	/* the last wake-up */
	u64 told_at;	/* when it was told to pause, 0: while in the kernel */
	u64 hold_start; /* when holding the CPU (again) began */

	u32 space;  /* address space id */
	u32 origin; /* the space it was copied from, 0 after exec */
	pid_t pid;  /* process id, initial namespace */
	pid_t tid;
	int lane; /* its counter lane, -1: none; under the progress lock */

	struct callback_head pause; /* task work */
	struct llist_node dead;	    /* reaper's list */
	struct rcu_head rcu;
};

int cozk_thread_setup(void);
void cozk_thread_cleanup(void);

/* Finds the record of @task.  Context: any but NMI, under rcu_read_lock(). */
struct cozk_thread *cozk_thread_find(struct task_struct *task);

/*
 * Makes the record of @task in @s, as a child of @creator (or none), in a new address space if
 * @new_space (always without @creator).  Context: rcu_read_lock(), not a runqueue's lock.
 * Errors: -ENOMEM, -ENOSPC (limit), -EBUSY (@task has a record).
 */
int cozk_thread_add(struct cozk_session *s, struct task_struct *task, struct cozk_thread *creator,
		    bool new_space);

/* Takes the record out of table and list.  Safe to call twice.  Context: any but NMI. */
void cozk_thread_retire(struct cozk_thread *t);

/* Retires every record of an ending session.  Context: process, sleeps for grace periods. */
void cozk_thread_retire_all(struct cozk_session *s);

/* Frees what has been put, so that the module is not pinned by it.  Context: process, sleeps. */
void cozk_thread_flush(void);

void cozk_thread_get(struct cozk_thread *t);
void cozk_thread_put(struct cozk_thread *t); /* Context: any but NMI */

/* Adds all threads of the process @pid.  Context: process, may sleep. */
int cozk_thread_adopt(struct cozk_session *s, pid_t pid);

#endif
