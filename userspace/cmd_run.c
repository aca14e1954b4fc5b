// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands.h"

#include <errno.h>
#include <linux/limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "controller.h"
#include "device.h"
#include "diag.h"
#include "events.h"
#include "launch.h"
#include "live.h"
#include "preload.h"
#include "profile.h"
#include "program.h"
#include "report.h"
#include "resolve.h"
#include "run_options.h"
#include "run_signals.h"

/* Seconds are enough to tell runs apart; the process id keeps two of one second apart. */
static uint64_t make_seed(void)
{
	return ((uint64_t)time(NULL) << 20 | (uint64_t)getpid()) & ((1ULL << 53) - 1);
}

/* Everything one run needs; freed in the reverse order. */
struct run {
	struct cozk_run_options options;
	struct cozk_device dev;
	struct cozk_resolver *resolver;
	struct cozk_profile_file *profile;
	struct cozk_child child;
	struct cozk_controller controller;
	char library[PATH_MAX];
	const char *preload; /* library to preload, or NULL */
};

static int program_status(int error)
{
	return error == -ENOENT ? COZK_EXIT_NOT_FOUND : COZK_EXIT_NOT_EXECUTABLE;
}

static int find_library(struct run *run)
{
	if (cozk_preload_library(run->library, sizeof(run->library)) == 0)
		run->preload = run->library;
	else
		cozk_warningf("build it with `make lib`, or set COZK_LIBRARY to its path",
			      "no libcoz-lite.so at %s, so progress points in the program will not count",
			      run->library);
	return 0;
}

/* Before anything is opened or started: can this program be run at all? */
static int check_program(struct run *run)
{
	const char *program = run->options.program[0];
	char path[PATH_MAX], why[512];
	int needed = cozk_program_find(program, path, sizeof(path), why, sizeof(why));

	if (needed) {
		cozk_error(why, "is it installed, and is the name or path right?");
		return program_status(needed);
	}
	if (run->options.preload == COZK_PRELOAD_NEVER)
		return 0;
	needed = cozk_preload_needed(path, why, sizeof(why));
	if (needed < 0) {
		cozk_error(why, "give a program for this machine");
		return program_status(needed);
	}
	return run->options.preload == COZK_PRELOAD_ALWAYS || needed != COZK_PRELOAD_NO ? find_library(run) : 0;
}

static int open_output(struct run *run)
{
	char err[512];

	if (!cozk_profile_open(run->options.output, run->options.mode, &run->profile, err, sizeof(err)))
		return 0;
	cozk_error(err, "choose another file with -o");
	return COZK_EXIT_CANTCREAT;
}

static int open_device(struct run *run)
{
	char err[512];
	int error = cozk_device_open(&run->dev, err, sizeof(err));

	if (!error)
		return 0;
	cozk_error(err, cozk_device_hint(error));
	return cozk_device_exit_status(error);
}

/* Falls back to the clock where the event does not exist: a profile by time is better than none. */
static int start_sampling(struct run *run)
{
	const struct cozk_run_options *o = &run->options;
	struct perf_event_attr attr;
	char err[512];
	int error;

	if (o->event) {
		error = cozk_event_parse(o->event, &attr, err, sizeof(err));
		if (error) {
			cozk_error(err, "event names are libpfm4's");
			return COZK_EXIT_USAGE;
		}
		error = cozk_device_sampling_event(&run->dev, o->period_ns, &attr, o->event_period);
		if (!error)
			return 0;
		cozk_warningf("without -e it is the CPU clock anyway",
			      "this machine cannot sample on %s (%s): using the CPU clock", o->event, strerror(-error));
		run->options.event = NULL;
	}
	error = cozk_device_sampling(&run->dev, o->period_ns);
	if (error) {
		cozk_errorf("`cozk check` tells what this machine can do", "the module cannot sample: %s",
			    strerror(-error));
		return COZK_EXIT_UNAVAILABLE;
	}
	return 0;
}

static int set_up_controller(struct run *run)
{
	const struct cozk_run_options *o = &run->options;
	struct cozk_controller *c = &run->controller;
	char err[256];
	size_t i;
	int error;

	c->dev = &run->dev;
	c->resolver = run->resolver;
	c->profile = run->profile;
	c->child = &run->child;
	c->stop = &cozk_run_stop;
	c->window_period_ns = o->window_period_ns;
	c->duration_ns = o->duration_ns;
	c->end_to_end = o->end_to_end;
	if (!o->quiet && isatty(STDERR_FILENO))
		c->on_window = cozk_live_update;
	error = cozk_controller_init(c, o->by, o->seed);
	for (i = 0; i < o->lines_len && !error; i++)
		error = cozk_controller_fix(c, COZK_UNIT_LINE, o->lines[i]);
	for (i = 0; i < o->functions_len && !error; i++)
		error = cozk_controller_fix(c, COZK_UNIT_FUNCTION, o->functions[i]);
	if (error) {
		cozk_errorf(NULL, "cannot set up the session: %s", strerror(-error));
		return COZK_EXIT_FAILURE;
	}
	if (cozk_plan_speedups(&c->plan, o->speedups ? o->speedups : "0-100:25", err, sizeof(err))) {
		cozk_error(err, "as in --speedups 0,25,50 or --speedups 0-100:10");
		return COZK_EXIT_USAGE;
	}
	if (o->window_ns)
		c->plan.window_ns = c->plan.min_window_ns = c->plan.max_window_ns = o->window_ns;
	return 0;
}

static int write_startup(struct run *run)
{
	const struct cozk_run_options *o = &run->options;
	struct timespec now;
	struct utsname uts;
	struct cozk_startup startup;
	int error;

	uname(&uts);
	clock_gettime(CLOCK_REALTIME, &now);
	startup = (struct cozk_startup){
		.time_ns = now.tv_sec * 1000000000ULL + now.tv_nsec,
		.version = COZK_VERSION,
		.abi = run->dev.info.abi_version,
		.argv = (const char *const *)o->program,
		.seed = o->seed,
		.kernel = uts.release,
		.by = o->by,
		.cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.sample_period_ns = o->period_ns,
		.window_period_ns = o->window_period_ns,
		.event = o->event,
	};
	error = cozk_profile_startup(run->profile, &startup);
	if (!error)
		return 0;
	cozk_error(cozk_profile_error(run->profile), "choose another file with -o, or make room");
	return COZK_EXIT_IOERR;
}

/* Holds the program at its door, makes it the session's, lets it go. */
static int start_program(struct run *run)
{
	struct cozk_launch launch = { .argv = run->options.program, .preload = run->preload };
	int error;

	launch.client_fd = cozk_device_client(&run->dev);
	if (launch.client_fd < 0) {
		cozk_errorf(NULL, "the module gives no client fd: %s", strerror(-launch.client_fd));
		return COZK_EXIT_FAILURE;
	}
	error = cozk_launch_hold(&launch, &run->child);
	close(launch.client_fd);
	if (error) {
		cozk_errorf("is there a limit on processes (ulimit -u)?", "cannot fork: %s", strerror(-error));
		return COZK_EXIT_FAILURE;
	}
	cozk_run_signals_catch(run->child.pid);
	error = cozk_device_adopt(&run->dev, run->child.pid);
	if (error) {
		kill(run->child.pid, SIGKILL);
		cozk_errorf(NULL, "the module does not take the program: %s", strerror(-error));
		return error == -EPERM ? COZK_EXIT_NOPERM : COZK_EXIT_FAILURE;
	}
	/* Until the exec it is a copy of cozk, in the session's first address space. */
	run->controller.processes.ignored_space = 1;
	error = cozk_launch_go(&run->child);
	if (!error)
		return 0;
	cozk_errorf("is it a program for this machine?", "cannot execute %s: %s", run->options.program[0],
		    strerror(-error));
	return error == -ENOENT ? COZK_EXIT_NOT_FOUND : COZK_EXIT_NOT_EXECUTABLE;
}

/* How long what the program has started may take to end after it was told to. */
enum { LEAVE_MS = 2000, WAIT_MS = 100 };

/*
 * The session's threads run on, now undisturbed, until the last has ended or a second signal is impatient. @told: they
 * have been sent SIGTERM.
 */
static void wait_for_end(struct run *run, bool told)
{
	struct pollfd fd = { .fd = run->dev.fd };
	int left = LEAVE_MS / WAIT_MS;

	for (;;) {
		cozk_launch_reap(&run->child);
		cozk_controller_drain(&run->controller);
		if (poll(&fd, 1, WAIT_MS) > 0 && fd.revents & POLLHUP)
			break;
		if (told && run->child.reaped && left-- <= 0)
			break;
		/* Asked to stop: what the program left running is not waited for. */
		if (cozk_run_stop && run->child.reaped)
			break;
	}
	while (!cozk_launch_reap(&run->child))
		poll(NULL, 0, 5);
}

/* A shell between us and the work would keep the signal to itself, so everybody gets it. */
static void end_program(struct run *run)
{
	cozk_controller_drain(&run->controller);
	cozk_processes_kill(&run->controller.processes, SIGTERM);
	wait_for_end(run, true);
}

static bool ended_by_duration(const struct run *run)
{
	return run->options.duration_ns && !cozk_run_stop && !run->controller.program_over;
}

static const char *why_nothing(const struct run *run)
{
	const struct cozk_controller *c = &run->controller;

	if (c->problem_code)
		return c->problem;
	if (c->windows)
		return NULL;
	if (!c->samples.total)
		return "the program ended before the first sample";
	if (!c->samples.in_scope)
		return "no sample fell into the scope";
	return "the program ended before the first window";
}

static int finish_profile(struct run *run)
{
	char status[64];

	cozk_launch_status_text(run->child.status, status, sizeof(status));
	cozk_controller_finish(&run->controller, status, why_nothing(run));
	if (!run->controller.profile_error)
		return 0;
	cozk_error(cozk_profile_error(run->profile),
		   "make room, or choose another file with -o; the table below has everything");
	return COZK_EXIT_IOERR;
}

/* Returns 0, or the status for a profile that says nothing. */
static int report(struct run *run)
{
	struct cozk_report_options options;
	int status;

	if (run->options.no_report)
		return run->controller.windows ? 0 : COZK_EXIT_NOTHING;
	/* Asked for nothing but a baseline, the user knows that no effect can come out. */
	if (run->controller.plan.speedups_len == 1 && run->controller.windows)
		return 0;
	cozk_report_defaults(&options, stdout);
	status = cozk_report_print(cozk_profile_model(run->profile), &options, stdout);
	fflush(stdout);
	if (!run->options.quiet && run->controller.windows && !run->controller.points_len)
		fprintf(stderr, "cozk: no progress point was visited, so progress is the CPU time the program got; "
				"COZ_PROGRESS of cozk.h marks what really counts\n");
	if (!run->options.quiet && run->controller.windows)
		fprintf(stderr, "cozk: profile in %s; `cozk report -i %s` prints this table again\n",
			run->options.output, run->options.output);
	return status;
}

/* What ended the experiments and is the user's to mend. */
static int problem_status(struct run *run)
{
	struct cozk_controller *c = &run->controller;

	if (!c->problem_code)
		return 0;
	end_program(run);
	finish_profile(run);
	if (c->problem_code == -ENOENT || c->problem_code == -EINVAL) {
		cozk_error(c->problem,
			   "`cozk list lines PROGRAM` and `cozk list functions PROGRAM` show what there is");
		return COZK_EXIT_DATAERR;
	}
	cozk_errorf(NULL, "%s: %s", c->problem, strerror(-c->problem_code));
	return COZK_EXIT_FAILURE;
}

static int profile_program(struct run *run)
{
	int status, io_status, report_status;
	bool cut;

	cozk_controller_run(&run->controller);
	cozk_live_clear();
	status = problem_status(run);
	if (status)
		return status;
	cut = ended_by_duration(run);
	if (cut)
		end_program(run);
	else
		wait_for_end(run, false);
	io_status = finish_profile(run);
	report_status = report(run);
	if (!io_status)
		io_status = report_status;
	/* Its end was our doing. */
	if (cut && WIFSIGNALED(run->child.status) && WTERMSIG(run->child.status) == SIGTERM)
		return io_status;
	status = cozk_launch_exit_status(run->child.status);
	return status ? status : io_status;
}

static int set_up(struct run *run)
{
	int status;

	status = check_program(run);
	if (!status)
		status = open_device(run);
	if (!status)
		status = start_sampling(run);
	if (!status)
		status = open_output(run);
	if (status)
		return status;
	run->resolver = cozk_resolver_create(&run->options.scope);
	if (!run->resolver) {
		cozk_error("out of memory", NULL);
		return COZK_EXIT_FAILURE;
	}
	status = set_up_controller(run);
	if (!status)
		status = write_startup(run);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run run = { .dev.fd = -1 };
	int status;

	/* Writing into a closed pipe or over a limit of file size is an error to report, not our end. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	cozk_run_options_parse(&run.options, argc, argv);
	if (!run.options.has_seed)
		run.options.seed = make_seed();
	status = set_up(&run);
	if (!status)
		status = start_program(&run);
	if (!status)
		status = profile_program(&run);
	cozk_device_close(&run.dev);
	cozk_controller_deinit(&run.controller);
	cozk_profile_close(run.profile);
	cozk_resolver_destroy(run.resolver);
	cozk_run_options_deinit(&run.options);
	return status;
}
