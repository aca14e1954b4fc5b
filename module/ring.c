// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "ring.h"
#include "session.h"
#include "thread.h"

/* 4096 records are four seconds at 1 kHz; on large machines all rings share TOTAL_BYTES. */
enum { MAX_RECORDS = 4096, MIN_RECORDS = 256, TOTAL_BYTES = 64 << 20 };

int cozk_ring_create(struct cozk_session *s)
{
	size_t share = TOTAL_BYTES / nr_cpu_ids / sizeof(struct cozk_record);
	int cpu;

	s->ring_records = rounddown_pow_of_two(clamp_t(size_t, share, MIN_RECORDS, MAX_RECORDS));
	s->ring_stride = PAGE_SIZE + PAGE_ALIGN(s->ring_records * sizeof(struct cozk_record));
	s->rings = vmalloc_user(s->ring_stride * nr_cpu_ids);
	if (!s->rings)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		per_cpu_ptr(s->cpu, cpu)->ring = s->rings + cpu * s->ring_stride;
	return 0;
}

void cozk_ring_destroy(struct cozk_session *s)
{
	vfree(s->rings);
}

int cozk_ring_mmap(struct cozk_session *s, struct vm_area_struct *vma)
{
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != s->ring_stride * nr_cpu_ids)
		return -EINVAL;
	return remap_vmalloc_range(vma, s->rings, 0);
}

bool cozk_ring_pending(struct cozk_session *s)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct cozk_ring_head *head = per_cpu_ptr(s->cpu, cpu)->ring;

		if (READ_ONCE(head->head) != READ_ONCE(head->tail))
			return true;
	}
	return false;
}

void cozk_ring_write(struct cozk_session *s, const struct cozk_thread *t,
		     struct cozk_record *record)
{
	struct cozk_ring_head *ring = this_cpu_ptr(s->cpu)->ring;
	struct cozk_record *records = (void *)ring + PAGE_SIZE;
	u64 head = READ_ONCE(ring->head);

	record->cpu = smp_processor_id();
	record->pid = t->pid;
	record->tid = t->tid;
	record->space = t->space;
	/* C: pairs with the reader's release of tail, D: the slot is not read any more. */
	if (head - smp_load_acquire(&ring->tail) >= s->ring_records) {
		WRITE_ONCE(ring->lost, ring->lost + 1);
		return;
	}
	records[head & (s->ring_records - 1)] = *record;
	/* A: pairs with the reader's acquire of head, B: the record is there before head says. */
	smp_store_release(&ring->head, head + 1);
	/* A sleeping reader is woken for every quarter, and for what changes the processes. */
	if (!((head + 1) & (s->ring_records / 4 - 1)) || record->type != COZK_RECORD_SAMPLE)
		irq_work_queue(&s->wake);
}

void cozk_ring_event(struct cozk_session *s, const struct cozk_thread *t, u16 type, u64 ip, u64 aux)
{
	struct cozk_record record = {
		.type = type,
		.time_ns = ktime_get_mono_fast_ns(),
		.ip = ip,
		.aux = aux,
	};
	unsigned long flags;

	local_irq_save(flags);
	cozk_ring_write(s, t, &record);
	local_irq_restore(flags);
}
