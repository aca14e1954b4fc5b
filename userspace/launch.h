/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting the program: held before its first instruction until the session has it. */
#ifndef COZK_LAUNCH_H
#define COZK_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cozk_child {
	pid_t pid;
	int go;	    /* closing or writing it lets the child execute the program */
	int failed; /* delivers the errno of a failed execve; end of file: it succeeded */
	bool reaped;
	int status; /* wait status, when reaped */
};

struct cozk_launch {
	char *const *argv;
	int client_fd;	     /* handed on to the program, or -1 */
	const char *preload; /* library put in front of LD_PRELOAD, or NULL */
};

/* Forks; the child waits. Returns 0 or -errno. */
int cozk_launch_hold(const struct cozk_launch *launch, struct cozk_child *ret);

/* Lets it go. Returns 0 when the program runs, or the -errno of execve; the child is gone then. */
int cozk_launch_go(struct cozk_child *child);

/* Collects the child if it has ended. Never waits. Returns child->reaped. */
bool cozk_launch_reap(struct cozk_child *child);

/* The shell's status for a wait status: the exit status, or 128+N for signal N. */
int cozk_launch_exit_status(int wait_status);

/* "exit 3", "signal 9 (Killed)" */
const char *cozk_launch_status_text(int wait_status, char *buf, size_t len);

#endif
