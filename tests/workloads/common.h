/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the ground-truth workloads: options, calibrated work, measurement.
 *
 * A workload is a few parts, each a function of its own that does pure register work of so many
 * units, and a formula that gives the time of one item from the times of the parts.  So the
 * effect of making a part faster is known exactly, and --speedup PART=PERCENT really does it.
 */
#ifndef WORKLOAD_COMMON_H
#define WORKLOAD_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WORKLOAD_MAX_PARTS = 4,
	WORKLOAD_MAX_THREADS = 4,
};

struct part {
	const char *name; /* of its function too */
	double units;	  /* CPU time of one run, in units, at speedup 0 */
	double speedup;	  /* 0 to 1, from --speedup */
	uint64_t loops;	  /* what its function runs; set by workload_start() */
};

struct workload {
	const char *name;
	struct part *parts;
	int nr_parts;
	int cpus;				    /* its truth holds on at least so many */
	bool exactly;				    /* ... or on exactly so many: it confines itself to them */
	double (*period)(const struct part *parts); /* units an item, from parts' part_units() */
};

/*
 * Parses the options of `argv` (see workload_usage in common.c), calibrates and confines.  Exits
 * with a message and status 2 on a usage error, with 0 after --help, --truth and --calibrate.
 * Call it before there are threads.
 */
void workload_start(const struct workload *workload, int argc, char **argv);

/* A thread's first call: pins it with --pin.  `index` 0 … WORKLOAD_MAX_THREADS - 1. */
void workload_thread_begin(int index);

/* And its last: records its CPU time. */
void workload_thread_end(int index);

/* Records the CPU seconds of a child process in place of a thread's. */
void workload_child_cpu(int index, double seconds);

/* One item is done; one thread calls this.  Returns true from the last one wanted on. */
bool workload_item(void);

/* Prints the result line if --rate or --out asked for it.  Returns the exit status of main. */
int workload_finish(void);

/* Whether --never was given: it never is, but the compiler cannot know. */
bool workload_never(void);

/* Units that a run of the part takes at its speedup. */
static inline double part_units(const struct part *part)
{
	return part->units * (1 - part->speedup);
}

static inline double max2(double a, double b)
{
	return a > b ? a : b;
}

/* A part's function: findable by symbol, never inlined, cloned or merged with its twin. */
#ifdef __clang__
#define PART __attribute__((noinline, used))
#else
#define PART __attribute__((noipa, used))
#endif

/* A macro, so that the work belongs to the line that uses it and not to one line here. */
#define WORK(loops)                                     \
	do {                                            \
		uint64_t x_ = 88172645463325252ULL;     \
		for (uint64_t i_ = (loops); i_; i_--) { \
			x_ ^= x_ << 13;                 \
			x_ ^= x_ >> 7;                  \
			x_ ^= x_ << 17;                 \
		}                                       \
		__asm__ volatile("" : : "r"(x_));       \
	} while (0)

#endif
