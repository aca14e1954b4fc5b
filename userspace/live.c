// SPDX-License-Identifier: GPL-2.0-or-later
#include "live.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "controller.h"

static bool drawn;

void cozk_live_update(struct cozk_controller *c)
{
	struct timespec now;
	double elapsed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	elapsed = now.tv_sec + now.tv_nsec / 1e9 - c->start_ns / 1e9;
	fprintf(stderr, "\r\033[Kcozk: %.0f s, %lu windows, %lu samples in scope, ", elapsed, (unsigned long)c->windows,
		(unsigned long)c->samples.in_scope);
	if (c->points_len)
		fprintf(stderr, "%lu visits (Ctrl-C ends the run)", (unsigned long)c->visits_seen);
	else
		fprintf(stderr, "no progress point yet: measuring end to end");
	fflush(stderr);
	drawn = true;
}

void cozk_live_clear(void)
{
	if (drawn)
		fputs("\r\033[K", stderr);
	drawn = false;
}
