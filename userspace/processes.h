/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a session, as their records come out of the rings, and what the module is told of their addresses. */
#ifndef COZK_PROCESSES_H
#define COZK_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cozk_ring.h"
#include "device.h"
#include "resolve.h"

struct cozk_process {
	pid_t pid;
	uint32_t space; /* its address space id in the session */
	bool gone;
	bool scoped; /* the module knows its scope */
};

struct cozk_processes {
	struct cozk_process *v;
	size_t len, cap;
	struct cozk_resolver *resolver; /* borrowed */
	unsigned long maps_reads;	/* of the resolver when scopes were last told */
	unsigned long generation;	/* changes whenever a target's ranges may have */
	uint32_t ignored_space;		/* of the program that is not the program yet; 0: none */
};

void cozk_processes_init(struct cozk_processes *p, struct cozk_resolver *resolver);
void cozk_processes_deinit(struct cozk_processes *p);

/* Takes a FORK, EXEC or EXIT record, or the ids of a SAMPLE. Returns 0 or -ENOMEM. */
int cozk_processes_record(struct cozk_processes *p, const struct cozk_record *record);

/*
 * Tells the module the scope of every address space that is new or may have mapped more since. Returns 0 or the first
 * -errno.
 */
int cozk_processes_push_scopes(struct cozk_processes *p, struct cozk_device *dev);

/*
 * Makes the target the one under test, in every process that has it. Returns 0, -ENOENT (no process has such code;
 * @err says why) or another -errno.
 */
int cozk_processes_push_target(struct cozk_processes *p, struct cozk_device *dev, enum cozk_target_kind kind,
			       const char *name, char *err, size_t errlen);

/* Sends the signal to every process of the session that is not known to be gone. */
void cozk_processes_kill(const struct cozk_processes *p, int signal_number);

#endif
