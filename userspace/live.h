/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line about the run while it goes on, for somebody at a terminal. */
#ifndef COZK_LIVE_H
#define COZK_LIVE_H

struct cozk_controller;

/* Draws or redraws the line on standard error. */
void cozk_live_update(struct cozk_controller *c);

/* Takes it away again. */
void cozk_live_clear(void);

#endif
