/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module's sample rings, read from user space; protocol and barriers in include/uapi/cozk_ring.h. */
#ifndef COZK_RING_H
#define COZK_RING_H

#include <stddef.h>
#include <stdint.h>

#include "cozk_ring.h"

struct cozk_device;

struct cozk_ring {
	void *map;
	size_t size;
	uint64_t stride;
	uint32_t nr_rings;
	uint32_t records;
};

/* Maps the rings of @dev. Returns 0 or -errno. */
int cozk_ring_open(struct cozk_ring *ret, const struct cozk_device *dev);
void cozk_ring_close(struct cozk_ring *ring);

/*
 * Hands all unread records to @fn and gives their room back; records of one CPU come in order. Returns how many there
 * were.
 */
size_t cozk_ring_drain(struct cozk_ring *ring, void (*fn)(const struct cozk_record *record, void *data), void *data);

#endif
