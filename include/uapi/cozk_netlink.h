/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "cozk": see the sessions of this machine, follow their windows.
 * Nothing here makes, changes or keeps a session: that is what the fd of /dev/cozk is for.
 *
 *   COZK_CMD_SESSION_GET  with NLM_F_DUMP: every session the caller may see (its own user's;
 *                         all with CAP_SYS_PTRACE), one message each
 *   COZK_CMD_SESSION_GET  with COZK_ATTR_SESSION: one of them; ENOENT
 *   COZK_CMD_WINDOW       multicast to group "windows" when a window has closed
 *                         (joining needs CAP_NET_ADMIN)
 */
#ifndef _UAPI_COZK_NETLINK_H
#define _UAPI_COZK_NETLINK_H

#define COZK_GENL_NAME "cozk"
#define COZK_GENL_VERSION 1
#define COZK_GENL_GROUP_WINDOWS "windows"

enum cozk_genl_cmd {
	COZK_CMD_UNSPEC,
	COZK_CMD_SESSION_GET,
	COZK_CMD_WINDOW,
	__COZK_CMD_MAX,
};
#define COZK_CMD_MAX (__COZK_CMD_MAX - 1)

enum cozk_genl_attr {
	COZK_ATTR_UNSPEC,
	COZK_ATTR_PAD,
	COZK_ATTR_SESSION,	/* u32: session number, from 1 since the module was loaded */
	COZK_ATTR_OWNER_PID,	/* u32: process that opened it, in the reader's pid namespace */
	COZK_ATTR_OWNER_UID,	/* u32 */
	COZK_ATTR_AGE_NS,	/* u64 */
	COZK_ATTR_THREADS,	/* u32: alive */
	COZK_ATTR_WINDOWS,	/* u64: closed so far */
	COZK_ATTR_SAMPLES,	/* u64 */
	COZK_ATTR_PAUSED_NS,	/* u64 */
	COZK_ATTR_COMM,		/* string: the owner's command */
	COZK_ATTR_WINDOW_ID,	/* u64 */
	COZK_ATTR_SPEEDUP,	/* u32, of COZK_SPEEDUP_ONE */
	COZK_ATTR_START_NS,	/* u64, CLOCK_MONOTONIC */
	COZK_ATTR_END_NS,	/* u64 */
	COZK_ATTR_DUE_NS,	/* u64: delay put in during the window */
	COZK_ATTR_HITS,		/* u64 */
	COZK_ATTR_POINT,	/* nest, repeated: one progress counter */
	COZK_ATTR_POINT_INDEX,	/* u32 */
	COZK_ATTR_POINT_TYPE,	/* u32 */
	COZK_ATTR_POINT_DELTA,	/* u64: visits in the window */
	__COZK_ATTR_MAX,
};
#define COZK_ATTR_MAX (__COZK_ATTR_MAX - 1)

#endif
