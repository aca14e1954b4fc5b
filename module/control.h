/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls of the control fd, one function each.  Context: process, may sleep; those that
 * change the session under session->control.  Errors: as in include/uapi/cozk.h, and -EFAULT.
 */
#ifndef COZK_CONTROL_H
#define COZK_CONTROL_H

#include <linux/compiler_types.h>

struct cozk_session;

long cozk_control_info(struct cozk_session *s, void __user *user);
long cozk_control_status(struct cozk_session *s, void __user *user);
long cozk_control_points(struct cozk_session *s, void __user *user);
long cozk_control_adopt(struct cozk_session *s, void __user *user);
long cozk_control_client(struct cozk_session *s, void __user *user);
long cozk_control_sampling(struct cozk_session *s, void __user *user);
long cozk_control_scope(struct cozk_session *s, void __user *user);
long cozk_control_target(struct cozk_session *s, void __user *user);
long cozk_control_window(struct cozk_session *s, void __user *user);

#endif
