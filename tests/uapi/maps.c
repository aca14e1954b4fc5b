// SPDX-License-Identifier: GPL-2.0-or-later
/* mmap and poll of the control fd, progress points, counter pages, and a client after the end. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static int try_map(int fd, size_t size, off_t offset, int flags)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (map == MAP_FAILED)
		return -1;
	munmap(map, size);
	return 0;
}

static void ring_maps(int fd)
{
	struct cozk_info info;
	size_t size;

	if (ioctl(fd, COZK_IOC_INFO, &info))
		bail("INFO failed");
	size = info.nr_rings * info.ring_stride;
	ok(!try_map(fd, size, 0, MAP_SHARED), "the rings can be mapped");
	fails(try_map(fd, size - 4096, 0, MAP_SHARED), EINVAL, "a page less");
	fails(try_map(fd, size + 4096, 0, MAP_SHARED), EINVAL, "a page more");
	fails(try_map(fd, size, 4096, MAP_SHARED), EINVAL, "at an offset");
}

static int exit_at_once(void *arg)
{
	(void)arg;
	return 3;
}

static short poll_now(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, timeout) < 0)
		bail("poll failed");
	return p.revents;
}

static void polls(void)
{
	struct child c = child_make(exit_at_once, NULL);
	int fd = session_open();
	struct rings *rings = rings_map(fd);
	struct cozk_record record;
	uint64_t start;

	ok(poll_now(fd, 0) == 0, "poll: nothing of a new session");
	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	ok(poll_now(fd, 0) == POLLIN, "poll: POLLIN with a record");
	while (rings_next(rings, &record))
		;
	ok(poll_now(fd, 0) == 0, "poll: nothing once it is read");
	start = now_ns();
	child_go(&c);
	ok(poll_now(fd, 3000) & POLLIN, "poll: wakes for a record");
	within(now_ns() - start, 0, SEC, "in time");
	child_wait(&c);
	session_settles_at(fd, 0);
	ok(poll_now(fd, 3000) & POLLHUP, "poll: POLLHUP when every thread is gone");
	rings_unmap(rings);
	close(fd);
}

static int spin(void *meter)
{
	spin_cold(meter);
	return 0;
}

/* Sleeping in poll, with nothing to read but samples. */
static void poll_samples(void)
{
	struct meter *m = shared(sizeof(*m));
	struct held h = held_make(spin, m);
	struct cozk_record record;
	uint64_t start;

	session_sampling(h.fd, 50000);
	child_go(&h.child);
	while (rings_next(h.rings, &record))
		;
	start = now_ns();
	ok(poll_now(h.fd, 5000) == POLLIN, "poll: wakes for samples");
	within(now_ns() - start, 0, 3 * SEC, "before the ring is full");
	ok(!session_status(h.fd).samples_lost, "and none is lost");
	held_end(&h);
}

static void point_errors(int client)
{
	struct cozk_point p = { .type = COZK_POINT_THROUGHPUT, .name = "p" };
	char name[COZK_POINT_NAME_MAX];

	p.index = 1;
	fails(ioctl(client, COZK_IOC_POINT, &p), EINVAL, "POINT: index is an output");
	p.index = 0;
	p.total = 1;
	fails(ioctl(client, COZK_IOC_POINT, &p), EINVAL, "POINT: total is an output");
	fails(point(client, 0, "p"), EINVAL, "POINT: type 0");
	fails(point(client, COZK_POINT_END + 1, "p"), EINVAL, "POINT: unknown type");
	fails(point(client, COZK_POINT_BEGIN, ""), EINVAL, "POINT: no name");
	p.total = 0;
	memset(p.name, 'x', sizeof(p.name));
	fails(ioctl(client, COZK_IOC_POINT, &p), EINVAL, "POINT: name without an end");
	memset(name, 'y', sizeof(name));
	name[sizeof(name) - 1] = 0;
	ok(point(client, COZK_POINT_THROUGHPUT, name) == 0, "POINT: the longest name");
	ok(point(client, COZK_POINT_THROUGHPUT, name) == 0, "POINT: found again");
	ok(point(client, COZK_POINT_BEGIN, name) == 1, "POINT: another type is another point");
}

static void point_limit(int fd, int client)
{
	static struct cozk_point points[COZK_MAX_POINTS];
	struct cozk_points list = { .points = (uintptr_t)points, .max = 2, .count = 1 };
	char name[16];
	int i;

	fails(ioctl(fd, COZK_IOC_POINTS, &list), EINVAL, "POINTS: count is an output");
	for (i = 2; i < COZK_MAX_POINTS; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		if (point(client, COZK_POINT_END, name) != i)
			break;
	}
	ok(i == COZK_MAX_POINTS, "POINT: as many as there may be");
	fails(point(client, COZK_POINT_END, "more"), ENOSPC, "POINT: one more");
	ok(point(client, COZK_POINT_END, "p7") == 7, "POINT: old ones are found still");
	memset(points, 0xcc, sizeof(points));
	list.count = 0;
	ok(!ioctl(fd, COZK_IOC_POINTS, &list) && list.count == COZK_MAX_POINTS, "POINTS tells how many there are");
	ok(points[1].type == COZK_POINT_BEGIN && points[1].index == 1 && points[1].total == 0,
	   "and lists those there is room for");
	ok(points[2].type == 0xcccccccc, "and no more");
	list = (struct cozk_points){ .points = 8, .max = 1 };
	fails(ioctl(fd, COZK_IOC_POINTS, &list), EFAULT, "POINTS: list at a wild address");
}

static void counters(int fd, int client)
{
	uint64_t *map = mmap(NULL, COZK_COUNTERS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, client, 0);
	struct cozk_point p = { .type = COZK_POINT_END, .name = "p9" };
	struct cozk_lane lane;

	ok(map != MAP_FAILED, "the counters can be mapped");
	fails(try_map(client, COZK_COUNTERS_SIZE - 4096, 0, MAP_SHARED), EINVAL, "a page less");
	fails(try_map(client, COZK_COUNTERS_SIZE + 4096, 0, MAP_SHARED), EINVAL, "a page more");
	fails(try_map(client, COZK_COUNTERS_SIZE, 4096, MAP_SHARED), EINVAL, "at an offset");
	fails(ioctl(client, COZK_IOC_LANE, &lane), ESRCH, "LANE: a thread of no session");
	if (map == MAP_FAILED)
		return;
	map[9 * COZK_SHARED_STRIDE / 8] = 5;
	ok(!ioctl(client, COZK_IOC_POINT, &p) && p.total == 5 && p.index == 9,
	   "a count in the shared lane is in the total");

	close(fd);
	p = (struct cozk_point){ .type = COZK_POINT_END, .name = "p9" };
	fails(ioctl(client, COZK_IOC_POINT, &p), ENODEV, "POINT after the session's end");
	fails(ioctl(client, COZK_IOC_LANE, &lane), ENODEV, "LANE after it");
	fails(try_map(client, COZK_COUNTERS_SIZE, 0, MAP_SHARED), ENODEV, "mmap after it");
	map[9 * COZK_SHARED_STRIDE / 8]++;
	ok(map[9 * COZK_SHARED_STRIDE / 8] == 6, "mapped counters go on after it");
	close(client);
	ok(map[9 * COZK_SHARED_STRIDE / 8] == 6, "and after the client fd too");
	munmap(map, COZK_COUNTERS_SIZE);
}

int main(void)
{
	int fd = session_open();
	int client = session_client(fd);

	ring_maps(fd);
	polls();
	poll_samples();
	point_errors(client);
	point_limit(fd, client);
	counters(fd, client);
	return done();
}
