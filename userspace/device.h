/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module's first door: /dev/cozk, one session per open device. */
#ifndef COZK_DEVICE_H
#define COZK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cozk.h"

struct cozk_device {
	int fd; /* control fd; closing it ends the session */
	struct cozk_info info;
};

/*
 * Opens a session. Returns 0 or -errno: -ENOENT or -ENODEV (no module), -EACCES or -EPERM (no right to the device),
 * -EPROTO (a module of another ABI); @err then says so in one line.
 */
int cozk_device_open(struct cozk_device *ret, char *err, size_t errlen);
void cozk_device_close(struct cozk_device *dev);

/* What to do about a failed cozk_device_open(), one line; and the exit status for it. */
const char *cozk_device_hint(int error);
int cozk_device_exit_status(int error);

/* Each returns 0 or -errno as documented with the ioctl in include/uapi/cozk.h. */
int cozk_device_adopt(struct cozk_device *dev, pid_t pid);
int cozk_device_client(struct cozk_device *dev); /* a client fd, close-on-exec */
int cozk_device_sampling(struct cozk_device *dev, uint64_t period_ns);
int cozk_device_sampling_event(struct cozk_device *dev, uint64_t period_ns, const void *attr, uint64_t event_period);
int cozk_device_scope(struct cozk_device *dev, uint32_t space, const struct cozk_span *spans, size_t count);
int cozk_device_target(struct cozk_device *dev, const struct cozk_span *spans, size_t count);
int cozk_device_window(struct cozk_device *dev, struct cozk_window *window);
int cozk_device_status(struct cozk_device *dev, struct cozk_status *ret);
/* Fills up to @max points; returns how many there are. */
int cozk_device_points(struct cozk_device *dev, struct cozk_point *ret, size_t max);

#endif
