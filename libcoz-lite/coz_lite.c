// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program's half of progress points.  It lives inside the profiled program, so it keeps out
 * of the way: no constructor, no thread, no lock, no allocation, no signal, no thread-local
 * storage of its own, and no system call but on first visits.
 *
 * It only counts, in pages shared with the module (include/uapi/cozk.h).  Everything below may
 * run in several threads at once or be entered again from a signal handler: each step can be done
 * twice with the same outcome, and what must be unique is settled by one compare-and-swap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "cozk.h"
#include "uapi/cozk.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void _cozk_visit(struct cozk_site *site, struct cozk_visitor *visitor, int type,
			const char *name);
PUBLIC coz_counter_t *_coz_get_counter(int type, const char *name);
PUBLIC void _coz_add_delays(void);
PUBLIC void _coz_pre_block(void);
PUBLIC void _coz_post_block(int skip_delays);

enum {
	CLIENT_UNKNOWN, /* nobody has looked yet */
	CLIENT_OFF,	/* no session: stays so for the life of the program */
	CLIENT_ON,
};

static const unsigned int no_epoch = COZK_NO_EPOCH_;

static int client_state;
static int client_fd = -1;
static char *client_counters; /* COZK_COUNTERS_SIZE bytes, once on */
static const unsigned int *client_epoch = &no_epoch;
static unsigned int last_epoch; /* never below *client_epoch */

#ifdef COZK_TEST
int cozk_test_ioctl(int fd, unsigned long request, void *arg);
void *cozk_test_map_counters(int fd);
#endif

static inline int client_ioctl(int fd, unsigned long request, void *arg)
{
#ifdef COZK_TEST
	return cozk_test_ioctl(fd, request, arg);
#else
	return ioctl(fd, request, arg);
#endif
}

static inline void *map_counters(int fd)
{
#ifdef COZK_TEST
	return cozk_test_map_counters(fd);
#else
	return mmap(NULL, COZK_COUNTERS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#endif
}

/* The inherited fd as the environment has it, or -1. */
static int env_fd(void)
{
	const char *text = secure_getenv("COZK_CLIENT_FD");
	int fd = 0;

	if (!text || !*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || fd > (INT32_MAX - 9) / 10)
			return -1;
		fd = fd * 10 + (*text - '0');
	}
	return fd;
}

/*
 * Asked before every use of the fd: the program may have closed the number and opened something
 * else under it.
 */
static int fd_is_client(int fd)
{
	struct cozk_info info;

	memset(&info, 0, sizeof(info));
	return fd >= 0 && !client_ioctl(fd, COZK_IOC_INFO, &info) &&
	       info.abi_version == COZK_ABI_VERSION;
}

/*
 * A word that the kernel zeroes in every forked child, however it was forked.  It tells a child
 * that the lanes it has inherited are its parent's.
 */
static void map_epoch(void)
{
	const unsigned int *expected = &no_epoch;
	unsigned int *epoch;

	epoch = mmap(NULL, sizeof(*epoch), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (epoch == MAP_FAILED)
		return;
	*epoch = __atomic_add_fetch(&last_epoch, 1, __ATOMIC_RELAXED);
	if (madvise(epoch, sizeof(*epoch), MADV_WIPEONFORK) ||
	    !__atomic_compare_exchange_n(&client_epoch, &expected, epoch, 0, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		munmap(epoch, sizeof(*epoch));
}

/* Whether there is a session, now that somebody needs to know. */
static int client_open(void)
{
	int state = __atomic_load_n(&client_state, __ATOMIC_ACQUIRE);
	char *counters, *expected = NULL;
	int fd;

	if (state != CLIENT_UNKNOWN)
		return state == CLIENT_ON;
	fd = env_fd();
	counters = fd_is_client(fd) ? map_counters(fd) : MAP_FAILED;
	if (counters == MAP_FAILED) {
		__atomic_store_n(&client_state, CLIENT_OFF, __ATOMIC_RELEASE);
		return 0;
	}
	/* Two threads may both have come this far. */
	if (!__atomic_compare_exchange_n(&client_counters, &expected, counters, 0, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		munmap(counters, COZK_COUNTERS_SIZE);
	map_epoch();
	__atomic_store_n(&client_fd, fd, __ATOMIC_RELAXED);
	__atomic_store_n(&client_state, CLIENT_ON, __ATOMIC_RELEASE);
	return 1;
}

/* Index of the point, or -1: no session, or no room in it. */
static int point_index(int type, const char *name)
{
	struct cozk_point point;
	size_t len = name ? strlen(name) : 0;
	int fd;

	if (!len || type < COZK_POINT_THROUGHPUT || type > COZK_POINT_END || !client_open())
		return -1;
	fd = __atomic_load_n(&client_fd, __ATOMIC_RELAXED);
	if (!fd_is_client(fd))
		return -1;
	/* The tail of a long name tells more: it has the line number, or the innermost name. */
	if (len >= COZK_POINT_NAME_MAX) {
		name += len - (COZK_POINT_NAME_MAX - 1);
		len = COZK_POINT_NAME_MAX - 1;
	}
	memset(&point, 0, sizeof(point));
	point.type = (uint32_t)type;
	memcpy(point.name, name, len);
	if (client_ioctl(fd, COZK_IOC_POINT, &point) || point.index >= COZK_MAX_POINTS)
		return -1;
	return (int)point.index;
}

static size_t *shared_counter(int index)
{
	char *counters = __atomic_load_n(&client_counters, __ATOMIC_ACQUIRE);

	return (size_t *)(void *)(counters + (size_t)index * COZK_SHARED_STRIDE);
}

/* The current epoch; begins a new one if this is the first visit in a forked child. */
static unsigned int current_epoch(const unsigned int *epoch)
{
	unsigned int now = __atomic_load_n(epoch, __ATOMIC_RELAXED);
	unsigned int next;

	if (now)
		return now;
	next = __atomic_add_fetch(&last_epoch, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n((unsigned int *)epoch, &now, next, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return next;
	return now;
}

/* A private lane for this thread, if the kernel has one.  Asked once a thread and epoch. */
static void take_lane(struct cozk_visitor *visitor, unsigned int epoch)
{
	struct cozk_lane lane;
	int fd = __atomic_load_n(&client_fd, __ATOMIC_RELAXED);

	memset(&lane, 0, sizeof(lane));
	if (!fd_is_client(fd) || client_ioctl(fd, COZK_IOC_LANE, &lane) ||
	    lane.lane >= COZK_MAX_LANES) {
		visitor->refused = epoch;
		return;
	}
	visitor->lane = __atomic_load_n(&client_counters, __ATOMIC_ACQUIRE) + COZK_SHARED_SIZE +
			(size_t)lane.lane * COZK_LANE_SIZE;
	/* A signal handler on this thread must find the lane if it finds the epoch. */
	__atomic_signal_fence(__ATOMIC_RELEASE);
	visitor->epoch = epoch;
}

static void open_site(struct cozk_site *site, int type, const char *name)
{
	int index = point_index(type, name);

	if (index < 0) {
		__atomic_store_n(&site->epoch, COZK_SITE_OFF_, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&site->shared, shared_counter(index), __ATOMIC_RELAXED);
	__atomic_store_n(&site->offset, (size_t)index * COZK_PRIVATE_STRIDE, __ATOMIC_RELAXED);
	__atomic_store_n(&site->epoch, __atomic_load_n(&client_epoch, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

/* Counts one visit of a site, the long way.  Errno is the caller's to save. */
void _cozk_visit(struct cozk_site *site, struct cozk_visitor *visitor, int type, const char *name)
{
	const unsigned int *epoch = __atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE);
	unsigned int now;

	if (!epoch) {
		open_site(site, type, name);
		epoch = __atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE);
	}
	if (epoch == COZK_SITE_OFF_)
		return;
	if (epoch != &no_epoch) {
		now = current_epoch(epoch);
		if (visitor->epoch != now && visitor->refused != now)
			take_lane(visitor, now);
		if (visitor->epoch == now) {
			cozk_count_((size_t *)(void *)(visitor->lane + site->offset));
			return;
		}
	}
	__atomic_fetch_add(site->shared, 1, __ATOMIC_RELAXED);
}

coz_counter_t *_coz_get_counter(int type, const char *name)
{
	int saved_errno = errno;
	int index = point_index(type, name);

	errno = saved_errno;
	return index < 0 ? NULL : (coz_counter_t *)(void *)shared_counter(index);
}

/*
 * Coz needs to be told about waiting and waking, the module sees both: nothing to do.
 */
void _coz_add_delays(void)
{
}

void _coz_pre_block(void)
{
}

void _coz_post_block(int skip_delays)
{
	(void)skip_delays;
}
