/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_PROFILE_H
#define COZK_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a profile holds, in memory, and the writer of the file: JSON Lines with Coz's record types
 * and keys in Coz's order, our own keys after them in the same record.
 *
 * The same structs serve as input of the writer (strings are borrowed for the call) and as the
 * model (strings belong to the profile). Durations are ns. A NULL string means "not known" and is
 * not written.
 */

/* What a target is. */
enum cozk_unit {
	COZK_UNIT_LINE,
	COZK_UNIT_FUNCTION,
	COZK_UNIT_END_TO_END, /* the window is the whole run, which is the unit of work */
};

/* The name of the point that a run without any point is measured by; Coz's. */
#define COZK_END_TO_END_POINT "end-to-end"

/* Begins a run. Coz: time. */
struct cozk_startup {
	uint64_t time_ns;	 /* CLOCK_REALTIME */
	const char *version;	 /* of cozk */
	uint32_t abi;		 /* of the module; 0: not known, as in a file of Coz's */
	const char *const *argv; /* of the program, NULL-terminated, or NULL */
	uint64_t seed;		 /* below 2^53: then every JSON reader keeps all its digits */
	const char *kernel;	 /* release */
	enum cozk_unit by;
	uint32_t cpus;
	uint64_t sample_period_ns;
	uint64_t window_period_ns;
	const char *event; /* sample event; NULL: the CPU clock */
	const char *scope; /* scopes in words, for the reader; NULL: the defaults */
};

enum cozk_visits_type {
	COZK_VISITS_THROUGHPUT,
	COZK_VISITS_LATENCY,
};

/* One progress point over one window. */
struct cozk_visits {
	const char *name;
	enum cozk_visits_type type;
	int64_t delta;	    /* throughput: visits in the window */
	int64_t arrivals;   /* latency: begins in the window */
	int64_t departures; /* ends in the window */
	int64_t difference; /* begins - ends since the program's start, at window end */
	uint32_t point;	    /* model only: index into cozk_profile.points */
};

/*
 * One window: an experiment and the points read with it. Unmarked fields: as in struct cozk_window
 * of uapi/cozk.h.
 */
struct cozk_experiment {
	const char *selected; /* FILE:LINE, function name, or BINARY+0xOFFSET */
	enum cozk_unit unit;
	const char *function;
	const char *binary; /* path */
	const char *chain;  /* inline chain, "outer > inner", or NULL */
	uint32_t speedup_ppm;
	int64_t duration_ns; /* wall_ns - due_ns */
	uint64_t hits;
	uint64_t window; /* its id in the session, from 1 */
	uint32_t block;	 /* of the randomised plan, from 0 */
	uint64_t wall_ns;
	uint64_t due_ns; /* growth of due over the window */
	uint64_t samples;
	uint64_t sample_ns;
	uint64_t hit_ns;
	uint64_t owed_ns;
	uint64_t paid_ns;
	uint64_t credited_ns;
	uint64_t surplus_ns;
	uint64_t pauses;
	uint64_t settle_ns;
	uint64_t forgiven_ns;
	uint32_t threads;
	const char *end_reason; /* "duration", "signal", "exit"; NULL: not known (Coz) */
	const struct cozk_visits *visits;
	size_t visits_len;
	uint32_t run;	 /* model only: index into cozk_profile.runs */
	uint32_t target; /* model only: index into cozk_profile.targets */
};

/* Samples of one place over the run so far. Coz: location, count. */
struct cozk_sample_count {
	const char *location; /* as a line's selected; "[unmapped]" if not resolved */
	uint64_t count;
	uint64_t weight_ns; /* CPU time they stand for; 0: not known */
	const char *function;
	const char *binary;
	const char *chain;
	bool in_scope;
};

/* Ends a run, or is a state on the way. Coz: time. */
struct cozk_runtime {
	uint64_t time_ns;	     /* since startup */
	const char *status;	     /* "exit 0", "signal 9"; NULL: the program still runs */
	const char *reason;	     /* why no or few windows, in words; or NULL */
	uint64_t samples;	     /* all that were taken */
	uint64_t samples_lost;	     /* ring full */
	uint64_t samples_unresolved; /* no mapping known for the address */
	uint64_t threads_seen;
	uint64_t threads_lost; /* not followed */
	uint64_t windows;      /* opened, also those not worth a record */
	uint64_t points_seen;  /* progress points that were registered */
};

struct cozk_profile_target {
	const char *name; /* cozk_experiment.selected */
	enum cozk_unit unit;
	const char *function;
	const char *binary;
	const char *chain;
};

struct cozk_profile_point {
	const char *name;
	enum cozk_visits_type type;
};

struct cozk_profile_run {
	struct cozk_startup startup;
	bool has_startup;	     /* false: records without a startup before them */
	struct cozk_runtime runtime; /* the last of the run */
	bool has_runtime;
	struct cozk_sample_count *samples; /* the last dump of the run */
	size_t samples_len;
	size_t samples_cap;
	size_t windows; /* of this run in the profile */
};

/* All zero is a valid empty profile. */
struct cozk_profile {
	struct cozk_profile_run *runs;
	size_t runs_len, runs_cap;
	struct cozk_profile_target *targets;
	size_t targets_len, targets_cap;
	struct cozk_profile_point *points;
	size_t points_len, points_cap;
	struct cozk_experiment *windows;
	size_t windows_len, windows_cap;
};

/*
 * The model. Each makes a deep copy and returns 0 or -ENOMEM (the profile is then as before).
 * A window, runtime or samples without a run begin one without startup.
 * A runtime record drops the samples of its run: a new dump follows.
 */
int cozk_profile_add_startup(struct cozk_profile *p, const struct cozk_startup *s);
int cozk_profile_add_window(struct cozk_profile *p, const struct cozk_experiment *e);
int cozk_profile_add_runtime(struct cozk_profile *p, const struct cozk_runtime *r);
int cozk_profile_add_sample(struct cozk_profile *p, const struct cozk_sample_count *s);
void cozk_profile_deinit(struct cozk_profile *p);

/*
 * The writer. It also keeps the model of the run it writes, which goes on when writing fails, so
 * that a full disk costs the file and not the report.
 */
struct cozk_profile_file;

enum cozk_profile_mode {
	COZK_PROFILE_APPEND, /* after what other runs have written, as Coz does */
	COZK_PROFILE_TRUNCATE,
};

#define COZK_PROFILE_DEFAULT "profile.jsonl"

/*
 * Opens @path, creating it if need be, and locks it against other writers. Appending takes back a
 * half line that a crash left at the end, and refuses a file that is no profile. On failure @err
 * says what is wrong in one line ("PATH: reason") and @ret is not touched. Returns 0, -EBUSY
 * (another cozk writes to it), -EINVAL (no profile), or another -errno. @ret is closed with
 * cozk_profile_close().
 */
int cozk_profile_open(const char *path, enum cozk_profile_mode mode, struct cozk_profile_file **ret, char *err,
		      size_t errlen);

/*
 * Each is one write() of whole lines, so whatever dies, no record is half in the file (a partial
 * write is taken back). Returns 0 or -errno of the write, such as -ENOSPC or -EIO; later calls try
 * again, except after a failed startup, which fails them all. cozk_profile_window() writes an
 * experiment and its points. Visits without an experiment's duration to relate to are still
 * written: judging is the reader's work.
 */
int cozk_profile_startup(struct cozk_profile_file *f, const struct cozk_startup *s);
int cozk_profile_window(struct cozk_profile_file *f, const struct cozk_experiment *e);
/* A runtime record and the samples so far: on the way, and as the last thing of a run. */
int cozk_profile_runtime(struct cozk_profile_file *f, const struct cozk_runtime *r,
			 const struct cozk_sample_count *samples, size_t samples_len);

/*
 * If a write has failed: one line saying what failed, how many windows the file holds of this run
 * and how many it lacks; NULL if all is well. Valid until the next call for @f. Meant to be printed
 * once, at the first failure or the end.
 */
const char *cozk_profile_error(struct cozk_profile_file *f);

/* The model of the run being written; lives as long as @f. */
const struct cozk_profile *cozk_profile_model(const struct cozk_profile_file *f);
const char *cozk_profile_path(const struct cozk_profile_file *f);

/*
 * Closes the file and frees the model. NULL is allowed. Returns 0 or the -errno of a late write
 * error.
 */
int cozk_profile_close(struct cozk_profile_file *f);

/* "line", "function", "end-to-end". */
const char *cozk_unit_name(enum cozk_unit unit);
bool cozk_unit_parse(const char *name, enum cozk_unit *ret);

#endif
