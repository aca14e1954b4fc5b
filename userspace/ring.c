// SPDX-License-Identifier: GPL-2.0-or-later
#include "ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

int cozk_ring_open(struct cozk_ring *ret, const struct cozk_device *dev)
{
	ret->stride = dev->info.ring_stride;
	ret->nr_rings = dev->info.nr_rings;
	ret->records = dev->info.ring_records;
	ret->size = ret->stride * ret->nr_rings;
	ret->map = mmap(NULL, ret->size, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd, 0);
	return ret->map == MAP_FAILED ? -errno : 0;
}

void cozk_ring_close(struct cozk_ring *ring)
{
	if (ring->map && ring->map != MAP_FAILED)
		munmap(ring->map, ring->size);
	ring->map = NULL;
}

static size_t drain_one(struct cozk_ring_head *head, uint32_t records, size_t page,
			void (*fn)(const struct cozk_record *, void *), void *data)
{
	const struct cozk_record *record = (const void *)((char *)head + page);
	/* B: pairs with the kernel's release of head, A. */
	uint64_t end = __atomic_load_n(&head->head, __ATOMIC_ACQUIRE);
	uint64_t tail = head->tail;
	size_t count = end - tail;

	for (; tail != end; tail++)
		fn(&record[tail & (records - 1)], data);
	/* D: pairs with the kernel's acquire of tail, C: the slots are read. */
	__atomic_store_n(&head->tail, tail, __ATOMIC_RELEASE);
	return count;
}

size_t cozk_ring_drain(struct cozk_ring *ring, void (*fn)(const struct cozk_record *, void *), void *data)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < ring->nr_rings; i++)
		count += drain_one((void *)((char *)ring->map + i * ring->stride), ring->records, page, fn, data);
	return count;
}
