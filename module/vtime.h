/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger of virtual time (pure: no kernel call, also built into the unit tests and the
 * simulator).
 *
 * Every thread has `held`: the credit for its own hits, plus the time it was really held back,
 * plus what it waited for threads that had been.  The session has `due`: how far the
 * most-advanced thread has been credited.  Then
 *
 *   paid    = min(held, due)		what counts against due
 *   surplus = held - paid		held too long; sets off later debts by itself
 *   debt    = due - paid
 *
 * and the virtual time of a thread is t - held, of the session t - due.  Keeping the sum of paid
 * and surplus in one number makes "a surplus is spent first" and "whoever waited for a thread is
 * as late as that thread" hold without a special case.
 *
 * Nothing here locks: the caller holds whatever guards the session's ledger.
 */
#ifndef COZK_VTIME_H
#define COZK_VTIME_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}
#endif

#define VTIME_SPEEDUP_ONE 1000000U /* the same parts per million as the uapi's */

struct vtime_session {
	u64 due;     /* ns; only grows */
	u32 speedup; /* of VTIME_SPEEDUP_ONE; 0 while no window is open */

	/* Totals since vtime_open(), for the record of the window. */
	u64 hit_ns;
	u64 hits;
	u64 held_ns;	 /* time threads were held */
	u64 credited_ns; /* debt that an edge settled */
};

struct vtime_thread {
	u64 held; /* ns */
};

/* A new thread is where its creator is; the first thread of a session is at due. */
void vtime_thread_init(struct vtime_thread *t, const struct vtime_session *s,
		       const struct vtime_thread *creator);

/* Opens a window at @speedup (0 … VTIME_SPEEDUP_ONE) and zeroes the totals. */
void vtime_open(struct vtime_session *s, u32 speedup);

/* Closes it: from now on hits count for nothing.  due and all debts stand. */
void vtime_close(struct vtime_session *s);

/*
 * Rule 1.  @t spent @weight ns of CPU time on the target.  Returns true if due grew, which is
 * when others may have a new debt.
 */
bool vtime_hit(struct vtime_session *s, struct vtime_thread *t, u64 weight);

/* Rule 2.  What @t must still be held before it may run user code, ns. */
u64 vtime_debt(const struct vtime_session *s, const struct vtime_thread *t);

/* Rule 2.  @t was really held for @ns. */
void vtime_pause(struct vtime_session *s, struct vtime_thread *t, u64 ns);

/*
 * Rules 3 and 4.  @giver let @t go on (woke it, or gave up the CPU @t was waiting for) after
 * @wait ns of waiting: t's virtual time becomes the later of "when it asked" and "when it was
 * let go".
 */
void vtime_edge(struct vtime_session *s, struct vtime_thread *t, u64 giver_held, u64 wait);

/* Settling: debts and surplus of @t end here.  What was still owed is returned, ns. */
u64 vtime_settle(struct vtime_session *s, struct vtime_thread *t);

#endif
