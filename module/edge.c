// SPDX-License-Identifier: GPL-2.0-only
#include "edge.h"
#include "session.h"
#include "thread.h"

static void by_wakeup(struct cozk_session *s, struct cozk_thread *t, struct cozk_thread *waker,
		      u64 wait)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&s->ledger, flags);
	if (waker && s->active)
		vtime_edge(&s->vtime, &t->vt, waker->vt.held, wait);
	/*
	 * Rule 5: woken by something outside, t still owes all that accrued.  In the faster world
	 * it would be waiting still, without a CPU, so that part is slept.
	 */
	t->external_debt = waker ? 0 : vtime_debt(&s->vtime, &t->vt);
	raw_spin_unlock_irqrestore(&s->ledger, flags);
}

void cozk_edge_waking(struct cozk_thread *t, struct cozk_thread *waker, u64 now)
{
	struct cozk_session *s = t->session;

	/* Still on its way to sleep (or not even that): nothing was waited for. */
	if (t->state != COZK_BLOCKED)
		return;
	if (waker && (waker->session != s || waker == t))
		waker = NULL;
	if (READ_ONCE(s->active) && !test_bit(COZK_SLEEPING, &t->flags))
		by_wakeup(s, t, waker, now - t->since);
	t->state = COZK_RUNNABLE;
	t->since = now;
	t->woken_at = now;
}

void cozk_edge_switch_out(struct cozk_thread *t, u64 now, bool runnable)
{
	struct cozk_session *s = t->session;
	struct cozk_session_cpu *sc = this_cpu_ptr(s->cpu);

	t->state = runnable ? COZK_RUNNABLE : COZK_BLOCKED;
	t->since = now;
	sc->left_at = now;
	sc->left_held = READ_ONCE(t->vt.held);
}

/*
 * Rule 4, by the last thread of the session that left this CPU: if t had been waiting since
 * before that, it is that thread which kept t off.  What ran here in between, a stranger, is not
 * virtual time's business.
 */
void cozk_edge_switch_in(struct cozk_thread *t, u64 now)
{
	struct cozk_session *s = t->session;
	struct cozk_session_cpu *sc = this_cpu_ptr(s->cpu);

	if (READ_ONCE(s->active) && t->state == COZK_RUNNABLE && sc->left_at > t->since) {
		raw_spin_lock(&s->ledger);
		vtime_edge(&s->vtime, &t->vt, sc->left_held, sc->left_at - t->since);
		raw_spin_unlock(&s->ledger);
	}
	t->state = COZK_RUNNING;
	t->since = now;
}
