/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/cozk: lifetime, control and bulk data.  Validates and translates; session.c does. */
#ifndef COZK_CHARDEV_H
#define COZK_CHARDEV_H

int cozk_chardev_setup(void);
void cozk_chardev_cleanup(void);

#endif
