/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module's second door: sessions of this machine, also those of others. */
#ifndef COZK_NETLINK_H
#define COZK_NETLINK_H

#include <stddef.h>
#include <stdint.h>

/* One session, as include/uapi/cozk_netlink.h has it. */
struct cozk_session_info {
	uint32_t number;    /* from 1 since the module was loaded */
	uint32_t owner_pid; /* 0: not in our pid namespace */
	uint32_t owner_uid;
	uint32_t threads; /* alive */
	uint64_t age_ns;
	uint64_t windows; /* closed so far */
	uint64_t samples;
	uint64_t paused_ns; /* of all threads together */
	char comm[64];	    /* the owner's command */
};

/*
 * Calls @fn with every session that the caller may see, in order of number, until it returns
 * non-zero, which is returned. Else 0, or with the reason in @err as one line
 *   -ENOENT  the module is not loaded
 *   -ENONET  it is, but cannot be asked from this network namespace
 * or another -errno.
 */
int cozk_netlink_sessions(int (*fn)(const struct cozk_session_info *session, void *arg), void *arg, char *err,
			  size_t errlen);

#endif
