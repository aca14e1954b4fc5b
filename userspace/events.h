/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of perf events, as libpfm4 knows them. */
#ifndef COZK_EVENTS_H
#define COZK_EVENTS_H

#include <linux/perf_event.h>
#include <stddef.h>

/*
 * Turns an event's name, such as "cycles", "PERF_COUNT_SW_TASK_CLOCK" or "cache-misses:u", into
 * what COZK_IOC_SAMPLING wants; user and kernel mode count unless the name says otherwise. The
 * period is left 0. Whether this machine can count it is only known when it is tried. Returns 0, or with the
 * reason in @err as one line -ENOENT (no such event; names like it are told), -EINVAL (a part after
 * the name is wrong), or another -errno.
 */
int cozk_event_parse(const char *name, struct perf_event_attr *attr, char *err, size_t errlen);

#endif
