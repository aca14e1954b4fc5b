/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink family "cozk": see include/uapi/cozk_netlink.h. */
#ifndef COZK_NETLINK_H
#define COZK_NETLINK_H

struct cozk_session;
struct cozk_window;
struct cozk_count;

int cozk_netlink_setup(void);
void cozk_netlink_cleanup(void);

/* Tells the group "windows" of a closed window.  Context: process, may sleep. */
void cozk_netlink_window(struct cozk_session *s, const struct cozk_window *w,
			 const struct cozk_count *counts);

#endif
