// SPDX-License-Identifier: GPL-2.0-or-later
/* What the control fd takes and refuses, value by value; limits are tried at and one past. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static int idle(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

static void adopt(void)
{
	struct cozk_adopt bad = { .pid = getpid(), .reserved = 1 };
	struct child c = child_make(idle, NULL);
	struct child gone = child_make(idle, NULL);
	int fd = session_open();
	int other = session_open();

	fails(ioctl(fd, COZK_IOC_ADOPT, &bad), EINVAL, "ADOPT: reserved");
	fails(session_adopt(fd, 0), ESRCH, "ADOPT: pid 0");
	fails(session_adopt(fd, -1), ESRCH, "ADOPT: negative pid");
	fails(session_adopt(fd, 0x7fffffff), ESRCH, "ADOPT: no such process");
	kill(gone.pid, SIGKILL);
	while (session_adopt(fd, gone.pid) == 0)
		sleep_ms(1);
	fails(-1, ESRCH, "ADOPT: a zombie");
	child_wait(&gone);
	fails(session_adopt(fd, 2), EOPNOTSUPP, "ADOPT: a kernel thread");
	ok(!session_adopt(fd, c.pid), "ADOPT succeeds");
	ok(session_status(fd).threads == 1 && session_status(fd).processes == 1, "and the process is in the session");
	fails(session_adopt(fd, c.pid), EBUSY, "ADOPT: it is there already");
	fails(session_adopt(other, c.pid), EBUSY, "ADOPT: it is in another session");
	ok(session_status(other).processes == 0, "which leaves the other session as it was");
	ok(session_status(fd).processes == 1, "and this one too");
	close(fd);
	ok(!session_adopt(other, c.pid), "ADOPT succeeds once the other session has ended");
	child_kill(&c);
	ok(session_settles_at(other, 0), "a killed process leaves the session");
	close(other);
}

static void client(int fd)
{
	struct cozk_client c = { .flags = COZK_CLIENT_CLOEXEC << 1 };
	int got;

	fails(ioctl(fd, COZK_IOC_CLIENT, &c), EINVAL, "CLIENT: unknown flag");
	c = (struct cozk_client){ .reserved = 1 };
	fails(ioctl(fd, COZK_IOC_CLIENT, &c), EINVAL, "CLIENT: reserved");
	c.reserved = 0;
	got = ioctl(fd, COZK_IOC_CLIENT, &c);
	ok(got >= 0 && fcntl(got, F_GETFD) == 0, "CLIENT: an fd that programs inherit");
	close(got);
	c.flags = COZK_CLIENT_CLOEXEC;
	got = ioctl(fd, COZK_IOC_CLIENT, &c);
	ok(got >= 0 && fcntl(got, F_GETFD) == FD_CLOEXEC, "CLIENT: one that they do not");
	close(got);
}

static void sampling(int fd)
{
	struct cozk_sampling s = { .period_ns = MS, .flags = COZK_SAMPLING_EVENT << 1 };

	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), EINVAL, "SAMPLING: unknown flag");
	s = (struct cozk_sampling){ .period_ns = MS, .reserved = 1 };
	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), EINVAL, "SAMPLING: reserved");
	fails(session_sampling(fd, COZK_MIN_PERIOD_NS - 1), EINVAL, "SAMPLING: period too short");
	fails(session_sampling(fd, COZK_MAX_PERIOD_NS + 1ULL), EINVAL, "SAMPLING: too long");
	ok(!session_sampling(fd, COZK_MIN_PERIOD_NS), "SAMPLING: the shortest period");
	ok(!session_sampling(fd, COZK_MAX_PERIOD_NS), "SAMPLING: the longest period");
	ok(!session_sampling(fd, 0), "SAMPLING: off");
}

static void sampling_event(int fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct cozk_sampling s = {
		.flags = COZK_SAMPLING_EVENT,
		.event_attr = (uintptr_t)&attr,
		.event_period = MS,
	};

	ok(!ioctl(fd, COZK_IOC_SAMPLING, &s), "SAMPLING: a perf event");
	ok(!ioctl(fd, COZK_IOC_SAMPLING, &s), "SAMPLING: replaced by itself");
	s.event_period = 0;
	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), EINVAL, "SAMPLING: no event period");
	s.event_period = MS;
	s.event_attr = 8;
	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), EFAULT, "SAMPLING: attr at a wild address");
	s.event_attr = (uintptr_t)&attr;
	attr.size = PERF_ATTR_SIZE_VER0 - 1;
	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), EINVAL, "SAMPLING: attr too small");
	attr.size = sizeof(attr);
	attr.type = 0x7fffffff;
	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), ENOENT, "SAMPLING: no such event");
	ok(!session_sampling(fd, MS), "SAMPLING: back to the clock");
}

static int set(int fd, struct cozk_span *spans, uint32_t count)
{
	struct cozk_set_target target = { .count = count, .ranges = (uintptr_t)spans };

	return ioctl(fd, COZK_IOC_TARGET, &target);
}

static void target(int fd)
{
	struct cozk_set_target bad = { .reserved = 1 };
	struct cozk_span s[2] = { { 10, 20, 1, 0 }, { 20, 30, 1, 0 } };
	struct cozk_span *many = calloc(COZK_MAX_RANGES + 1, sizeof(*many));
	uint32_t i;

	fails(ioctl(fd, COZK_IOC_TARGET, &bad), EINVAL, "TARGET: reserved");
	ok(!set(fd, s, 2), "TARGET: two neighbours");
	ok(!set(fd, NULL, 0), "TARGET: none");
	fails(set(fd, (void *)8, 1), EFAULT, "TARGET: ranges at a wild address");
	s[0].reserved = 1;
	fails(set(fd, s, 2), EINVAL, "TARGET: reserved of a range");
	s[0] = (struct cozk_span){ 10, 10, 1, 0 };
	fails(set(fd, s, 2), EINVAL, "TARGET: an empty range");
	s[0] = (struct cozk_span){ 10, 9, 1, 0 };
	fails(set(fd, s, 2), EINVAL, "TARGET: end before start");
	s[0] = (struct cozk_span){ 10, 21, 1, 0 };
	fails(set(fd, s, 2), EINVAL, "TARGET: overlap");
	s[0] = (struct cozk_span){ 40, 50, 1, 0 };
	fails(set(fd, s, 2), EINVAL, "TARGET: not sorted by address");
	s[0] = (struct cozk_span){ 10, 20, 2, 0 };
	fails(set(fd, s, 2), EINVAL, "TARGET: not sorted by space");
	for (i = 0; i <= COZK_MAX_RANGES; i++)
		many[i] = (struct cozk_span){ i * 16, i * 16 + 8, 1, 0 };
	ok(!set(fd, many, COZK_MAX_RANGES), "TARGET: as many ranges as there may be");
	fails(set(fd, many, COZK_MAX_RANGES + 1), E2BIG, "TARGET: one more");
	free(many);
}

static int scope_of(int fd, uint32_t space, struct cozk_span *spans, uint32_t count)
{
	struct cozk_set_scope scope = { space, count, (uintptr_t)spans };

	return ioctl(fd, COZK_IOC_SCOPE, &scope);
}

static void scope(int fd)
{
	struct cozk_span s = { 10, 20, 1, 0 };
	struct child c = child_make(idle, NULL);

	fails(scope_of(fd, 1, &s, 1), EINVAL, "SCOPE: a space that is not there");
	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	ok(!scope_of(fd, 1, &s, 1), "SCOPE succeeds");
	ok(!scope_of(fd, 1, &s, 1), "SCOPE: replaced");
	ok(!scope_of(fd, 1, NULL, 0), "SCOPE: nothing");
	fails(scope_of(fd, 0, &s, 1), EINVAL, "SCOPE: space 0");
	fails(scope_of(fd, 2, &s, 1), EINVAL, "SCOPE: one past the last space");
	fails(scope_of(fd, 1, (void *)8, 1), EFAULT, "SCOPE: ranges at a wild address");
	fails(scope_of(fd, 1, &s, COZK_MAX_RANGES + 1), E2BIG, "SCOPE: too many");
	s.space = 2;
	fails(scope_of(fd, 1, &s, 1), EINVAL, "SCOPE: ranges of another space");
	child_kill(&c);
	session_settles_at(fd, 0);
}

static int try(int fd, struct cozk_window w)
{
	return ioctl(fd, COZK_IOC_WINDOW, &w);
}

static void window_values(int fd)
{
	static struct cozk_count counts[COZK_MAX_POINTS];
	struct cozk_window w = { .counts = (uintptr_t)counts, .counts_max = COZK_MAX_POINTS };
	struct child c = child_make(idle, NULL);

	fails(try(fd, w), ENOENT, "WINDOW: no thread");
	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
#define WITH(member, value)               \
	({                                \
		struct cozk_window v = w; \
		v.member = (value);       \
		v;                        \
	})
	ok(!try(fd, w), "WINDOW: duration 0 settles");
	ok(!try(fd, WITH(speedup, COZK_SPEEDUP_ONE)), "WINDOW: speedup 100 %%");
	fails(try(fd, WITH(speedup, COZK_SPEEDUP_ONE + 1)), EINVAL, "WINDOW: more");
	fails(try(fd, WITH(duration_ns, COZK_MAX_WINDOW_NS + 1)), EINVAL, "WINDOW: too long");
	fails(try(fd, WITH(flags, 1)), EINVAL, "WINDOW: unknown flag");
	fails(try(fd, WITH(reserved[0], 1)), EINVAL, "WINDOW: reserved");
	fails(try(fd, WITH(reserved[1], 1)), EINVAL, "WINDOW: reserved, last");
	fails(try(fd, WITH(period_ns, COZK_MIN_PERIOD_NS - 1)), EINVAL, "WINDOW: period too short");
	fails(try(fd, WITH(period_ns, COZK_MAX_PERIOD_NS + 1ULL)), EINVAL, "WINDOW: too long");
	ok(!try(fd, WITH(period_ns, COZK_MIN_PERIOD_NS)), "WINDOW: the shortest period");
	fails(try(fd, WITH(counts_max, 0)), ENOSPC, "WINDOW: no room for the counts");
	fails(try(fd, WITH(counts, 8)), EFAULT, "WINDOW: counts at a wild address");
	child_kill(&c);
	session_settles_at(fd, 0);
}

/* Whoever changes an experiment while it runs is told so at once. */
static void busy(void)
{
	struct cozk_window w;
	struct async_window a;
	struct cozk_span s = { 10, 20, 1, 0 };
	struct child c = child_make(idle, NULL);
	int fd = session_open();
	uint64_t start;

	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	window_start(&a, fd, 500 * MS, 50);
	start = now_ns();
	fails(set(fd, &s, 1), EBUSY, "TARGET in a window");
	fails(scope_of(fd, 1, &s, 1), EBUSY, "SCOPE in a window");
	fails(session_sampling(fd, MS), EBUSY, "SAMPLING in a window");
	fails(window(fd, 0, 0, &w), EBUSY, "WINDOW in a window");
	ok(session_status(fd).windows == 1, "STATUS works in a window");
	within(now_ns() - start, 0, 200 * MS, "and all that without waiting for its end");
	window_join(&a);
	ok(!a.ret && a.w.end_reason == COZK_END_DURATION, "which it comes to undisturbed");
	within(a.took_ns, 500 * MS, 900 * MS, "in its time");
	child_kill(&c);
	close(fd);
}

int main(void)
{
	int fd = session_open();
	int cl;

	client(fd);
	adopt();
	sampling(fd);
	sampling_event(fd);
	target(fd);
	scope(fd);
	cl = session_client(fd);
	if (point(cl, COZK_POINT_THROUGHPUT, "only") != 0)
		bail("no point");
	close(cl);
	window_values(fd);
	busy();
	close(fd);
	return done();
}
