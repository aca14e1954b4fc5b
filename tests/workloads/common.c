// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

static const char workload_usage[] =
	"usage: %s [options]\n"
	"  --speedup PART=PERCENT  make the part really faster (repeatable)\n"
	"  --truth PART=PERCENT    print the program speedup that the formula gives, and exit;\n"
	"                          on top of --speedup\n"
	"  --unit-us N             CPU time of one unit (default 2000)\n"
	"  --seconds S             stop after S seconds, warm-up not counted\n"
	"  --items N               stop after N items, warm-up not counted\n"
	"                          (default: run until killed)\n"
	"  --warmup S              run so long before measuring (default 0.2)\n"
	"  --pin                   thread N to the Nth CPU\n"
	"  --any-cpus              run on fewer CPUs than the formula supposes, too\n"
	"  --rate                  print one JSON line on stderr at the end\n"
	"  --out FILE              print it to FILE\n"
	"  --loops-per-ms N        skip the calibration\n"
	"  --calibrate             print the calibration as a number, and exit\n"
	"parts:";

static struct {
	double unit_us;
	double seconds; /* 0: no limit */
	uint64_t items; /* 0: no limit */
	double warmup;
	double loops_per_ms;
	const char *out;
	bool rate;
	bool pin;
	bool any_cpus;
	bool never;
} options = { .unit_us = 2000, .warmup = 0.2 };

static const struct workload *self;
static cpu_set_t allowed;

static struct {
	bool on;
	bool done;
	uint64_t items;
	double start_s; /* wall clock: of the run, then of the measured part */
	double end_s;
	double thread_cpu_s[WORKLOAD_MAX_THREADS];
	int threads;
} measured;

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noreturn)) void usage_error(const char *text, const char *what)
{
	fprintf(stderr, "%s: %s%s\n", self->name, text, what);
	exit(2);
}

/* A number from `min` up. */
static double parse_number(const char *option, const char *text, double min)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno || !(value >= min && value <= 1e15)) {
		fprintf(stderr, "%s: --%s: not a number of at least %g: %s\n", self->name, option, min, text);
		exit(2);
	}
	return value;
}

/* "part_a=50": sets that part's speedup. */
static void parse_speedup(const char *option, const char *text)
{
	const char *equals = strchr(text, '=');
	double percent;

	if (!equals)
		usage_error("not PART=PERCENT: ", text);
	percent = parse_number(option, equals + 1, 0);
	if (percent > 100)
		usage_error("a speedup is at most 100: ", text);
	for (int i = 0; i < self->nr_parts; i++) {
		struct part *part = &self->parts[i];

		if (strlen(part->name) == (size_t)(equals - text) && !strncmp(part->name, text, strlen(part->name))) {
			part->speedup = percent / 100;
			return;
		}
	}
	usage_error("no such part: ", text);
}

static __attribute__((noreturn)) void print_truth(const char *speedup)
{
	double before = self->period(self->parts);

	parse_speedup("truth", speedup);
	printf("%.4f\n", (before - self->period(self->parts)) / before);
	exit(0);
}

static __attribute__((noreturn)) void print_help(void)
{
	printf(workload_usage, self->name);
	for (int i = 0; i < self->nr_parts; i++)
		printf(" %s (%g units)", self->parts[i].name, self->parts[i].units);
	printf("\n");
	exit(0);
}

/*
 * Loops in a millisecond of thread CPU time.  The best of eight, because whatever disturbs a run
 * (interrupts, a hypervisor that takes the CPU away) makes it look slower.
 */
static double calibrate(void)
{
	uint64_t loops = 100000;
	double best = 0;

	for (int run = 0; run < 8;) {
		double begin = now_s(CLOCK_THREAD_CPUTIME_ID), ms;

		WORK(loops);
		ms = (now_s(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e3;
		if (ms < 5) {
			loops *= 2;
			continue;
		}
		best = max2(best, (double)loops / ms);
		run++;
	}
	return best;
}

enum {
	OPT_SPEEDUP = 1,
	OPT_TRUTH,
	OPT_UNIT_US,
	OPT_SECONDS,
	OPT_ITEMS,
	OPT_WARMUP,
	OPT_PIN,
	OPT_ANY_CPUS,
	OPT_RATE,
	OPT_OUT,
	OPT_LOOPS,
	OPT_CALIBRATE,
	OPT_NEVER,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "speedup", required_argument, NULL, OPT_SPEEDUP },
	{ "truth", required_argument, NULL, OPT_TRUTH },
	{ "unit-us", required_argument, NULL, OPT_UNIT_US },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "items", required_argument, NULL, OPT_ITEMS },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "pin", no_argument, NULL, OPT_PIN },
	{ "any-cpus", no_argument, NULL, OPT_ANY_CPUS },
	{ "rate", no_argument, NULL, OPT_RATE },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "loops-per-ms", required_argument, NULL, OPT_LOOPS },
	{ "calibrate", no_argument, NULL, OPT_CALIBRATE },
	{ "never", no_argument, NULL, OPT_NEVER },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static void parse_option(int option, const char *name, const char **truth)
{
	switch (option) {
	case OPT_SPEEDUP:
		parse_speedup(name, optarg);
		break;
	case OPT_TRUTH:
		*truth = optarg;
		break;
	case OPT_UNIT_US:
		options.unit_us = parse_number(name, optarg, 0.001);
		break;
	case OPT_SECONDS:
		options.seconds = parse_number(name, optarg, 0.001);
		break;
	case OPT_ITEMS:
		options.items = (uint64_t)parse_number(name, optarg, 1);
		break;
	case OPT_WARMUP:
		options.warmup = parse_number(name, optarg, 0);
		break;
	case OPT_PIN:
		options.pin = true;
		break;
	case OPT_ANY_CPUS:
		options.any_cpus = true;
		break;
	case OPT_RATE:
		options.rate = true;
		break;
	case OPT_OUT:
		options.out = optarg;
		break;
	case OPT_LOOPS:
		options.loops_per_ms = parse_number(name, optarg, 1);
		break;
	case OPT_CALIBRATE:
		printf("%.0f\n", calibrate());
		exit(0);
	case OPT_NEVER:
		options.never = true;
		break;
	case OPT_HELP:
		print_help();
	default:
		exit(2);
	}
}

/* With fewer CPUs than the formula supposes, what is measured would not be its truth. */
static void confine(void)
{
	int cpus = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed)) {
		perror(self->name);
		exit(1);
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		if (++cpus > self->cpus && self->exactly)
			CPU_CLR(cpu, &allowed);
	}
	if (cpus < self->cpus && !options.any_cpus) {
		fprintf(stderr, "%s: needs %d CPUs, may use %d\n", self->name, self->cpus, cpus);
		exit(2);
	}
	if (self->exactly && sched_setaffinity(0, sizeof(allowed), &allowed)) {
		perror(self->name);
		exit(1);
	}
}

void workload_start(const struct workload *workload, int argc, char **argv)
{
	const char *truth = NULL;
	int option, index = 0;

	self = workload;
	while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1)
		parse_option(option, long_options[index].name, &truth);
	if (optind < argc)
		usage_error("unexpected argument: ", argv[optind]);
	if (truth)
		print_truth(truth);
	confine();
	if (!options.loops_per_ms)
		options.loops_per_ms = calibrate();
	for (int i = 0; i < self->nr_parts; i++) {
		struct part *part = &self->parts[i];

		part->loops = (uint64_t)(options.loops_per_ms * options.unit_us / 1000 * part_units(part));
	}
	measured.start_s = now_s(CLOCK_MONOTONIC);
}

void workload_thread_begin(int index)
{
	cpu_set_t one;
	int nth = index % CPU_COUNT(&allowed);

	if (!options.pin)
		return;
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0)
			CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		perror("--pin");
}

void workload_child_cpu(int index, double seconds)
{
	int threads = index + 1;

	measured.thread_cpu_s[index] = seconds;
	while (__atomic_load_n(&measured.threads, __ATOMIC_RELAXED) < threads)
		__atomic_store_n(&measured.threads, threads, __ATOMIC_RELAXED);
}

void workload_thread_end(int index)
{
	workload_child_cpu(index, now_s(CLOCK_THREAD_CPUTIME_ID));
}

bool workload_item(void)
{
	double now = now_s(CLOCK_MONOTONIC);

	if (!measured.on) {
		if (now - measured.start_s >= options.warmup) {
			measured.on = true;
			measured.start_s = now;
		}
		return false;
	}
	if (measured.done)
		return true;
	measured.items++;
	measured.end_s = now;
	measured.done = (options.items && measured.items >= options.items) ||
			(options.seconds && now - measured.start_s >= options.seconds);
	return measured.done;
}

bool workload_never(void)
{
	return options.never;
}

int workload_finish(void)
{
	FILE *out = stderr;
	double seconds = measured.end_s - measured.start_s;

	if (!options.rate && !options.out)
		return 0;
	if (!measured.items) {
		fprintf(stderr, "%s: ended before an item was measured\n", self->name);
		return 1;
	}
	if (options.out)
		out = fopen(options.out, "w");
	if (!out) {
		perror(options.out);
		return 1;
	}
	fprintf(out, "{\"program\":\"%s\",\"items\":%llu,\"seconds\":%.6f,", self->name,
		(unsigned long long)measured.items, seconds);
	fprintf(out, "\"period_ns\":%.0f,\"formula_ns\":%.0f,\"unit_us\":%g,\"loops_per_ms\":%.0f,",
		seconds * 1e9 / (double)measured.items, self->period(self->parts) * options.unit_us * 1e3,
		options.unit_us, options.loops_per_ms);
	fprintf(out, "\"thread_cpu_s\":[");
	for (int i = 0; i < measured.threads; i++)
		fprintf(out, "%s%.4f", i ? "," : "", measured.thread_cpu_s[i]);
	fprintf(out, "]}\n");
	if (ferror(out) || (options.out && fclose(out))) {
		perror("--out");
		return 1;
	}
	return 0;
}
