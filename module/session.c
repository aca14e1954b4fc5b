// SPDX-License-Identifier: GPL-2.0-only
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/coredump.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/threads.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>

#include "hooks.h"
#include "pause.h"
#include "pmu.h"
#include "progress.h"
#include "ring.h"
#include "sample.h"
#include "session.h"
#include "thread.h"

static DEFINE_MUTEX(sessions_mutex);
static LIST_HEAD(sessions);
static u32 sessions_made;

static void wake_waiters(struct irq_work *work)
{
	struct cozk_session *s = container_of(work, struct cozk_session, wake);

	wake_up_all(&s->wait);
}

static void init_fields(struct cozk_session *s)
{
	kref_init(&s->kref);
	mutex_init(&s->control);
	raw_spin_lock_init(&s->ledger);
	raw_spin_lock_init(&s->threads_lock);
	INIT_LIST_HEAD(&s->threads);
	INIT_LIST_HEAD(&s->all);
	xa_init(&s->scopes);
	init_waitqueue_head(&s->wait);
	init_irq_work(&s->wake, wake_waiters);
	s->born = ktime_get_ns();
	s->owner = current->tgid;
	get_task_comm(s->owner_comm, current);
	s->kernel_ip = perfmon_capable();
	s->ptrace_any = capable(CAP_SYS_PTRACE);
}

static void free_session(struct cozk_session *s)
{
	struct cozk_ranges *scope;
	unsigned long space;

	irq_work_sync(&s->wake);
	xa_for_each(&s->scopes, space, scope)
		kvfree(scope);
	xa_destroy(&s->scopes);
	kvfree(rcu_dereference_protected(s->target, 1));
	cozk_progress_destroy(s->progress);
	cozk_ring_destroy(s);
	free_percpu(s->cpu);
	vfree(s->processes);
	if (s->cred)
		put_cred(s->cred);
	kfree(s);
}

struct cozk_session *cozk_session_create(void)
{
	struct cozk_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!s)
		return ERR_PTR(-ENOMEM);
	init_fields(s);
	s->cred = get_current_cred();
	s->cpu = alloc_percpu_gfp(struct cozk_session_cpu, GFP_KERNEL_ACCOUNT);
	s->processes = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	if (!s->cpu || !s->processes)
		goto free;
	err = cozk_ring_create(s);
	if (err)
		goto free;
	s->progress = cozk_progress_create();
	err = -ENOMEM;
	if (!s->progress)
		goto free;
	cozk_sample_init(s);
	err = cozk_hooks_get();
	if (err)
		goto free;

	mutex_lock(&sessions_mutex);
	s->number = ++sessions_made;
	list_add_tail(&s->all, &sessions);
	mutex_unlock(&sessions_mutex);
	return s;
free:
	free_session(s);
	return ERR_PTR(err);
}

/*
 * Order matters: first nobody may join, then nothing new may be owed or held, then the records
 * go, then the hooks.  Threads in a pause see `ended` and leave by themselves.
 */
void cozk_session_end(struct cozk_session *s)
{
	unsigned long flags;

	mutex_lock(&sessions_mutex);
	list_del_init(&s->all);
	mutex_unlock(&sessions_mutex);

	raw_spin_lock_irqsave(&s->threads_lock, flags);
	WRITE_ONCE(s->ended, true);
	raw_spin_unlock_irqrestore(&s->threads_lock, flags);

	raw_spin_lock_irqsave(&s->ledger, flags);
	vtime_close(&s->vtime);
	WRITE_ONCE(s->active, false);
	raw_spin_unlock_irqrestore(&s->ledger, flags);
	cozk_pause_release_all(s);

	WRITE_ONCE(s->period_ns, 0);
	cozk_pmu_stop(s);
	cozk_thread_retire_all(s);
	cozk_hooks_put();
	cozk_thread_flush();
	wake_up_all(&s->wait);
	cozk_session_put(s);
}

void cozk_session_get(struct cozk_session *s)
{
	kref_get(&s->kref);
}

static void release(struct kref *kref)
{
	free_session(container_of(kref, struct cozk_session, kref));
}

void cozk_session_put(struct cozk_session *s)
{
	kref_put(&s->kref, release);
}

/*
 * The rule of ptrace_may_access() (which modules cannot call): the same user and group in all
 * three roles and a dumpable program, or CAP_SYS_PTRACE.
 */
bool cozk_session_may_hold(const struct cozk_session *s, struct task_struct *task,
			   struct mm_struct *mm)
{
	const struct cred *mine = s->cred;
	const struct cred *theirs;
	bool same;

	if (s->ptrace_any)
		return true;
	if (get_dumpable(mm) != SUID_DUMP_USER)
		return false;
	rcu_read_lock();
	theirs = __task_cred(task);
	same = uid_eq(mine->uid, theirs->euid) && uid_eq(mine->uid, theirs->suid) &&
	       uid_eq(mine->uid, theirs->uid) && gid_eq(mine->gid, theirs->egid) &&
	       gid_eq(mine->gid, theirs->sgid) && gid_eq(mine->gid, theirs->gid) &&
	       cap_issubset(theirs->cap_permitted, mine->cap_permitted);
	rcu_read_unlock();
	return same;
}

int cozk_session_for_each(int (*fn)(struct cozk_session *s, void *data), void *data)
{
	struct cozk_session *s;
	int err = 0;

	mutex_lock(&sessions_mutex);
	list_for_each_entry(s, &sessions, all) {
		err = fn(s, data);
		if (err)
			break;
	}
	mutex_unlock(&sessions_mutex);
	return err;
}

bool cozk_session_process_born(struct cozk_session *s, pid_t pid)
{
	if (test_and_set_bit(pid, s->processes))
		return false;
	atomic_inc(&s->processes_alive);
	return true;
}

bool cozk_session_process_gone(struct cozk_session *s, pid_t pid)
{
	if (!test_and_clear_bit(pid, s->processes))
		return false;
	atomic_dec(&s->processes_alive);
	return true;
}

void cozk_session_status(struct cozk_session *s, struct cozk_status *status)
{
	int cpu;

	*status = (struct cozk_status){
		.threads = READ_ONCE(s->threads_alive),
		.processes = atomic_read(&s->processes_alive),
		.threads_seen = READ_ONCE(s->threads_seen),
		.threads_lost = atomic64_read(&s->threads_lost),
		.windows = READ_ONCE(s->windows),
		.due_ns = READ_ONCE(s->vtime.due),
		.left_setid = atomic64_read(&s->left_setid),
	};
	for_each_possible_cpu(cpu) {
		const struct cozk_session_cpu *sc = per_cpu_ptr(s->cpu, cpu);

		status->samples += READ_ONCE(sc->samples);
		status->samples_lost += READ_ONCE(sc->ring->lost);
		status->pauses += READ_ONCE(sc->pauses);
		status->paused_ns += READ_ONCE(sc->paused_ns);
		status->max_pause_ns = max(status->max_pause_ns, READ_ONCE(sc->max_pause_ns));
	}
}
