// SPDX-License-Identifier: GPL-2.0-or-later
/* The same device for a user without rights; run.sh lets anyone open it meanwhile. */
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static struct meter *meter;

/* Half its time in the kernel, so that a sample has an address there. */
static int system_calls(void *unused)
{
	char buffer[4096];
	int ends[2];

	(void)unused;
	if (pipe(ends))
		return 1;
	for (;;) {
		if (write(ends[1], buffer, sizeof(buffer)) < 0 || read(ends[0], buffer, sizeof(buffer)) < 0)
			return 1;
		meter->count++;
	}
}

static void adopt(void)
{
	int fd = session_open();

	fails(session_adopt(fd, 1), EPERM, "ADOPT of a root process: EPERM");
	ok(session_status(fd).threads_seen == 0, "which leaves no trace");
	close(fd);
}

static void event(int fd)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };
	struct cozk_sampling s = {
		.flags = COZK_SAMPLING_EVENT,
		.event_attr = (uintptr_t)&attr,
		.event_period = MS,
	};

	fails(ioctl(fd, COZK_IOC_SAMPLING, &s), EACCES, "SAMPLING by an event: EACCES");
}

static void kernel_addresses(void)
{
	struct held h = held_make(system_calls, NULL);
	struct cozk_record r;
	unsigned int in_kernel = 0, told = 0, i;

	child_go(&h.child);
	for (i = 0; i < 100 && in_kernel < 20; i++) {
		sleep_ms(20);
		while (rings_next(h.rings, &r)) {
			in_kernel += r.type == COZK_RECORD_SAMPLE && r.flags & COZK_SAMPLE_KERNEL;
			told += r.kernel_ip != 0;
		}
	}
	ok(in_kernel >= 20, "one's own program can be sampled, in the kernel too");
	if (geteuid())
		ok(!told, "but no kernel address is told");
	else
		ok(told, "with the kernel's addresses");
	held_end(&h);
}

int main(void)
{
	struct cozk_info info;
	int fd = session_open();

	meter = shared(sizeof(*meter));
	if (ioctl(fd, COZK_IOC_INFO, &info))
		bail("INFO failed");
	if (geteuid()) {
		ok(!(info.features & COZK_FEATURE_KERNEL_IP), "no kernel addresses are promised");
		adopt();
		event(fd);
	}
	kernel_addresses();
	close(fd);
	return done();
}
