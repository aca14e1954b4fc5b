/* SPDX-License-Identifier: GPL-2.0-only */
/* One experiment: open, wait, close, settle. */
#ifndef COZK_WINDOW_H
#define COZK_WINDOW_H

struct cozk_session;
struct cozk_window;
struct cozk_count;

/*
 * Runs the window @w to its end; @counts has room for COZK_MAX_POINTS.  Context: process, sleeps
 * for the window's duration, under session->control.  Errors: as COZK_IOC_WINDOW.
 */
int cozk_window_run(struct cozk_session *s, struct cozk_window *w, struct cozk_count *counts);

#endif
