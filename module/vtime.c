// SPDX-License-Identifier: GPL-2.0-only
#include "vtime.h"

static u64 paid(const struct vtime_session *s, const struct vtime_thread *t)
{
	return t->held < s->due ? t->held : s->due;
}

void vtime_thread_init(struct vtime_thread *t, const struct vtime_session *s,
		       const struct vtime_thread *creator)
{
	t->held = creator ? creator->held : s->due;
}

void vtime_open(struct vtime_session *s, u32 speedup)
{
	s->speedup = speedup;
	s->hit_ns = 0;
	s->hits = 0;
	s->held_ns = 0;
	s->credited_ns = 0;
}

void vtime_close(struct vtime_session *s)
{
	s->speedup = 0;
}

bool vtime_hit(struct vtime_session *s, struct vtime_thread *t, u64 weight)
{
	u64 credit = div_u64(weight * s->speedup, VTIME_SPEEDUP_ONE);
	/* From paid, not held: an oversleep of t must not become a debt of the others. */
	u64 due = paid(s, t) + credit;

	s->hits++;
	s->hit_ns += weight;
	t->held += credit;
	if (due <= s->due)
		return false;
	s->due = due;
	return true;
}

u64 vtime_debt(const struct vtime_session *s, const struct vtime_thread *t)
{
	return s->due - paid(s, t);
}

void vtime_pause(struct vtime_session *s, struct vtime_thread *t, u64 ns)
{
	s->held_ns += ns;
	t->held += ns;
}

void vtime_edge(struct vtime_session *s, struct vtime_thread *t, u64 giver_held, u64 wait)
{
	u64 held = t->held + wait;
	u64 before;

	if (held > giver_held)
		held = giver_held;
	if (held <= t->held)
		return;
	before = vtime_debt(s, t);
	t->held = held;
	s->credited_ns += before - vtime_debt(s, t);
}

u64 vtime_settle(struct vtime_session *s, struct vtime_thread *t)
{
	u64 debt = vtime_debt(s, t);

	t->held = s->due;
	return debt;
}
