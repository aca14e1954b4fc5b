/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time for the small behaviour programs, which run for so long and not for so much. */
#ifndef WORKLOAD_CLOCK_H
#define WORKLOAD_CLOCK_H

#include <stdlib.h>
#include <time.h>

static inline double wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The program's first argument as a number, or `usual`. */
static inline double argument(int argc, char **argv, double usual)
{
	return argc > 1 ? atof(argv[1]) : usual;
}

#endif
