/* SPDX-License-Identifier: GPL-2.0-only */
/* The scheduler's tracepoints: where threads are born, run, wait, let each other go, and die. */
#ifndef COZK_HOOKS_H
#define COZK_HOOKS_H

int cozk_hooks_setup(void);

/*
 * Registers the hooks with the first user, unregisters with the last and waits until none runs,
 * so that a module without a session costs nothing.  Context: process, may sleep.
 */
int cozk_hooks_get(void);
void cozk_hooks_put(void);

#endif
