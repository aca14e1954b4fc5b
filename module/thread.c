// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "hooks.h"
#include "pause.h"
#include "progress.h"
#include "ring.h"
#include "sample.h"
#include "session.h"
#include "thread.h"

enum { TABLE_BITS = 12, REAP_INTERVAL_MS = 50 };

struct bucket {
	raw_spinlock_t lock;
	struct hlist_head head;
};

static struct bucket table[1 << TABLE_BITS];
static struct kmem_cache *cache;
static LLIST_HEAD(dead_records);
static atomic_t records = ATOMIC_INIT(0);
static void reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(reaper, reap);
static struct workqueue_struct *reaper_queue;

static struct bucket *bucket_of(const struct task_struct *task)
{
	return &table[hash_ptr(task, TABLE_BITS)];
}

/* Runs while any record exists: records cannot be freed where they die. */
static void reap(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&dead_records);
	struct cozk_thread *t, *next;

	if (list)
		synchronize_rcu();
	llist_for_each_entry_safe(t, next, list, dead) {
		put_task_struct(t->task);
		cozk_session_put(t->session);
		kmem_cache_free(cache, t);
		atomic_dec(&records);
		module_put(THIS_MODULE);
	}
	if (atomic_read(&records))
		queue_delayed_work(reaper_queue, &reaper, msecs_to_jiffies(REAP_INTERVAL_MS));
}

int cozk_thread_setup(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		raw_spin_lock_init(&table[i].lock);
		INIT_HLIST_HEAD(&table[i].head);
	}
	cache = KMEM_CACHE(cozk_thread, 0);
	if (!cache)
		return -ENOMEM;
	reaper_queue = alloc_workqueue("cozk", WQ_UNBOUND, 1);
	if (!reaper_queue) {
		kmem_cache_destroy(cache);
		return -ENOMEM;
	}
	return 0;
}

/* Every record pins the module, so by now there is none and the reaper has nothing to do. */
void cozk_thread_cleanup(void)
{
	cancel_delayed_work_sync(&reaper);
	destroy_workqueue(reaper_queue);
	kmem_cache_destroy(cache);
}

struct cozk_thread *cozk_thread_find(struct task_struct *task)
{
	struct cozk_thread *t;

	hlist_for_each_entry_rcu(t, &bucket_of(task)->head, hash)
		if (t->task == task)
			return t;
	return NULL;
}

void cozk_thread_get(struct cozk_thread *t)
{
	refcount_inc(&t->refs);
}

void cozk_thread_put(struct cozk_thread *t)
{
	if (refcount_dec_and_test(&t->refs))
		llist_add(&t->dead, &dead_records);
}

static struct cozk_thread *make(struct cozk_session *s, struct task_struct *task,
				struct cozk_thread *creator, bool new_space)
{
	struct cozk_thread *t = kmem_cache_zalloc(cache, GFP_NOWAIT | __GFP_NOWARN);

	if (!t)
		return NULL;
	refcount_set(&t->refs, 1);
	t->task = get_task_struct(task);
	t->session = s;
	t->pid = task->tgid;
	t->tid = task->pid;
	t->lane = -1;
	/* A child is about to be put on a runqueue; of an adopted thread the next switch tells. */
	if (creator)
		t->state = COZK_RUNNABLE;
	else
		t->state = COZK_BLOCKED;
	t->since = ktime_get_mono_fast_ns();
	if (new_space) {
		t->space = atomic_inc_return(&s->next_space);
		t->origin = creator ? creator->space : 0;
	} else {
		t->space = creator->space;
		t->origin = creator->origin;
	}
	cozk_pause_init(t);
	return t;
}

/* A task that has a record already (of whatever session) gets no second one. */
static int insert_hash(struct cozk_thread *t)
{
	struct bucket *b = bucket_of(t->task);
	unsigned long flags;
	int err = -EBUSY;

	raw_spin_lock_irqsave(&b->lock, flags);
	if (!cozk_thread_find(t->task)) {
		hlist_add_head_rcu(&t->hash, &b->head);
		err = 0;
	}
	raw_spin_unlock_irqrestore(&b->lock, flags);
	return err;
}

/* The session's side: refuses when it has ended or is full. */
static int insert_list(struct cozk_thread *t)
{
	struct cozk_session *s = t->session;
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&s->threads_lock, flags);
	if (s->ended) {
		err = -ENODEV;
	} else if (s->threads_alive >= COZK_MAX_THREADS) {
		err = -ENOSPC;
	} else {
		list_add_tail_rcu(&t->list, &s->threads);
		s->threads_alive++;
		s->threads_seen++;
	}
	raw_spin_unlock_irqrestore(&s->threads_lock, flags);
	return err;
}

static void remove_list(struct cozk_thread *t)
{
	struct cozk_session *s = t->session;
	unsigned long flags;
	bool last;

	raw_spin_lock_irqsave(&s->threads_lock, flags);
	list_del_rcu(&t->list);
	last = --s->threads_alive == 0;
	raw_spin_unlock_irqrestore(&s->threads_lock, flags);
	if (last)
		irq_work_queue(&s->wake);
}

int cozk_thread_add(struct cozk_session *s, struct task_struct *task, struct cozk_thread *creator,
		    bool new_space)
{
	struct cozk_thread *t = make(s, task, creator, new_space);
	unsigned long flags;
	int err;

	if (!t)
		return -ENOMEM;
	raw_spin_lock_irqsave(&s->ledger, flags);
	vtime_thread_init(&t->vt, &s->vtime, creator ? &creator->vt : NULL);
	raw_spin_unlock_irqrestore(&s->ledger, flags);

	err = insert_list(t);
	if (err)
		goto free;
	/* From here on the reaper frees it, and the session must stay as long. */
	cozk_session_get(s);
	__module_get(THIS_MODULE);
	if (atomic_inc_return(&records) == 1)
		queue_delayed_work(reaper_queue, &reaper, 0);
	err = insert_hash(t);
	if (err) {
		remove_list(t);
		cozk_thread_put(t);
		return err;
	}
	/* cozk_thread_retire_all() passes over a record that is on the list and not yet hashed. */
	if (cozk_session_ended(s)) {
		cozk_thread_retire(t);
		return -ENODEV;
	}
	return 0;
free:
	put_task_struct(t->task);
	kmem_cache_free(cache, t);
	return err;
}

/* Out of table and list; true for the one caller that did it and now owns the table's reference. */
static bool take_out(struct cozk_thread *t)
{
	struct bucket *b = bucket_of(t->task);
	unsigned long flags;
	bool was_in;

	raw_spin_lock_irqsave(&b->lock, flags);
	was_in = !hlist_unhashed(&t->hash);
	if (was_in)
		hlist_del_init_rcu(&t->hash);
	raw_spin_unlock_irqrestore(&b->lock, flags);
	if (!was_in)
		return false;
	cozk_progress_free_lane(t);
	remove_list(t);
	return true;
}

void cozk_thread_retire(struct cozk_thread *t)
{
	if (take_out(t))
		cozk_thread_put(t);
}

/*
 * Retires the records of the process @pid, 0: all.  Their threads may be running: a record must
 * not be put, and so be freed, before the CPUs have forgotten it.
 */
static void retire_running(struct cozk_session *s, pid_t pid)
{
	struct cozk_thread *t, *next;
	LLIST_HEAD(taken);

	rcu_read_lock();
	list_for_each_entry_rcu(t, &s->threads, list)
		if ((!pid || t->pid == pid) && take_out(t))
			llist_add(&t->dead, &taken);
	rcu_read_unlock();
	cozk_sample_forget();
	llist_for_each_entry_safe(t, next, llist_del_all(&taken), dead)
		cozk_thread_put(t);
}

void cozk_thread_retire_all(struct cozk_session *s)
{
	/* ended is set: the list only shrinks. */
	retire_running(s, 0);
	synchronize_rcu();
}

void cozk_thread_flush(void)
{
	mod_delayed_work(reaper_queue, &reaper, 0);
	flush_delayed_work(&reaper);
}

/* io workers are in the thread list of their process, but never run its code. */
static bool runs_user_code(const struct task_struct *task)
{
	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER | PF_EXITING));
}

static int adopt_thread(struct cozk_session *s, struct task_struct *task,
			struct cozk_thread **first)
{
	struct cozk_thread *t;
	int err;

	if (!runs_user_code(task))
		return 0;
	err = cozk_thread_add(s, task, *first, !*first);
	/* A thread that was born since the fork hook sees this process is there already. */
	if (err)
		return err == -EBUSY && *first ? 0 : err;
	/* Pairs with the exiting thread: it sees the record in its last switch, or we see this. */
	smp_mb();
	t = cozk_thread_find(task);
	if (t && !runs_user_code(task))
		cozk_thread_retire(t);
	else if (t && !*first)
		*first = t;
	return 0;
}

static int adopt_threads(struct cozk_session *s, struct task_struct *leader)
{
	struct cozk_thread *first = NULL;
	struct task_struct *task;
	int err = 0;

	rcu_read_lock();
	for_each_thread(leader, task) {
		err = adopt_thread(s, task, &first);
		if (err)
			break;
	}
	if (!err && first)
		cozk_ring_event(s, first, COZK_RECORD_EXEC, 0, 0);
	rcu_read_unlock();
	return err ?: first ? 0 : -ESRCH;
}

static int adopt_process(struct cozk_session *s, struct task_struct *leader)
{
	/* Before its threads, so that an exit in between takes it back. */
	bool born = cozk_session_process_born(s, leader->tgid);
	int err = adopt_threads(s, leader);

	if (!born)
		return err ?: -EBUSY;
	if (err)
		retire_running(s, leader->tgid);
	/* Exited before there was a record for the hook to find. */
	if (err || !atomic_read(&leader->signal->live))
		cozk_session_process_gone(s, leader->tgid);
	/* Those that are running will not be switched in first. */
	if (!err)
		cozk_sample_restart(s);
	return err;
}

/* Any thread's will do: the first may have exited before the others. */
static struct mm_struct *get_process_mm(struct task_struct *leader)
{
	struct task_struct *task;
	struct mm_struct *mm = NULL;

	rcu_read_lock();
	for_each_thread(leader, task) {
		if (runs_user_code(task))
			mm = get_task_mm(task);
		if (mm)
			break;
	}
	rcu_read_unlock();
	return mm;
}

int cozk_thread_adopt(struct cozk_session *s, pid_t pid)
{
	struct task_struct *task;
	struct mm_struct *mm;
	struct pid *p = find_get_pid(pid);
	int err = -ESRCH;

	task = get_pid_task(p, PIDTYPE_TGID);
	put_pid(p);
	if (!task)
		return -ESRCH;
	mm = get_process_mm(task);
	if (mm) {
		err = cozk_session_may_hold(s, task, mm) ? adopt_process(s, task) : -EPERM;
		mmput(mm);
	} else if (task->flags & PF_KTHREAD) {
		err = -EOPNOTSUPP;
	}
	put_task_struct(task);
	return err;
}
