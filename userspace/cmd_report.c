// SPDX-License-Identifier: GPL-2.0-or-later
/* cozk report: what a saved profile says. */
#include "commands.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "profile_read.h"
#include "report.h"

enum {
	KEY_FORMAT = 0x100,
	KEY_POINT,
	KEY_RUN,
	KEY_SORT,
	KEY_BASELINE,
	KEY_KEEP_ALL,
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "The profile (default " COZK_PROFILE_DEFAULT "; - is standard input)", 0 },
	{ "all", 'a', NULL, 0, "Show what is not told from noise too", 0 },
	{ "format", KEY_FORMAT, "FORMAT", 0, "table (default), json or csv", 0 },
	{ "point", KEY_POINT, "NAME", 0, "Only this progress point", 0 },
	{ "run", KEY_RUN, "N", 0, "The Nth run in the profile, all, or last (default)", 0 },
	{ "sort", KEY_SORT, "KEY", 0, "potential (default), slope, samples or name", 0 },
	{ "baseline", KEY_BASELINE, "RULE", 0,
	  "Compare with all windows at speedup 0 (pooled, default) or only with the target's own "
	  "(own, as Coz's viewer does)",
	  0 },
	{ "keep-all-windows", KEY_KEEP_ALL, NULL, 0, "Leave no window out, also where its experiment went wrong", 0 },
	{ 0 }
};

static const char doc[] = "Print which code, made faster, would make the program faster, from a profile of cozk or "
			  "Coz."
			  "\v"
			  "A row reads: if TARGET were faster by so much, the program would be faster by so much. "
			  "The slope is the program's speedup per speedup of the target: 1 means all of it arrives, "
			  "0 none, below 0 that it does harm. Intervals hold the truth in 19 of 20 cases.\n\n"
			  "Status: 0 printed; 2 wrong options; 3 nothing to report, with the reason; 65 not a "
			  "profile; 66 no such file.\n\n"
			  "Examples:\n"
			  "  cozk report\n"
			  "  cozk report --all --point request-done\n"
			  "  cozk report -i prog.jsonl --run all --format csv >prog.csv";

struct args {
	const char *input;
	const char *run;
	struct cozk_report_options report;
};

/* Index of @word in the NULL-terminated @words; a usage error otherwise. */
static int choice(struct argp_state *state, const char *option, const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(word, words[i]) == 0)
			return i;
	}
	argp_error(state, "--%s: unknown value \"%s\"", option, word);
	return -1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "table", "json", "csv", NULL };
	static const char *const sorts[] = { "potential", "slope", "samples", "name", NULL };
	static const char *const rules[] = { "pooled", "own", NULL };
	struct args *args = state->input;

	switch (key) {
	case 'i':
		args->input = arg;
		return 0;
	case 'a':
		args->report.all = true;
		return 0;
	case KEY_FORMAT:
		args->report.format = (enum cozk_report_format)choice(state, "format", arg, formats);
		return 0;
	case KEY_POINT:
		args->report.point = arg;
		return 0;
	case KEY_RUN:
		args->run = arg;
		return 0;
	case KEY_SORT:
		args->report.sort = (enum cozk_report_sort)choice(state, "sort", arg, sorts);
		return 0;
	case KEY_BASELINE:
		args->report.stats.baseline = (enum cozk_baseline_rule)choice(state, "baseline", arg, rules);
		return 0;
	case KEY_KEEP_ALL:
		args->report.stats.keep_all = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Returns 0 or an exit status. */
static int choose_run(const struct cozk_profile *p, struct args *args)
{
	char *end;
	unsigned long n;

	if (!args->run || strcmp(args->run, "last") == 0)
		return 0;
	if (strcmp(args->run, "all") == 0) {
		args->report.stats.run = COZK_RUN_ALL;
		return 0;
	}
	errno = 0;
	n = strtoul(args->run, &end, 10);
	if (errno || *end || args->run[0] < '0' || args->run[0] > '9' || n < 1 || n > p->runs_len) {
		cozk_errorf("give a number from 1 on, all, or last", "there is no run \"%s\": the profile holds %zu",
			    args->run, p->runs_len);
		return COZK_EXIT_USAGE;
	}
	args->report.stats.run = n - 1;
	return 0;
}

static int check_point(const struct cozk_profile *p, const char *name)
{
	char known[512] = "";

	if (!name)
		return 0;
	for (size_t i = 0; i < p->points_len; i++) {
		size_t used = strlen(known);

		if (strcmp(p->points[i].name, name) == 0)
			return 0;
		snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "it holds: ", p->points[i].name);
	}
	cozk_errorf(*known ? known : "it holds no progress point at all", "the profile has no progress point \"%s\"",
		    name);
	return COZK_EXIT_USAGE;
}

static void warn_about(const char *input, const struct cozk_read_report *read)
{
	size_t kept = read->warnings_len < COZK_READ_WARNINGS_MAX ? read->warnings_len : COZK_READ_WARNINGS_MAX;

	for (size_t i = 0; i < kept; i++)
		cozk_warningf(NULL, "%s: %s", input, read->warnings[i]);
	if (read->warnings_len > kept)
		cozk_warningf(NULL, "%s: %zu more like these", input, read->warnings_len - kept);
}

static int load(const char *input, struct cozk_profile *p)
{
	struct cozk_read_report read = { 0 };
	char why[512];
	int err = cozk_profile_read(input, p, &read, why, sizeof(why));

	if (!err) {
		warn_about(input, &read);
		return 0;
	}
	if (err == -EINVAL) {
		cozk_error(why, "cozk run -- PROGRAM makes a profile");
		return COZK_EXIT_DATAERR;
	}
	if (err == -ENOENT) {
		cozk_error(why, "make one: cozk run -- PROGRAM; or name it: --input FILE");
		return COZK_EXIT_NOINPUT;
	}
	cozk_error(why, NULL);
	return err == -ENOMEM ? COZK_EXIT_FAILURE : err == -EIO ? COZK_EXIT_IOERR : COZK_EXIT_NOINPUT;
}

static int report(struct args *args, struct cozk_profile *p)
{
	int status = load(args->input, p);

	if (!status)
		status = choose_run(p, args);
	if (!status)
		status = check_point(p, args->report.point);
	if (status)
		return status;
	status = cozk_report_print(p, &args->report, stdout);
	if (status < 0) {
		cozk_error(strerror(-status), NULL);
		return COZK_EXIT_FAILURE;
	}
	if (fflush(stdout) || ferror(stdout)) {
		cozk_errorf(NULL, "standard output: %s", strerror(errno));
		return COZK_EXIT_IOERR;
	}
	return status;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
	struct args args = { .input = COZK_PROFILE_DEFAULT };
	struct cozk_profile p = { 0 };
	int status;

	cozk_report_defaults(&args.report, stdout);
	argp_err_exit_status = COZK_EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &args))
		return COZK_EXIT_USAGE;
	status = report(&args, &p);
	cozk_profile_deinit(&p);
	return status;
}
