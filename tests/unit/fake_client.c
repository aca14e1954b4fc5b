// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_client.h"
#include "uapi/cozk.h"

/* In shared memory: a child that was forked belongs to the same session. */
struct fake_session {
	pthread_mutex_t lock;
	uint32_t abi_version;
	int ended;
	int max_points;
	int max_lanes;
	int points;
	int lanes;
	int lane_calls;
	struct cozk_point point[COZK_MAX_POINTS];
	pid_t lane_owner[COZK_MAX_LANES];
};

static struct fake_session *session;
static int session_fd = -1;
static char *counters;

int cozk_test_ioctl(int fd, unsigned long request, void *arg);
void *cozk_test_map_counters(int fd);

static void die(const char *what)
{
	perror(what);
	exit(99);
}

int fake_client_start(void)
{
	pthread_mutexattr_t attr;
	char text[16];

	session_fd = memfd_create("counters", MFD_CLOEXEC);
	if (session_fd < 0 || ftruncate(session_fd, COZK_COUNTERS_SIZE))
		die("counter pages");
	session = mmap(NULL, sizeof(*session), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	counters = cozk_test_map_counters(session_fd);
	if (session == MAP_FAILED || counters == MAP_FAILED)
		die("mmap");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&session->lock, &attr);
	session->abi_version = COZK_ABI_VERSION;
	session->max_points = COZK_MAX_POINTS;
	session->max_lanes = COZK_MAX_LANES;
	snprintf(text, sizeof(text), "%d", session_fd);
	if (setenv("COZK_CLIENT_FD", text, 1))
		die("setenv");
	return session_fd;
}

void fake_client_limit_lanes(int lanes)
{
	session->max_lanes = lanes;
}

void fake_client_limit_points(int points)
{
	session->max_points = points;
}

void fake_client_set_abi(uint32_t version)
{
	session->abi_version = version;
}

void fake_client_end(void)
{
	session->ended = 1;
}

static int find_point(uint32_t type, const char *name)
{
	for (int i = 0; i < session->points; i++)
		if (session->point[i].type == type && !strcmp(session->point[i].name, name))
			return i;
	return -1;
}

static uint64_t counter_at(size_t offset)
{
	return __atomic_load_n((uint64_t *)(void *)(counters + offset), __ATOMIC_RELAXED);
}

int64_t fake_client_shared(int type, const char *name)
{
	int i = find_point((uint32_t)type, name);

	return i < 0 ? -1 : (int64_t)counter_at((size_t)i * COZK_SHARED_STRIDE);
}

int64_t fake_client_total(int type, const char *name)
{
	int i = find_point((uint32_t)type, name);
	int64_t total = fake_client_shared(type, name);

	if (i < 0)
		return -1;
	for (size_t lane = 0; lane < COZK_MAX_LANES; lane++)
		total +=
			(int64_t)counter_at(COZK_SHARED_SIZE + lane * COZK_LANE_SIZE + (size_t)i * COZK_PRIVATE_STRIDE);
	return total;
}

int fake_client_points(void)
{
	return session->points;
}

int fake_client_lanes(void)
{
	return session->lanes;
}

int fake_client_lane_calls(void)
{
	return session->lane_calls;
}

static int do_point(struct cozk_point *point)
{
	int i;

	if (!memchr(point->name, 0, sizeof(point->name)) || !point->name[0])
		return EINVAL;
	i = find_point(point->type, point->name);
	if (i < 0) {
		if (session->points >= session->max_points)
			return ENOSPC;
		i = session->points++;
		session->point[i] = *point;
	}
	point->index = (uint32_t)i;
	return 0;
}

static int do_lane(struct cozk_lane *lane)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	int i;

	session->lane_calls++;
	if (session->max_lanes == FAKE_CLIENT_STRANGER)
		return ESRCH;
	for (i = 0; i < session->lanes && session->lane_owner[i] != tid; i++)
		;
	if (i == session->lanes) {
		if (session->lanes >= session->max_lanes)
			return ENOSPC;
		session->lane_owner[session->lanes++] = tid;
	}
	lane->lane = (uint32_t)i;
	return 0;
}

static int do_ioctl(unsigned long request, void *arg)
{
	if (session->ended)
		return ENODEV;
	switch (request) {
	case COZK_IOC_INFO:
		memset(arg, 0, sizeof(struct cozk_info));
		((struct cozk_info *)arg)->abi_version = session->abi_version;
		return 0;
	case COZK_IOC_POINT:
		return do_point(arg);
	case COZK_IOC_LANE:
		return do_lane(arg);
	}
	return ENOTTY;
}

int cozk_test_ioctl(int fd, unsigned long request, void *arg)
{
	int err = ENOTTY;

	if (session && fd == session_fd) {
		pthread_mutex_lock(&session->lock);
		err = do_ioctl(request, arg);
		pthread_mutex_unlock(&session->lock);
	}
	errno = err;
	return err ? -1 : 0;
}

void *cozk_test_map_counters(int fd)
{
	return mmap(NULL, COZK_COUNTERS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}
