// SPDX-License-Identifier: GPL-2.0-or-later
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "diag.h"

#define DEVICE_PATH "/dev/cozk"

static int check_abi(struct cozk_device *dev, char *err, size_t errlen)
{
	if (ioctl(dev->fd, COZK_IOC_INFO, &dev->info) < 0) {
		snprintf(err, errlen, DEVICE_PATH " is not cozk's device: %s", strerror(errno));
		return -EPROTO;
	}
	if (dev->info.abi_version == COZK_ABI_VERSION)
		return 0;
	snprintf(err, errlen, "the loaded module (cozk %.31s) has interface version %u, this program needs %u",
		 dev->info.version, dev->info.abi_version, COZK_ABI_VERSION);
	return -EPROTO;
}

int cozk_device_open(struct cozk_device *ret, char *err, size_t errlen)
{
	int error;

	ret->fd = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (ret->fd < 0) {
		error = -errno;
		if (error == -ENOENT || error == -ENODEV || error == -ENXIO)
			snprintf(err, errlen, "the kernel module cozk is not loaded (no " DEVICE_PATH ")");
		else
			snprintf(err, errlen, "cannot open " DEVICE_PATH ": %s", strerror(-error));
		return error;
	}
	error = check_abi(ret, err, errlen);
	if (error)
		cozk_device_close(ret);
	return error;
}

void cozk_device_close(struct cozk_device *dev)
{
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
}

const char *cozk_device_hint(int error)
{
	switch (-error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "load it with `insmod cozk.ko`; where modules cannot be loaded, run the command in the lab: "
		       "`cozk lab -- cozk run …`; "
		       "`cozk check` tells what this machine can do";
	case EACCES:
	case EPERM:
		return "become a member of the group that owns " DEVICE_PATH
		       " (`usermod -aG cozk USER`, then log in again), or use sudo";
	case EPROTO:
		return "build module and program from the same source: `make module`, then `rmmod cozk` and `insmod "
		       "cozk.ko`";
	default:
		return "`cozk check` tells what is missing";
	}
}

int cozk_device_exit_status(int error)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		return COZK_EXIT_NOPERM;
	case EPROTO:
		return COZK_EXIT_ABI;
	default:
		return COZK_EXIT_UNAVAILABLE;
	}
}

static int control(struct cozk_device *dev, unsigned long request, void *arg)
{
	int ret = ioctl(dev->fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int cozk_device_adopt(struct cozk_device *dev, pid_t pid)
{
	struct cozk_adopt adopt = { .pid = pid };

	return control(dev, COZK_IOC_ADOPT, &adopt);
}

int cozk_device_client(struct cozk_device *dev)
{
	struct cozk_client client = { .flags = COZK_CLIENT_CLOEXEC };

	return control(dev, COZK_IOC_CLIENT, &client);
}

int cozk_device_sampling(struct cozk_device *dev, uint64_t period_ns)
{
	struct cozk_sampling sampling = { .period_ns = period_ns };

	return control(dev, COZK_IOC_SAMPLING, &sampling);
}

int cozk_device_sampling_event(struct cozk_device *dev, uint64_t period_ns, const void *attr, uint64_t event_period)
{
	struct cozk_sampling sampling = {
		.period_ns = period_ns,
		.flags = COZK_SAMPLING_EVENT,
		.event_attr = (uintptr_t)attr,
		.event_period = event_period,
	};

	return control(dev, COZK_IOC_SAMPLING, &sampling);
}

int cozk_device_scope(struct cozk_device *dev, uint32_t space, const struct cozk_span *spans, size_t count)
{
	struct cozk_set_scope scope = { .space = space, .count = count, .ranges = (uintptr_t)spans };

	return control(dev, COZK_IOC_SCOPE, &scope);
}

int cozk_device_target(struct cozk_device *dev, const struct cozk_span *spans, size_t count)
{
	struct cozk_set_target target = { .count = count, .ranges = (uintptr_t)spans };

	return control(dev, COZK_IOC_TARGET, &target);
}

int cozk_device_window(struct cozk_device *dev, struct cozk_window *window)
{
	return control(dev, COZK_IOC_WINDOW, window);
}

int cozk_device_status(struct cozk_device *dev, struct cozk_status *ret)
{
	return control(dev, COZK_IOC_STATUS, ret);
}

int cozk_device_points(struct cozk_device *dev, struct cozk_point *ret, size_t max)
{
	struct cozk_points points = { .points = (uintptr_t)ret, .max = max };
	int error = control(dev, COZK_IOC_POINTS, &points);

	return error < 0 ? error : (int)points.count;
}
