// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "netlink.h"
#include "pause.h"
#include "progress.h"
#include "sample.h"
#include "session.h"
#include "thread.h"
#include "window.h"

enum { SETTLE_POLL_US = 200 };

/* Clock, due and counters of one instant: nothing of ours can move while the ledger is held. */
struct instant {
	u64 time;
	u64 due;
	u32 points;
	u64 totals[COZK_MAX_POINTS];
};

static void take_instant(struct cozk_session *s, struct instant *at, u32 points)
{
	at->time = ktime_get_mono_fast_ns();
	at->due = s->vtime.due;
	at->points = points;
	cozk_progress_read(s->progress, at->totals, points);
}

static void open_window(struct cozk_session *s, const struct cozk_window *w, struct instant *at)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&s->ledger, flags);
	vtime_open(&s->vtime, w->speedup);
	take_instant(s, at, cozk_progress_count(s->progress));
	WRITE_ONCE(s->window_start, at->time);
	WRITE_ONCE(s->window_period_ns, w->period_ns);
	WRITE_ONCE(s->active, w->speedup > 0);
	WRITE_ONCE(s->window_id, ++s->windows);
	raw_spin_unlock_irqrestore(&s->ledger, flags);
}

/* Points registered inside the window started at 0. */
static void close_window(struct cozk_session *s, struct instant *at)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&s->ledger, flags);
	take_instant(s, at, cozk_progress_count(s->progress));
	WRITE_ONCE(s->window_id, 0);
	vtime_close(&s->vtime);
	raw_spin_unlock_irqrestore(&s->ledger, flags);
}

static u32 wait_for_end(struct cozk_session *s, u64 duration)
{
	int err = wait_event_interruptible_hrtimeout(s->wait, !READ_ONCE(s->threads_alive),
						     ns_to_ktime(duration));

	if (!err)
		return COZK_END_EXIT;
	return err == -ETIME ? COZK_END_DURATION : COZK_END_SIGNAL;
}

/* A blocked thread cannot pay; what it waits for may never come. */
static bool could_pay(const struct cozk_thread *t)
{
	return READ_ONCE(t->state) != COZK_BLOCKED || test_bit(COZK_SLEEPING, &t->flags);
}

static bool anyone_owes(struct cozk_session *s)
{
	struct cozk_thread *t;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(t, &s->threads, list) {
		if (could_pay(t) && cozk_pause_debt_hint(t) > COZK_DEBT_BOUND_NS) {
			found = true;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/* What the running threads owe they pay; what is left after that is dropped, and counted. */
static void settle(struct cozk_session *s, struct cozk_window *w)
{
	u64 start = ktime_get_ns();
	struct cozk_thread *t;
	unsigned long flags;
	u64 debt;

	cozk_pause_kick_all(s);
	while (anyone_owes(s) && ktime_get_ns() - start < COZK_MAX_SETTLE_NS &&
	       !fatal_signal_pending(current)) {
		usleep_range(SETTLE_POLL_US, 2 * SETTLE_POLL_US);
		cozk_pause_kick_all(s);
	}

	raw_spin_lock_irqsave(&s->ledger, flags);
	WRITE_ONCE(s->active, false);
	raw_spin_unlock_irqrestore(&s->ledger, flags);
	rcu_read_lock();
	list_for_each_entry_rcu(t, &s->threads, list) {
		raw_spin_lock_irqsave(&s->ledger, flags);
		w->surplus_ns += t->vt.held > s->vtime.due ? t->vt.held - s->vtime.due : 0;
		debt = vtime_settle(&s->vtime, &t->vt);
		if (could_pay(t))
			w->forgiven_ns += debt;
		t->external_debt = 0;
		raw_spin_unlock_irqrestore(&s->ledger, flags);
	}
	rcu_read_unlock();
	cozk_pause_release_all(s);
	WRITE_ONCE(s->window_period_ns, 0);
	w->settle_ns = ktime_get_ns() - start;
}

static void fill_counts(struct cozk_session *s, struct cozk_window *w, struct cozk_count *counts,
			const struct instant *open, const struct instant *close)
{
	u32 i;

	w->counts_len = min(close->points, w->counts_max);
	for (i = 0; i < w->counts_len; i++)
		counts[i] = (struct cozk_count){
			.point = i,
			.type = cozk_progress_type(s->progress, i),
			.start = i < open->points ? open->totals[i] : 0,
			.end = close->totals[i],
		};
}

static void fill_result(struct cozk_session *s, struct cozk_window *w, const struct instant *open,
			const struct instant *close)
{
	int cpu;

	w->id = s->windows;
	w->threads = READ_ONCE(s->threads_alive);
	w->start_ns = open->time;
	w->end_ns = close->time;
	w->due_start_ns = open->due;
	w->due_end_ns = close->due;
	for_each_possible_cpu(cpu) {
		const struct cozk_session_cpu *sc = per_cpu_ptr(s->cpu, cpu);

		if (READ_ONCE(sc->window_id) != w->id)
			continue;
		w->samples += READ_ONCE(sc->window_samples);
		w->sample_ns += READ_ONCE(sc->window_ns);
	}
	w->hits = s->vtime.hits;
	w->hit_ns = s->vtime.hit_ns;
	/* What was held too long set off later debts too, but for what is left of it. */
	w->owed_ns = s->vtime.held_ns - min(s->vtime.held_ns, w->surplus_ns);
	w->paid_ns = s->vtime.held_ns;
	w->credited_ns = s->vtime.credited_ns;
}

static u64 pauses_of(struct cozk_session *s)
{
	u64 pauses = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		pauses += READ_ONCE(per_cpu_ptr(s->cpu, cpu)->pauses);
	return pauses;
}

int cozk_window_run(struct cozk_session *s, struct cozk_window *w, struct cozk_count *counts)
{
	struct instant *open, *close;
	u64 pauses = pauses_of(s);

	if (!READ_ONCE(s->threads_alive))
		return -ENOENT;
	if (w->counts_max < cozk_progress_count(s->progress))
		return -ENOSPC;
	open = kmalloc_array(2, sizeof(*open), GFP_KERNEL);
	if (!open)
		return -ENOMEM;
	close = open + 1;

	WRITE_ONCE(s->busy, true);
	open_window(s, w, open);
	cozk_sample_restart(s);
	w->end_reason = wait_for_end(s, w->duration_ns);
	close_window(s, close);
	settle(s, w);
	WRITE_ONCE(s->busy, false);
	fill_result(s, w, open, close);
	w->pauses = pauses_of(s) - pauses;
	fill_counts(s, w, counts, open, close);
	kfree(open);
	cozk_netlink_window(s, w, counts);
	return 0;
}
