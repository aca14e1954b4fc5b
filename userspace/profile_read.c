// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile_read.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

enum { SPEEDUP_ONE_PPM = 1000000 };

/* A window whose points have not all been read yet: they are on the lines after it. */
struct pending {
	json_t *record; /* owns the strings of experiment; NULL: no window is pending */
	struct cozk_experiment experiment;
	struct cozk_visits *visits;
	size_t visits_len, visits_cap;
	json_t **points; /* own the names in visits; as many as visits */
};

struct reader {
	struct cozk_profile *profile;
	struct cozk_read_report *report;
	struct pending pending;
	size_t line;
};

__attribute__((format(printf, 2, 3))) static void warn_line(struct reader *r, const char *format, ...)
{
	struct cozk_read_report *report = r->report;
	va_list args;

	if (report->warnings_len < COZK_READ_WARNINGS_MAX) {
		char *text = report->warnings[report->warnings_len];
		int n = snprintf(text, sizeof(report->warnings[0]), "line %zu: ", r->line);

		va_start(args, format);
		vsnprintf(text + n, sizeof(report->warnings[0]) - (size_t)n, format, args);
		va_end(args);
	}
	report->warnings_len++;
}

/* ---- fields; a key that is missing or of another type gives the neutral value ---- */

static const char *get_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static uint64_t get_uint(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_integer(v))
		return json_integer_value(v) > 0 ? (uint64_t)json_integer_value(v) : 0;
	if (json_is_real(v) && json_real_value(v) > 0)
		return json_real_value(v) < 18446744073709549568.0 ? (uint64_t)json_real_value(v) : UINT64_MAX;
	return 0;
}

static uint32_t get_uint32(const json_t *o, const char *key)
{
	uint64_t v = get_uint(o, key);

	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/*
 * Coz writes differences of unsigned numbers, which may have gone below zero: such a one is far
 * beyond the most that is let through, as is what no program counts and no run lasts. Returns false
 * then. Sums cannot overflow.
 */
static bool get_int(const json_t *o, const char *key, int64_t least, int64_t *ret)
{
	const json_t *v = json_object_get(o, key);
	const int64_t most = 1LL << 53;
	double value = json_number_value(v);

	*ret = 0;
	if (!json_is_number(v) || !(value >= (double)least && value <= (double)most))
		return false;
	*ret = json_is_integer(v) ? json_integer_value(v) : (int64_t)value;
	return true;
}

static bool is_number(const json_t *o, const char *key)
{
	return json_is_number(json_object_get(o, key));
}

/* ---- windows ---- */

static void pending_clear(struct pending *w)
{
	for (size_t i = 0; i < w->visits_len; i++)
		json_decref(w->points[i]);
	w->visits_len = 0;
	json_decref(w->record);
	w->record = NULL;
}

static void pending_deinit(struct pending *w)
{
	pending_clear(w);
	free(w->visits);
	free(w->points);
}

static int pending_finish(struct reader *r)
{
	struct pending *w = &r->pending;
	int err;

	if (!w->record)
		return 0;
	w->experiment.visits = w->visits;
	w->experiment.visits_len = w->visits_len;
	err = cozk_profile_add_window(r->profile, &w->experiment);
	pending_clear(w);
	return err;
}

static enum cozk_unit guess_unit(const json_t *o, const char *selected)
{
	const char *kind = get_text(o, "kind"), *colon = strrchr(selected, ':');
	enum cozk_unit unit;

	if (kind && cozk_unit_parse(kind, &unit))
		return unit;
	/* Coz knows lines only. */
	return colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' ? COZK_UNIT_LINE
										       : COZK_UNIT_FUNCTION;
}

static int read_experiment(struct reader *r, json_t *o)
{
	struct cozk_experiment *e = &r->pending.experiment;
	double speedup = json_number_value(json_object_get(o, "speedup"));

	if (!get_text(o, "selected") || !is_number(o, "speedup") || !is_number(o, "duration"))
		return -EINVAL;
	if (!(speedup >= 0 && speedup <= 1))
		return -EINVAL;
	*e = (struct cozk_experiment){
		.selected = get_text(o, "selected"),
		.unit = guess_unit(o, get_text(o, "selected")),
		.function = get_text(o, "function"),
		.binary = get_text(o, "binary"),
		.chain = get_text(o, "chain"),
		.speedup_ppm = is_number(o, "speedup_ppm") ? get_uint32(o, "speedup_ppm")
							   : (uint32_t)lround(speedup * SPEEDUP_ONE_PPM),
		.hits = get_uint(o, "selected_samples"),
		.window = get_uint(o, "window"),
		.block = get_uint32(o, "block"),
		.wall_ns = get_uint(o, "wall_ns"),
		.due_ns = get_uint(o, "due_ns"),
		.samples = get_uint(o, "samples"),
		.sample_ns = get_uint(o, "sample_ns"),
		.hit_ns = get_uint(o, "hit_ns"),
		.owed_ns = get_uint(o, "owed_ns"),
		.paid_ns = get_uint(o, "paid_ns"),
		.credited_ns = get_uint(o, "credited_ns"),
		.surplus_ns = get_uint(o, "surplus_ns"),
		.pauses = get_uint(o, "pauses"),
		.settle_ns = get_uint(o, "settle_ns"),
		.forgiven_ns = get_uint(o, "forgiven_ns"),
		.threads = get_uint32(o, "threads"),
		.end_reason = get_text(o, "end_reason"),
	};
	if (e->speedup_ppm > SPEEDUP_ONE_PPM)
		return -EINVAL;
	if (!get_int(o, "duration", -(1LL << 53), &e->duration_ns)) {
		warn_line(r, "the duration is no possible time (below zero?); window left out");
		r->report->bad_durations++;
	}
	r->pending.record = json_incref(o);
	return 0;
}

static int read_visits(struct reader *r, json_t *o, enum cozk_visits_type type)
{
	struct pending *w = &r->pending;
	struct cozk_visits v = { .name = get_text(o, "name"), .type = type };

	if (!w->record) {
		warn_line(r, "a progress point without an experiment before it");
		return 0;
	}
	if (!v.name)
		return -EINVAL;
	if (type == COZK_VISITS_THROUGHPUT) {
		if (!get_int(o, "delta", 0, &v.delta))
			return -EINVAL;
	} else if (!get_int(o, "arrivals", 0, &v.arrivals) || !get_int(o, "departures", 0, &v.departures)) {
		return -EINVAL;
	} else if (!get_int(o, "difference", -(1LL << 53), &v.difference)) {
		warn_line(r, "impossible difference of latency point \"%s\"; point left out", v.name);
		return 0;
	}
	if (w->visits_len == w->visits_cap) {
		size_t cap = w->visits_cap ? w->visits_cap * 2 : 16;
		struct cozk_visits *visits = reallocarray(w->visits, cap, sizeof(*visits));
		json_t **points;

		if (!visits)
			return -ENOMEM;
		w->visits = visits;
		points = reallocarray(w->points, cap, sizeof(*points));
		if (!points)
			return -ENOMEM;
		w->points = points;
		w->visits_cap = cap;
	}
	w->points[w->visits_len] = json_incref(o);
	w->visits[w->visits_len++] = v;
	return 0;
}

/* ---- the other records ---- */

static int read_startup(struct reader *r, json_t *o)
{
	const json_t *program = json_object_get(o, "program");
	size_t n = json_array_size(program);
	const char **argv = NULL;
	const char *by = get_text(o, "by");
	struct cozk_startup s = {
		.time_ns = get_uint(o, "time"),
		.version = get_text(o, "version"),
		.abi = get_uint32(o, "abi"),
		.seed = get_uint(o, "seed"),
		.kernel = get_text(o, "kernel"),
		.cpus = get_uint32(o, "cpus"),
		.sample_period_ns = get_uint(o, "sample_period_ns"),
		.window_period_ns = get_uint(o, "window_period_ns"),
		.event = get_text(o, "event"),
		.scope = get_text(o, "scope"),
	};
	int err;

	if (by)
		cozk_unit_parse(by, &s.by);
	if (program) {
		argv = calloc(n + 1, sizeof(*argv));
		if (!argv)
			return -ENOMEM;
		for (size_t i = 0; i < n; i++) {
			const char *arg = json_string_value(json_array_get(program, i));

			argv[i] = arg ? arg : "?";
		}
		s.argv = argv;
	}
	err = cozk_profile_add_startup(r->profile, &s);
	free(argv);
	return err;
}

static int read_runtime(struct reader *r, json_t *o)
{
	struct cozk_runtime t = {
		.time_ns = get_uint(o, "time"),
		.status = get_text(o, "status"),
		.reason = get_text(o, "reason"),
		.samples = get_uint(o, "samples"),
		.samples_lost = get_uint(o, "samples_lost"),
		.samples_unresolved = get_uint(o, "samples_unresolved"),
		.threads_seen = get_uint(o, "threads_seen"),
		.threads_lost = get_uint(o, "threads_lost"),
		.windows = get_uint(o, "windows"),
		.points_seen = get_uint(o, "points_seen"),
	};

	return cozk_profile_add_runtime(r->profile, &t);
}

static int read_sample(struct reader *r, json_t *o)
{
	const json_t *in_scope = json_object_get(o, "in_scope");
	struct cozk_sample_count s = {
		.location = get_text(o, "location"),
		.count = get_uint(o, "count"),
		.weight_ns = get_uint(o, "weight_ns"),
		.function = get_text(o, "function"),
		.binary = get_text(o, "binary"),
		.chain = get_text(o, "chain"),
		.in_scope = in_scope ? json_is_true(in_scope) : true, /* Coz writes no others */
	};

	if (!s.location || !is_number(o, "count"))
		return -EINVAL;
	return cozk_profile_add_sample(r->profile, &s);
}

static int read_record(struct reader *r, json_t *o)
{
	const char *type = get_text(o, "type");
	int err;

	if (!type)
		return -EINVAL;
	if (strcmp(type, "throughput-point") == 0 || strcmp(type, "throughput_point") == 0 ||
	    strcmp(type, "progress-point") == 0)
		return read_visits(r, o, COZK_VISITS_THROUGHPUT);
	if (strcmp(type, "latency-point") == 0 || strcmp(type, "latency_point") == 0)
		return read_visits(r, o, COZK_VISITS_LATENCY);

	err = pending_finish(r);
	if (err)
		return err;
	if (strcmp(type, "experiment") == 0)
		return read_experiment(r, o);
	if (strcmp(type, "samples") == 0)
		return read_sample(r, o);
	if (strcmp(type, "runtime") == 0)
		return read_runtime(r, o);
	if (strcmp(type, "startup") == 0)
		return read_startup(r, o);
	if (strcmp(type, "shutdown") == 0) /* older Coz; says nothing that runtime does not */
		return 0;
	warn_line(r, "unknown record \"%s\" passed over", type);
	return 0;
}

static int read_line(struct reader *r, const char *text, size_t len, bool whole)
{
	json_error_t why;
	json_t *o = json_loadb(text, len, JSON_ALLOW_NUL, &why);
	int err;

	/*
	 * Integers beyond 63 bits are errors to jansson; as reals they can at least be recognised.
	 */
	if (!o)
		o = json_loadb(text, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);
	err = json_is_object(o) ? read_record(r, o) : -EINVAL;
	if (err == -EINVAL) {
		r->report->bad_lines++;
		if (!whole)
			warn_line(r, "half a record, left by a crash; skipped");
		else if (!o)
			warn_line(r, "no JSON (%s); skipped", why.text);
		else
			warn_line(r, "a record without what it needs; skipped");
		err = 0;
	} else if (!err) {
		r->report->records++;
	}
	json_decref(o);
	return err;
}

static int read_lines(struct reader *r, FILE *in, bool *legacy)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int err = 0;

	errno = 0;
	while (!err && (len = getline(&line, &cap, in)) > 0) {
		bool whole = line[len - 1] == '\n';

		r->line++;
		len -= whole;
		if (len > 0 && line[len - 1] == '\r')
			len--;
		if (len == 0)
			continue;
		r->report->lines++;
		if (strncmp(line, "startup\t", sizeof("startup\t") - 1) == 0)
			*legacy = true;
		err = read_line(r, line, (size_t)len, whole);
	}
	if (!err && ferror(in))
		err = errno ? -errno : -EIO;
	free(line);
	return err;
}

int cozk_profile_read_stream(FILE *in, const char *name, struct cozk_profile *profile, struct cozk_read_report *report,
			     char *err, size_t errlen)
{
	struct reader r = { .profile = profile, .report = report };
	bool legacy = false;
	int result = read_lines(&r, in, &legacy);

	if (!result)
		result = pending_finish(&r);
	pending_deinit(&r.pending);
	if (!result && !report->records) {
		result = -EINVAL;
		snprintf(err, errlen, "%s: %s", name,
			 !report->lines ? "the file is empty"
			 : legacy	? "this is a profile in Coz's older text form, which is not read"
					: "not a profile: no line of it is a record");
	} else if (result) {
		snprintf(err, errlen, "%s: %s", name, strerror(-result));
	}
	return result;
}

int cozk_profile_read(const char *path, struct cozk_profile *profile, struct cozk_read_report *report, char *err,
		      size_t errlen)
{
	FILE *in;
	int result;

	if (strcmp(path, "-") == 0)
		return cozk_profile_read_stream(stdin, "standard input", profile, report, err, errlen);
	in = fopen(path, "re");
	if (!in) {
		result = -errno;
		snprintf(err, errlen, "%s: %s", path, strerror(-result));
		return result;
	}
	result = cozk_profile_read_stream(in, path, profile, report, err, errlen);
	fclose(in);
	return result;
}
