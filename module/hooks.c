// SPDX-License-Identifier: GPL-2.0-only
#include <linux/binfmts.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "edge.h"
#include "hooks.h"
#include "pause.h"
#include "ring.h"
#include "sample.h"
#include "session.h"
#include "thread.h"

static DEFINE_MUTEX(users_mutex);
static unsigned int users;

/*
 * Context of on_switch and on_waking: interrupts off, the runqueue's or the task's own lock held.
 * No wake-up, no allocation, and of our locks only the ledger, the buckets and threads_lock.
 */
static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	struct cozk_thread *from, *to;
	u64 now;

	rcu_read_lock();
	from = cozk_thread_find(prev);
	to = cozk_thread_find(next);
	if (from || to) {
		now = ktime_get_mono_fast_ns();
		if (from) {
			cozk_pause_switch_out(from, now);
			cozk_sample_switch_out(from, now);
			/* Not prev_state: with a signal pending the scheduler took it back. */
			cozk_edge_switch_out(from, now, preempt || !READ_ONCE(prev->__state));
		}
		if (to) {
			cozk_edge_switch_in(to, now);
			cozk_sample_switch_in(to, now);
			cozk_pause_switch_in(to, now);
		}
		if (from && (prev_state & TASK_DEAD))
			cozk_thread_retire(from);
	}
	rcu_read_unlock();
}

static void on_waking(void *data, struct task_struct *task)
{
	struct cozk_thread *t, *waker;

	rcu_read_lock();
	t = cozk_thread_find(task);
	if (t) {
		waker = in_task() ? cozk_thread_find(current) : NULL;
		cozk_edge_waking(t, waker, ktime_get_mono_fast_ns());
	}
	rcu_read_unlock();
}

/* Context: the parent, preemption off; the child has not run yet. */
static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct cozk_thread *creator, *t;
	struct cozk_session *s;
	bool new_process = child->tgid != parent->tgid;

	rcu_read_lock();
	creator = cozk_thread_find(parent);
	if (creator && !(child->flags & (PF_KTHREAD | PF_IO_WORKER))) {
		s = creator->session;
		if (cozk_thread_add(s, child, creator, child->mm != parent->mm))
			atomic64_inc(&s->threads_lost);
		t = cozk_thread_find(child);
		if (t && new_process) {
			cozk_session_process_born(s, child->tgid);
			cozk_ring_event(s, t, COZK_RECORD_FORK, creator->space, creator->pid);
		}
	}
	rcu_read_unlock();
}

/* Context: the thread itself, preemption off; the new program is in place and has not run. */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct cozk_thread *t;
	struct cozk_session *s;

	rcu_read_lock();
	t = cozk_thread_find(task);
	if (t) {
		s = t->session;
		if (bprm->secureexec || !cozk_session_may_hold(s, task, task->mm)) {
			atomic64_inc(&s->left_setid);
			cozk_session_process_gone(s, task->tgid);
			cozk_sample_leave(t);
			cozk_thread_retire(t);
		} else {
			t->space = atomic_inc_return(&s->next_space);
			t->origin = 0;
			t->pid = task->tgid;
			t->tid = task->pid;
			cozk_ring_event(s, t, COZK_RECORD_EXEC, 0, 0);
		}
	}
	rcu_read_unlock();
}

/*
 * The record stays until the last switch: waking a joiner or a reader of our pipes is still to
 * come.  Context: the exiting thread, preemption off.
 */
static void on_exit(void *data, struct task_struct *task COZK_EXIT_GROUP_DEAD)
{
	struct cozk_thread *t;

	rcu_read_lock();
	t = cozk_thread_find(task);
	/* The last ones may all see 0 here. */
	if (t && !atomic_read(&task->signal->live) &&
	    cozk_session_process_gone(t->session, task->tgid)) {
		cozk_ring_event(t->session, t, COZK_RECORD_EXIT, 0,
				task->signal->group_exit_code ?: task->exit_code);
	}
	rcu_read_unlock();
}

/* clang-format off */
static struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} hooks[] = {
	{ "sched_switch", on_switch },
	{ "sched_waking", on_waking },
	{ "sched_process_fork", on_fork },
	{ "sched_process_exec", on_exec },
	{ "sched_process_exit", on_exit },
};
/* clang-format on */

/* The sched tracepoints are not exported by name, so look them up. */
static void match(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
}

int cozk_hooks_setup(void)
{
	int i;

	/* A changed prototype must fail the build, not the machine. */
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_waking(on_waking);
	check_trace_callback_type_sched_process_fork(on_fork);
	check_trace_callback_type_sched_process_exec(on_exec);
	check_trace_callback_type_sched_process_exit(on_exit);

	for_each_kernel_tracepoint(match, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!hooks[i].tp) {
			pr_err("this kernel has no tracepoint %s\n", hooks[i].name);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

static void unregister(int count)
{
	while (count--)
		tracepoint_probe_unregister(hooks[count].tp, hooks[count].probe, NULL);
	tracepoint_synchronize_unregister();
	cozk_sample_quiesce();
}

int cozk_hooks_get(void)
{
	int i, err = 0;

	mutex_lock(&users_mutex);
	if (!users) {
		for (i = 0; i < ARRAY_SIZE(hooks) && !err; i++)
			err = tracepoint_probe_register(hooks[i].tp, hooks[i].probe, NULL);
		if (err)
			unregister(i - 1);
	}
	if (!err)
		users++;
	mutex_unlock(&users_mutex);
	return err;
}

void cozk_hooks_put(void)
{
	mutex_lock(&users_mutex);
	if (!--users)
		unregister(ARRAY_SIZE(hooks));
	mutex_unlock(&users_mutex);
}
