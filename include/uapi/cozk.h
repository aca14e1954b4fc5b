/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The character device /dev/cozk.
 *
 * open("/dev/cozk")            -> control fd: one session, alive until the last close
 *   COZK_IOC_INFO                what this module is and its limits
 *   COZK_IOC_ADOPT               a process and all its threads join the session
 *   COZK_IOC_CLIENT              -> client fd: for the profiled program itself
 *   COZK_IOC_SAMPLING            sample clock: period, or a perf event
 *   COZK_IOC_SCOPE               whose code counts, one address space a call
 *   COZK_IOC_TARGET              the code under experiment
 *   COZK_IOC_WINDOW              run one experiment, to its end
 *   COZK_IOC_STATUS              totals of the session
 *   COZK_IOC_POINTS              the progress points known so far
 *   mmap                         sample rings, see cozk_ring.h
 *   poll                         POLLIN: records; POLLHUP: every thread is gone
 *
 * The client fd is inherited by the program.  It keeps no session alive and can do nothing
 * but count:
 *   COZK_IOC_INFO, COZK_IOC_POINT, COZK_IOC_LANE, and mmap of the counter pages.
 *
 * Times are ns of CLOCK_MONOTONIC, durations ns.  Reserved fields must be zero (EINVAL),
 * unknown flags are refused (EINVAL), unknown ioctls are ENOTTY.  After the session has
 * ended every call on a client fd is ENODEV.
 */
#ifndef _UAPI_COZK_H
#define _UAPI_COZK_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* A change that breaks a user of this file bumps the version; anything else is a feature bit. */
#define COZK_ABI_VERSION 1

#define COZK_SPEEDUP_ONE 1000000	/* speedups are parts per million: this is 100 % */
#define COZK_POINT_NAME_MAX 256		/* bytes with the final NUL */
#define COZK_MAX_POINTS 256		/* progress points a session; a latency pair is two */
#define COZK_MAX_LANES 256		/* private counter lanes a session */
#define COZK_MAX_RANGES 65536		/* ranges of one target, or of one scope */
#define COZK_MIN_PERIOD_NS 20000
#define COZK_MAX_PERIOD_NS 1000000000
#define COZK_MAX_WINDOW_NS 3600000000000ULL

/* cozk_info.features */
#define COZK_FEATURE_KERNEL_IP (1ULL << 0)	/* this opener may see kernel addresses */
#define COZK_FEATURE_PERF_EVENT (1ULL << 1)	/* COZK_SAMPLING_EVENT can be tried */

struct cozk_info {
	__u32 abi_version;
	__u32 max_threads;	/* threads of one session alive at once */
	__u64 features;
	__u32 ring_records;	/* records of one CPU's ring, a power of two */
	__u32 nr_rings;		/* one per possible CPU */
	__u64 ring_stride;	/* bytes from one CPU's ring to the next in the mapping */
	__u64 max_pause_ns;	/* no thread is ever held longer than this at once */
	char version[32];	/* of the project, NUL-terminated */
};

/*
 * ADOPT: EPERM if the caller might not ptrace the process; ESRCH: no such process;
 * EBUSY: it is in another session; EOPNOTSUPP: a kernel thread; ENOSPC: more threads
 * than max_threads.
 */
struct cozk_adopt {
	__s32 pid;		/* process id, in the caller's pid namespace */
	__u32 reserved;
};

#define COZK_CLIENT_CLOEXEC (1U << 0)

struct cozk_client {
	__u32 flags;		/* COZK_CLIENT_* */
	__u32 reserved;
};

#define COZK_SAMPLING_EVENT (1U << 0)	/* sample on the perf event instead of the clock */

/*
 * SAMPLING: starts sampling, or changes its period; period 0 stops it.
 * EINVAL: period out of range; ENOENT or EOPNOTSUPP: the event does not exist here;
 * EACCES: the event needs CAP_PERFMON.
 */
struct cozk_sampling {
	__u64 period_ns;	/* mean CPU time between samples, outside windows */
	__u32 flags;
	__u32 reserved;
	__u64 event_attr;	/* user pointer to a struct perf_event_attr, or 0 */
	__u64 event_period;	/* events between two samples */
};

struct cozk_span {
	__u64 start;
	__u64 end;		/* exclusive */
	__u32 space;		/* address space id, from the records of the ring */
	__u32 reserved;
};

/*
 * SCOPE replaces the scope of one address space: a sample whose innermost user frame is
 * outside goes to the nearest caller inside.  An address space without a scope is all in scope.
 * TARGET replaces the target; ranges are sorted by (space, start) and do not overlap.  A
 * process forked later is matched by the ranges of the space it was copied from.
 * EINVAL: not sorted, empty or overlapping; E2BIG: more than COZK_MAX_RANGES;
 * EBUSY: a window is open.
 */
struct cozk_set_scope {
	__u32 space;
	__u32 count;
	__u64 ranges;		/* user pointer to struct cozk_span[count] */
};

struct cozk_set_target {
	__u32 count;
	__u32 reserved;
	__u64 ranges;		/* user pointer to struct cozk_span[count] */
};

/* cozk_window.end_reason */
enum {
	COZK_END_DURATION = 1,	/* it ran its time */
	COZK_END_SIGNAL = 2,	/* a signal for the caller cut it short */
	COZK_END_EXIT = 3,	/* the last thread of the session exited */
};

/* One progress counter over a window. */
struct cozk_count {
	__u32 point;		/* index, as in struct cozk_point */
	__u32 type;		/* COZK_POINT_* */
	__u64 start;		/* its total when the window opened */
	__u64 end;		/* and when it closed */
};

/*
 * WINDOW opens an experiment, sleeps until it is over, closes it and lets the session settle
 * (no hits; every debt is paid).  A signal closes it early: what was measured is returned all
 * the same, with COZK_END_SIGNAL.  Clock, due and counters are read at the same instants.
 * duration_ns 0 just settles.
 * EINVAL: speedup or duration out of range; EBUSY: a window is open; ENOENT: no thread is in
 * the session; ENOSPC: counts_max too small, nothing was done.
 */
struct cozk_window {
	/* in */
	__u64 duration_ns;
	__u64 period_ns;	/* sample period inside, 0: the session's */
	__u32 speedup;		/* of COZK_SPEEDUP_ONE */
	__u32 flags;		/* none yet */
	__u64 counts;		/* user pointer to struct cozk_count[counts_max] */
	__u32 counts_max;
	/* out */
	__u32 counts_len;
	__u32 end_reason;
	__u32 threads;		/* alive at the end */
	__u64 id;		/* 1, 2, … in the session */
	__u64 start_ns;
	__u64 end_ns;
	__u64 due_start_ns;
	__u64 due_end_ns;
	__u64 samples;		/* taken inside */
	__u64 sample_ns;	/* CPU time they stand for */
	__u64 hits;		/* of them on the target */
	__u64 hit_ns;
	__u64 owed_ns;		/* debts that pauses had to set off, summed over threads */
	__u64 paid_ns;		/* time threads were really held for them */
	__u64 credited_ns;	/* debts settled by an edge: waited for a thread that had paid */
	__u64 surplus_ns;	/* held too long and not yet set off, at the end */
	__u64 pauses;
	__u64 settle_ns;	/* wall time of settling afterwards */
	__u64 forgiven_ns;	/* of runnable threads, dropped when settling took too long */
	__u64 reserved[2];
};

struct cozk_status {
	__u32 threads;		/* alive */
	__u32 processes;	/* address spaces seen alive */
	__u64 threads_seen;
	__u64 threads_lost;	/* not followed: limit or memory */
	__u64 samples;
	__u64 samples_lost;	/* ring full */
	__u64 windows;
	__u64 due_ns;
	__u64 paused_ns;	/* all pauses of all threads */
	__u64 pauses;
	__u64 max_pause_ns;	/* the longest so far */
	__u64 left_setid;	/* processes that left by executing a set-id program */
	__u64 reserved[4];
};

enum {
	COZK_POINT_THROUGHPUT = 1,	/* the values are Coz's */
	COZK_POINT_BEGIN = 2,
	COZK_POINT_END = 3,
};

/* COZK_IOC_POINT: finds or makes the point; ENOSPC: COZK_MAX_POINTS are in use. */
struct cozk_point {
	__u32 type;
	__u32 index;		/* out */
	__u64 total;		/* out: visits so far, all lanes */
	char name[COZK_POINT_NAME_MAX];
};

struct cozk_points {
	__u64 points;		/* user pointer to struct cozk_point[max] */
	__u32 max;
	__u32 count;		/* out: how many there are; min(max, count) are copied */
};

/*
 * LANE gives the calling thread a lane of its own, freed when it exits; the same thread always
 * gets the same.  ENOSPC: none left, use the shared lane; ESRCH: the caller is not in the session.
 */
struct cozk_lane {
	__u32 lane;		/* out: 0 … COZK_MAX_LANES - 1 */
	__u32 reserved;
};

#define COZK_IOC_MAGIC 0xC7
#define COZK_IOC_INFO		_IOR(COZK_IOC_MAGIC, 0, struct cozk_info)
#define COZK_IOC_ADOPT		_IOW(COZK_IOC_MAGIC, 1, struct cozk_adopt)
#define COZK_IOC_CLIENT		_IOW(COZK_IOC_MAGIC, 2, struct cozk_client)
#define COZK_IOC_SAMPLING	_IOW(COZK_IOC_MAGIC, 3, struct cozk_sampling)
#define COZK_IOC_SCOPE		_IOW(COZK_IOC_MAGIC, 4, struct cozk_set_scope)
#define COZK_IOC_TARGET		_IOW(COZK_IOC_MAGIC, 5, struct cozk_set_target)
#define COZK_IOC_WINDOW		_IOWR(COZK_IOC_MAGIC, 6, struct cozk_window)
#define COZK_IOC_STATUS		_IOR(COZK_IOC_MAGIC, 7, struct cozk_status)
#define COZK_IOC_POINTS		_IOWR(COZK_IOC_MAGIC, 8, struct cozk_points)
#define COZK_IOC_POINT		_IOWR(COZK_IOC_MAGIC, 16, struct cozk_point)
#define COZK_IOC_LANE		_IOR(COZK_IOC_MAGIC, 17, struct cozk_lane)

/*
 * Counter pages (mmap of a client fd, MAP_SHARED, offset 0, COZK_COUNTERS_SIZE bytes).
 *
 * A point's total is its counter in the shared lane plus those of all private lanes.  The shared
 * lane is for anyone, with atomic adds, one cache line a point; its first 16 bytes are Coz's
 * { size_t count; size_t backoff; }.  A private lane is one page written by one thread only,
 * so a plain load, add, store is enough.
 */
#define COZK_SHARED_STRIDE 64
#define COZK_PRIVATE_STRIDE 16
#define COZK_SHARED_SIZE (COZK_MAX_POINTS * COZK_SHARED_STRIDE)
#define COZK_LANE_SIZE (COZK_MAX_POINTS * COZK_PRIVATE_STRIDE)
#define COZK_COUNTERS_SIZE (COZK_SHARED_SIZE + COZK_MAX_LANES * COZK_LANE_SIZE)

#endif
