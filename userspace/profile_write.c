// SPDX-License-Identifier: GPL-2.0-or-later
/* (no .h: see profile.h) The writer: JSON Lines, one write() a group of records. */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utf8.h"

struct cozk_profile_file {
	int fd;
	char *path;
	bool regular;	 /* can be truncated */
	bool dead;	 /* no startup record: later records would count for another run */
	int first_error; /* -errno of the first failed write, or 0 */
	size_t windows_kept;
	size_t windows_lost;
	char message[512];
	struct cozk_profile model;
};

/* ---- JSON ---- */

/*
 * File names are bytes; JSON is UTF-8: what is not becomes U+FFFD, or the whole line would be lost
 * to readers.
 */
static void put_json_text(FILE *out, const char *text)
{
	putc('"', out);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t n = cozk_utf8_length(text);

		if (n == 0)
			fputs("\xef\xbf\xbd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
	putc('"', out);
}

static void begin_record(FILE *out, const char *type)
{
	fprintf(out, "{\"type\":\"%s\"", type);
}

static void end_record(FILE *out)
{
	fputs("}\n", out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
	if (!text)
		return;
	fprintf(out, ",\"%s\":", key);
	put_json_text(out, text);
}

static void put_uint(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, value);
}

static void put_int(FILE *out, const char *key, int64_t value)
{
	fprintf(out, ",\"%s\":%" PRId64, key, value);
}

/*
 * Two decimals as Coz; more where two would be another speedup, because readers group by this
 * number. In integers: printf's decimal point depends on the locale.
 */
static void put_speedup(FILE *out, uint32_t ppm)
{
	unsigned int whole = ppm / 1000000, rest = ppm % 1000000;

	if (rest % 10000 == 0)
		fprintf(out, ",\"speedup\":%u.%02u", whole, rest / 10000);
	else
		fprintf(out, ",\"speedup\":%u.%06u", whole, rest);
}

static void put_startup(FILE *out, const struct cozk_startup *s)
{
	begin_record(out, "startup");
	put_uint(out, "time", s->time_ns);
	put_text(out, "version", s->version);
	put_uint(out, "abi", s->abi);
	if (s->argv) {
		fputs(",\"program\":[", out);
		for (size_t i = 0; s->argv[i]; i++) {
			if (i)
				putc(',', out);
			put_json_text(out, s->argv[i]);
		}
		putc(']', out);
	}
	put_uint(out, "seed", s->seed);
	put_text(out, "kernel", s->kernel);
	put_text(out, "by", cozk_unit_name(s->by));
	put_uint(out, "cpus", s->cpus);
	put_uint(out, "sample_period_ns", s->sample_period_ns);
	put_uint(out, "window_period_ns", s->window_period_ns);
	put_text(out, "event", s->event);
	put_text(out, "scope", s->scope);
	end_record(out);
}

static void put_visits(FILE *out, const struct cozk_visits *v)
{
	if (v->type == COZK_VISITS_THROUGHPUT) {
		begin_record(out, "throughput-point");
		put_text(out, "name", v->name);
		put_int(out, "delta", v->delta);
	} else {
		begin_record(out, "latency-point");
		put_text(out, "name", v->name);
		put_int(out, "arrivals", v->arrivals);
		put_int(out, "departures", v->departures);
		put_int(out, "difference", v->difference);
	}
	end_record(out);
}

static void put_experiment(FILE *out, const struct cozk_experiment *e)
{
	begin_record(out, "experiment");
	put_text(out, "selected", e->selected);
	put_speedup(out, e->speedup_ppm);
	put_int(out, "duration", e->duration_ns);
	put_uint(out, "selected_samples", e->hits);
	put_uint(out, "speedup_ppm", e->speedup_ppm);
	put_text(out, "kind", cozk_unit_name(e->unit));
	put_text(out, "function", e->function);
	put_text(out, "binary", e->binary);
	put_text(out, "chain", e->chain);
	put_uint(out, "window", e->window);
	put_uint(out, "block", e->block);
	put_uint(out, "wall_ns", e->wall_ns);
	put_uint(out, "due_ns", e->due_ns);
	put_uint(out, "samples", e->samples);
	put_uint(out, "sample_ns", e->sample_ns);
	put_uint(out, "hit_ns", e->hit_ns);
	put_uint(out, "owed_ns", e->owed_ns);
	put_uint(out, "paid_ns", e->paid_ns);
	put_uint(out, "credited_ns", e->credited_ns);
	put_uint(out, "surplus_ns", e->surplus_ns);
	put_uint(out, "pauses", e->pauses);
	put_uint(out, "settle_ns", e->settle_ns);
	put_uint(out, "forgiven_ns", e->forgiven_ns);
	put_uint(out, "threads", e->threads);
	put_text(out, "end_reason", e->end_reason);
	end_record(out);
	for (size_t i = 0; i < e->visits_len; i++)
		put_visits(out, &e->visits[i]);
}

static void put_runtime(FILE *out, const struct cozk_runtime *r)
{
	begin_record(out, "runtime");
	put_uint(out, "time", r->time_ns);
	put_text(out, "status", r->status);
	put_text(out, "reason", r->reason);
	put_uint(out, "samples", r->samples);
	put_uint(out, "samples_lost", r->samples_lost);
	put_uint(out, "samples_unresolved", r->samples_unresolved);
	put_uint(out, "threads_seen", r->threads_seen);
	put_uint(out, "threads_lost", r->threads_lost);
	put_uint(out, "windows", r->windows);
	put_uint(out, "points_seen", r->points_seen);
	end_record(out);
}

static void put_sample(FILE *out, const struct cozk_sample_count *s)
{
	begin_record(out, "samples");
	put_text(out, "location", s->location);
	put_uint(out, "count", s->count);
	put_uint(out, "weight_ns", s->weight_ns);
	put_text(out, "function", s->function);
	put_text(out, "binary", s->binary);
	put_text(out, "chain", s->chain);
	fprintf(out, ",\"in_scope\":%s", s->in_scope ? "true" : "false");
	end_record(out);
}

/* ---- the file ---- */

/* All of @buf or, in a regular file, nothing. Returns 0 or -errno. */
static int write_whole(struct cozk_profile_file *f, const char *buf, size_t len)
{
	struct stat st;
	size_t done = 0;
	int err = 0;

	if (fstat(f->fd, &st))
		return -errno;
	while (done < len && !err) {
		ssize_t n = write(f->fd, buf + done, len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			err = -EIO;
		else if (errno != EINTR)
			err = -errno;
	}
	if (err && done && f->regular && ftruncate(f->fd, st.st_size))
		f->dead = true; /* a half line stays: nothing may follow it */
	return err;
}

static int note_result(struct cozk_profile_file *f, int err)
{
	if (err && !f->first_error)
		f->first_error = err;
	return err;
}

/* Ends a memory stream and writes what it holds. */
static int flush_group(struct cozk_profile_file *f, FILE *group, char **buf, size_t *len)
{
	int err = ferror(group) ? -ENOMEM : 0;

	if (fclose(group))
		err = -ENOMEM;
	if (!err)
		err = f->dead ? f->first_error : write_whole(f, *buf, *len);
	free(*buf);
	return note_result(f, err);
}

int cozk_profile_startup(struct cozk_profile_file *f, const struct cozk_startup *s)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *group;
	int err = cozk_profile_add_startup(&f->model, s);

	if (err)
		return note_result(f, err);
	group = open_memstream(&buf, &len);
	if (!group)
		return note_result(f, -ENOMEM);
	put_startup(group, s);
	err = flush_group(f, group, &buf, &len);
	if (err)
		f->dead = true;
	return err;
}

int cozk_profile_window(struct cozk_profile_file *f, const struct cozk_experiment *e)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *group;
	int err = cozk_profile_add_window(&f->model, e);

	if (err)
		return note_result(f, err);
	group = open_memstream(&buf, &len);
	if (!group)
		return note_result(f, -ENOMEM);
	put_experiment(group, e);
	err = flush_group(f, group, &buf, &len);
	if (err)
		f->windows_lost++;
	else
		f->windows_kept++;
	return err;
}

int cozk_profile_runtime(struct cozk_profile_file *f, const struct cozk_runtime *r,
			 const struct cozk_sample_count *samples, size_t samples_len)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *group;
	int err = cozk_profile_add_runtime(&f->model, r);

	for (size_t i = 0; i < samples_len && !err; i++)
		err = cozk_profile_add_sample(&f->model, &samples[i]);
	if (err)
		return note_result(f, err);
	group = open_memstream(&buf, &len);
	if (!group)
		return note_result(f, -ENOMEM);
	put_runtime(group, r);
	for (size_t i = 0; i < samples_len; i++)
		put_sample(group, &samples[i]);
	return flush_group(f, group, &buf, &len);
}

/*
 * A file to append to must be a profile (JSON Lines, or Coz's older text, which viewers read
 * mixed), or a slip of the hand would spoil it. Returns 0, -EINVAL or -errno.
 */
static int check_is_profile(int fd)
{
	char head[sizeof("startup\t") - 1];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	if (n < 0)
		return -errno;
	if (n > 0 && head[0] != '{' && ((size_t)n < sizeof(head) || memcmp(head, "startup\t", sizeof(head)) != 0))
		return -EINVAL;
	return 0;
}

/*
 * A crash of the machine may have left half a line. One such line makes the published viewer give
 * up the whole file, so take it back; a whole record that just lacks its newline is given one.
 * Returns 0 or -errno.
 */
static int mend_tail(int fd, off_t size)
{
	char last = '\n', block[4096];
	off_t keep = size;

	if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
		return -EIO;
	if (last == '\n')
		return 0;
	if (last == '}')
		return write(fd, "\n", 1) == 1 ? 0 : -errno;
	while (keep > 0) {
		size_t want = keep < (off_t)sizeof(block) ? (size_t)keep : sizeof(block);
		size_t n = want;

		if (pread(fd, block, want, keep - (off_t)want) != (ssize_t)want)
			return -EIO;
		while (n > 0 && block[n - 1] != '\n')
			n--;
		keep -= (off_t)(want - n);
		if (n > 0)
			break;
	}
	return ftruncate(fd, keep) ? -errno : 0;
}

static int prepare(struct cozk_profile_file *f, enum cozk_profile_mode mode)
{
	struct stat st;
	int err;

	if (fstat(f->fd, &st))
		return -errno;
	f->regular = S_ISREG(st.st_mode);
	if (!f->regular)
		return 0;
	/* A file system without locks is no reason not to profile. */
	if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return -EBUSY;
	if (mode == COZK_PROFILE_TRUNCATE)
		return ftruncate(f->fd, 0) ? -errno : 0;
	err = check_is_profile(f->fd);
	return err ? err : mend_tail(f->fd, st.st_size);
}

static const char *open_error_text(int err)
{
	if (err == -EBUSY)
		return "another cozk is writing to it";
	if (err == -EINVAL)
		return "exists and is not a profile, so nothing is appended to it";
	return strerror(-err);
}

/* Readable too, to look at what is there; a pipe or terminal may be for writing only. */
static int open_file(const char *path)
{
	const int flags = O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return open(path, O_WRONLY | flags, 0666);
	return open(path, O_RDWR | flags, 0666);
}

int cozk_profile_open(const char *path, enum cozk_profile_mode mode, struct cozk_profile_file **ret, char *err,
		      size_t errlen)
{
	struct cozk_profile_file *f = calloc(1, sizeof(*f));
	int result;

	if (!f || !(f->path = strdup(path))) {
		free(f);
		snprintf(err, errlen, "%s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	f->fd = open_file(path);
	result = f->fd < 0 ? -errno : prepare(f, mode);
	if (result) {
		snprintf(err, errlen, "%s: %s", path, open_error_text(result));
		cozk_profile_close(f);
		return result;
	}
	*ret = f;
	return 0;
}

const char *cozk_profile_error(struct cozk_profile_file *f)
{
	if (!f->first_error)
		return NULL;
	snprintf(f->message, sizeof(f->message), "%s: %s; %zu windows of this run are in the file, %zu are not",
		 f->path, strerror(-f->first_error), f->windows_kept, f->windows_lost);
	return f->message;
}

const struct cozk_profile *cozk_profile_model(const struct cozk_profile_file *f)
{
	return &f->model;
}

const char *cozk_profile_path(const struct cozk_profile_file *f)
{
	return f->path;
}

int cozk_profile_close(struct cozk_profile_file *f)
{
	int err = 0;

	if (!f)
		return 0;
	if (f->fd >= 0 && close(f->fd))
		err = -errno; /* network file systems report a full disk here */
	cozk_profile_deinit(&f->model);
	free(f->path);
	free(f);
	return err;
}
