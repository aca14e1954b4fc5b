/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The sample rings: what mmap of the control fd shows.
 *
 * One ring per possible CPU, cozk_info.ring_stride bytes apart: a head page, then
 * cozk_info.ring_records records.  Map nr_rings * ring_stride bytes, MAP_SHARED, offset 0.
 *
 *   kernel (this CPU, interrupts off)        user space (one reader)
 *     if (head - tail_acquire >= n) lost++     h = load_acquire(head)          (B pairs with A)
 *     else write record[head % n]              read record[tail % n] while tail != h
 *     store_release(head, head + 1)   (A)      store_release(tail, t)          (D pairs with C)
 *     tail is read with acquire       (C)
 *
 * head and tail only grow; the kernel trusts nothing it reads from tail but the difference,
 * and a wild tail only loses records.
 */
#ifndef _UAPI_COZK_RING_H
#define _UAPI_COZK_RING_H

#include <linux/types.h>

struct cozk_ring_head {
	__u64 head;		/* records ever written; by the kernel */
	__u64 tail;		/* records ever read; by the reader */
	__u64 lost;		/* records that found the ring full; by the kernel */
	__u64 reserved[5];
};

enum {
	COZK_RECORD_SAMPLE = 1,
	/* a process was born: pid, space; ip = the parent's space, aux = the parent's pid */
	COZK_RECORD_FORK = 2,
	COZK_RECORD_EXEC = 3,	/* a process has a new program and space */
	COZK_RECORD_EXIT = 4,	/* a process is gone: aux = wait status */
};

#define COZK_SAMPLE_KERNEL (1U << 0)	/* interrupted in kernel mode; ip is the user frame */
#define COZK_SAMPLE_CALLER (1U << 1)	/* ip is a return address found by walking */
#define COZK_SAMPLE_SCOPED (1U << 2)	/* ip is in scope */
#define COZK_SAMPLE_HIT (1U << 3)	/* on the target of the open window */

struct cozk_record {
	__u16 type;
	__u16 flags;
	__u32 cpu;
	__u64 time_ns;
	__u64 ip;		/* user address the sample is charged to */
	__u64 weight_ns;	/* CPU time it stands for */
	__u32 pid;		/* process id in the initial pid namespace */
	__u32 tid;
	__u32 space;		/* address space id, never reused in a session */
	__u32 reserved;
	__u64 kernel_ip;	/* innermost kernel address, 0 without CAP_PERFMON */
	__u64 aux;
};

#endif
