// SPDX-License-Identifier: GPL-2.0-or-later
#include "run_signals.h"

#include <stddef.h>

volatile sig_atomic_t cozk_run_stop;

static volatile pid_t child_pid;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (cozk_run_stop)
		kill(child_pid, SIGKILL);
	else if (info->si_code != SI_KERNEL)
		kill(child_pid, number); /* a terminal would have told the whole group */
	cozk_run_stop = number;
}

void cozk_run_signals_catch(pid_t child)
{
	/* No SA_RESTART: waiting in a window or poll must end. */
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	child_pid = child;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}
