// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static int tests, failed;

bool ok(bool pass, const char *name, ...)
{
	va_list args;

	failed += !pass;
	printf("%sok %d - ", pass ? "" : "not ", ++tests);
	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return pass;
}

bool fails(int ret, int want, const char *name)
{
	int got = ret == -1 ? errno : 0;

	if (ok(got == want, "%s", name))
		return true;
	note("got %s, want %s", ret == -1 ? strerrorname_np(got) : "success", strerrorname_np(want));
	return false;
}

bool within(uint64_t got, uint64_t low, uint64_t high, const char *name)
{
	if (ok(got >= low && got <= high, "%s", name))
		return true;
	note("got %llu, want %llu to %llu", (unsigned long long)got, (unsigned long long)low, (unsigned long long)high);
	return false;
}

void skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tests, name, why);
	fflush(stdout);
}

void note(const char *text, ...)
{
	va_list args;

	printf("# ");
	va_start(args, text);
	vprintf(text, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void bail(const char *text, ...)
{
	int error = errno;
	va_list args;

	printf("Bail out! ");
	va_start(args, text);
	vprintf(text, args);
	va_end(args);
	printf(" (%s)\n", strerror(error));
	fflush(stdout);
	exit(1);
}

int done(void)
{
	printf("1..%d\n", tests);
	fflush(stdout);
	return failed != 0;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * MS };

	while (nanosleep(&ts, &ts))
		;
}

/* Those that were ever opened here; the number may be another file by now. */
static fd_set opened;

int session_open(void)
{
	int fd = open("/dev/cozk", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		bail("cannot open /dev/cozk");
	FD_SET(fd, &opened);
	return fd;
}

void sessions_close(void)
{
	char path[32], name[32];
	int fd;

	for (fd = 0; fd < FD_SETSIZE; fd++) {
		ssize_t n;

		if (!FD_ISSET(fd, &opened))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, name, sizeof(name) - 1);
		if (n > 0 && !strncmp(name, "/dev/cozk", n))
			close(fd);
	}
}

int session_adopt(int fd, pid_t pid)
{
	struct cozk_adopt adopt = { .pid = pid };

	return ioctl(fd, COZK_IOC_ADOPT, &adopt);
}

int session_sampling(int fd, uint64_t period_ns)
{
	struct cozk_sampling sampling = { .period_ns = period_ns };

	return ioctl(fd, COZK_IOC_SAMPLING, &sampling);
}

struct cozk_status session_status(int fd)
{
	struct cozk_status status;

	if (ioctl(fd, COZK_IOC_STATUS, &status))
		bail("STATUS failed");
	return status;
}

int session_client(int fd)
{
	struct cozk_client client = { .flags = COZK_CLIENT_CLOEXEC };
	int client_fd = ioctl(fd, COZK_IOC_CLIENT, &client);

	if (client_fd < 0)
		bail("CLIENT failed");
	return client_fd;
}

bool session_settles_at(int fd, uint32_t threads)
{
	uint64_t start = now_ns();

	while (session_status(fd).threads != threads) {
		if (now_ns() - start > 2 * SEC) {
			note("%u threads", session_status(fd).threads);
			return false;
		}
		sleep_ms(1);
	}
	return true;
}

int point(int client, uint32_t type, const char *name)
{
	struct cozk_point p = { .type = type };

	snprintf(p.name, sizeof(p.name), "%s", name);
	return ioctl(client, COZK_IOC_POINT, &p) ? -1 : (int)p.index;
}

int window(int fd, uint64_t duration_ns, uint32_t percent, struct cozk_window *w)
{
	static struct cozk_count counts[COZK_MAX_POINTS];

	*w = (struct cozk_window){
		.duration_ns = duration_ns,
		.period_ns = 200000,
		.speedup = percent * (COZK_SPEEDUP_ONE / 100),
		.counts = (uintptr_t)counts,
		.counts_max = COZK_MAX_POINTS,
	};
	return ioctl(fd, COZK_IOC_WINDOW, w);
}

static void *run_window(void *arg)
{
	struct async_window *a = arg;
	uint64_t start = now_ns();

	a->ret = window(a->fd, a->w.duration_ns, a->w.speedup, &a->w);
	a->error = errno;
	a->took_ns = now_ns() - start;
	return NULL;
}

void window_start(struct async_window *a, int fd, uint64_t duration_ns, uint32_t percent)
{
	a->fd = fd;
	a->w.duration_ns = duration_ns;
	a->w.speedup = percent;
	if (pthread_create(&a->thread, NULL, run_window, a))
		bail("no thread");
	sleep_ms(30);
}

void window_join(struct async_window *a)
{
	pthread_join(a->thread, NULL);
	errno = a->error;
}

struct rings *rings_map(int fd)
{
	struct rings *r = calloc(1, sizeof(*r));
	struct cozk_info *info = calloc(1, sizeof(*info));

	if (!r || !info || ioctl(fd, COZK_IOC_INFO, info))
		bail("INFO failed");
	r->info = info;
	r->map = mmap(NULL, info->nr_rings * info->ring_stride, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->map == MAP_FAILED)
		bail("cannot map the rings");
	return r;
}

void rings_unmap(struct rings *r)
{
	munmap(r->map, r->info->nr_rings * r->info->ring_stride);
	free((void *)r->info);
	free(r);
}

bool rings_next(struct rings *r, struct cozk_record *record)
{
	uint32_t tried;

	for (tried = 0; tried < r->info->nr_rings; tried++) {
		char *ring = r->map + r->next * r->info->ring_stride;
		struct cozk_ring_head *head = (void *)ring;
		struct cozk_record *records = (void *)(ring + sysconf(_SC_PAGESIZE));
		uint64_t tail = head->tail;

		if (tail != __atomic_load_n(&head->head, __ATOMIC_ACQUIRE)) {
			*record = records[tail % r->info->ring_records];
			__atomic_store_n(&head->tail, tail + 1, __ATOMIC_RELEASE);
			return true;
		}
		r->next = (r->next + 1) % r->info->nr_rings;
	}
	return false;
}

uint32_t rings_space(struct rings *r, pid_t pid)
{
	struct cozk_record record;

	while (rings_next(r, &record))
		if ((record.type == COZK_RECORD_EXEC || record.type == COZK_RECORD_FORK) && record.pid == (uint32_t)pid)
			return record.space;
	return 0;
}
