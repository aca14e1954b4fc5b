// SPDX-License-Identifier: GPL-2.0-or-later
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "preload.h"

/* Can CPU cycles be counted by hardware? */
static void check_counters(struct cozk_check *check)
{
	struct perf_event_attr attr;
	int fd, error;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	error = errno;
	if (fd >= 0) {
		close(fd);
		cozk_check_add(check, "counters", COZK_CHECK_OK, "hardware counters work: -e cycles and others");
		return;
	}
	switch (error) {
	case EACCES:
	case EPERM:
		cozk_check_add(check, "counters", COZK_CHECK_NOTE, "hardware counters are not permitted (-e EVENT)");
		cozk_check_mend(check, "sysctl kernel.perf_event_paranoid=2, or run cozk as root");
		break;
	case ENOSYS:
		cozk_check_add(check, "counters", COZK_CHECK_NOTE,
			       "perf events are not available here: the clock samples, -e does not work");
		break;
	default:
		cozk_check_add(check, "counters", COZK_CHECK_NOTE,
			       "no hardware counters (%s): the clock samples, which is the default", strerror(error));
	}
}

static void check_library(struct cozk_check *check)
{
	char path[PATH_MAX];

	if (!cozk_preload_library(path, sizeof(path))) {
		cozk_check_add(check, "library", COZK_CHECK_OK, "%.480s", path);
		return;
	}
	cozk_check_add(check, "library", COZK_CHECK_MISSING,
		       "libcoz-lite.so, which progress points need, is not at %.400s", path);
	cozk_check_mend(check, "make lib, or COZK_LIBRARY=/path/to/libcoz-lite.so");
}

/* libdw loads the client by itself, if it is there. */
static void check_debuginfo(struct cozk_check *check)
{
	void *client = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (client)
		dlclose(client);
	if (client && urls && *urls) {
		cozk_check_add(check, "debuginfod", COZK_CHECK_OK, "missing debug information is fetched from %.400s",
			       urls);
		return;
	}
	cozk_check_add(check, "debuginfod", COZK_CHECK_NOTE,
		       "debug information of packages is only found where it is installed");
	cozk_check_mend(check, "%sexport DEBUGINFOD_URLS=https://debuginfod.debian.net",
			client ? "" : "apt install libdebuginfod1; ");
}

void cozk_check_tools(struct cozk_check *check)
{
	check_library(check);
	check_counters(check);
	check_debuginfo(check);
}
