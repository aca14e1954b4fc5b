/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run loop: look, choose a target, open a window, keep what it measured, repeat. */
#ifndef COZK_CONTROLLER_H
#define COZK_CONTROLLER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "launch.h"
#include "plan.h"
#include "processes.h"
#include "profile.h"
#include "resolve.h"
#include "ring.h"
#include "samples.h"

/* A thing to try, by the plan's index. Strings belong to the controller's samples or options. */
struct cozk_controller_target {
	const char *name;
	enum cozk_unit unit;
	const char *function;
	const char *binary;
	const char *chain;
};

struct cozk_controller {
	/* set by the caller, borrowed */
	struct cozk_device *dev;
	struct cozk_resolver *resolver;
	struct cozk_profile_file *profile;
	struct cozk_child *child;
	volatile sig_atomic_t *stop;		      /* a signal: no more windows */
	uint64_t window_period_ns;		      /* sample period inside windows */
	uint64_t duration_ns;			      /* of the experimenting, 0: to the end of the program */
	bool end_to_end;			      /* one window, which is the whole run */
	void (*on_window)(struct cozk_controller *c); /* after each window, or NULL */

	struct cozk_plan plan;
	struct cozk_samples samples;
	struct cozk_processes processes;
	struct cozk_ring ring;
	struct cozk_controller_target *targets;
	size_t targets_len, targets_cap;

	struct cozk_point *points; /* COZK_MAX_POINTS */
	size_t points_len;
	struct cozk_count *counts;  /* COZK_MAX_POINTS */
	struct cozk_visits *visits; /* COZK_MAX_POINTS */
	size_t visits_len;

	uint64_t start_ns;
	uint64_t windows; /* kept in the profile */
	uint64_t windows_opened;
	uint64_t settle_ns;
	uint64_t visits_seen; /* of all points */
	bool program_over;    /* no thread of the session is left */
	int profile_error;    /* the first failed write, -errno */
	int memory_error;     /* -ENOMEM once records could not be kept */
	char problem[512];    /* what ended the experimenting early, or "" */
	int problem_code;
};

/* @by: lines or functions. Returns 0 or -errno. */
int cozk_controller_init(struct cozk_controller *c, enum cozk_unit by, uint64_t seed);
void cozk_controller_deinit(struct cozk_controller *c);

/* Adds a target that the user asked for. Returns 0 or -ENOMEM. */
int cozk_controller_fix(struct cozk_controller *c, enum cozk_unit unit, const char *name);

/*
 * Runs experiments until the program ends, the duration is over, *stop is set, or something fails (c->problem). Returns 0
 * or -errno.
 */
int cozk_controller_run(struct cozk_controller *c);

/* Takes in what the rings hold. */
void cozk_controller_drain(struct cozk_controller *c);

/* Writes the runtime record and the samples. @status: as in cozk_runtime. Returns 0 or -errno. */
int cozk_controller_finish(struct cozk_controller *c, const char *status, const char *reason);

#endif
