/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SIGINT, SIGTERM and SIGHUP of `cozk run`: the program gets them too, the profile is finished in any case. */
#ifndef COZK_RUN_SIGNALS_H
#define COZK_RUN_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

/* The last signal that asked for an end, 0: none. */
extern volatile sig_atomic_t cozk_run_stop;

/*
 * From now on the signals stop the experiments; those that the terminal has not sent to the program already are passed on
 * to @child. A second one kills it.
 */
void cozk_run_signals_catch(pid_t child);

#endif
