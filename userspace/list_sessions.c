// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "diag.h"
#include "list.h"
#include "netlink.h"
#include "table.h"

static const double ns_per_s = 1e9;

static const char *user_name(uint32_t uid, char *buf, size_t len)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(buf, len, "%s", pw->pw_name);
	else
		snprintf(buf, len, "%" PRIu32, uid);
	return buf;
}

static const char *age_text(uint64_t ns, char *buf, size_t len)
{
	uint64_t s = ns / 1000000000;

	if (s < 60)
		snprintf(buf, len, "%.1f s", (double)ns / ns_per_s);
	else if (s < 3600)
		snprintf(buf, len, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(buf, len, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
	return buf;
}

struct session_list {
	struct cozk_table *table;
	struct cozk_list_array *array; /* else */
	size_t len;
};

static int add_row(const struct cozk_session_info *s, void *arg)
{
	struct session_list *list = arg;
	struct cozk_table *t = list->table;
	char text[64];

	list->len++;
	cozk_table_cellf(t, COZK_STYLE_PLAIN, "%" PRIu32, s->number);
	if (s->owner_pid)
		cozk_table_cellf(t, COZK_STYLE_PLAIN, "%" PRIu32, s->owner_pid);
	else
		cozk_table_cell(t, COZK_STYLE_PLAIN, "-");
	cozk_table_cell(t, COZK_STYLE_PLAIN, user_name(s->owner_uid, text, sizeof(text)));
	cozk_table_cell(t, COZK_STYLE_PLAIN, s->comm);
	cozk_table_cell(t, COZK_STYLE_PLAIN, age_text(s->age_ns, text, sizeof(text)));
	cozk_table_cellf(t, COZK_STYLE_PLAIN, "%" PRIu32, s->threads);
	cozk_table_cellf(t, COZK_STYLE_PLAIN, "%" PRIu64, s->windows);
	cozk_table_cellf(t, COZK_STYLE_PLAIN, "%" PRIu64, s->samples);
	cozk_table_cellf(t, COZK_STYLE_PLAIN, "%.1f %%",
			 s->age_ns ? 100.0 * (double)s->paused_ns / (double)s->age_ns : 0.0);
	return 0;
}

static int add_json(const struct cozk_session_info *s, void *arg)
{
	struct session_list *list = arg;
	char user[64];

	return cozk_list_array_add(
		list->array,
		json_pack("{s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "session", (json_int_t)s->number, "pid",
			  (json_int_t)s->owner_pid, "uid", (json_int_t)s->owner_uid, "user",
			  user_name(s->owner_uid, user, sizeof(user)), "command", s->comm, "age_ns",
			  (json_int_t)s->age_ns, "threads", (json_int_t)s->threads, "windows", (json_int_t)s->windows,
			  "samples", (json_int_t)s->samples, "paused_ns", (json_int_t)s->paused_ns));
}

static struct cozk_table *new_table(void)
{
	struct cozk_table *t = cozk_table_create();

	cozk_table_column(t, "SESSION", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "PID", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "USER", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "COMMAND", COZK_ALIGN_LEFT, COZK_CUT_END);
	cozk_table_column(t, "AGE", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "THREADS", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "WINDOWS", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "SAMPLES", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	cozk_table_column(t, "PAUSED", COZK_ALIGN_RIGHT, COZK_CUT_NEVER);
	return t;
}

static int complain(int error, const char *text)
{
	switch (-error) {
	case ENOENT:
		cozk_error(text, cozk_device_hint(error));
		return COZK_EXIT_UNAVAILABLE;
	case ENONET:
		cozk_error(text, "ask from the host: `nsenter -t 1 -n cozk list sessions` as root");
		return COZK_EXIT_UNAVAILABLE;
	case EPERM:
		cozk_error(text, "try it as root");
		return COZK_EXIT_NOPERM;
	case EPROTO:
		cozk_error(text, cozk_device_hint(error));
		return COZK_EXIT_ABI;
	default:
		cozk_error(text, NULL);
		return COZK_EXIT_FAILURE;
	}
}

int cozk_list_sessions(const struct cozk_list_options *options)
{
	struct cozk_list_array array = { false };
	struct session_list list = { .array = &array };
	char err[256] = "out of memory";
	int rc;

	if (options->json) {
		rc = cozk_netlink_sessions(add_json, &list, err, sizeof(err));
		if (!rc || array.any)
			cozk_list_array_end(&array);
		return rc ? complain(rc, err) : COZK_EXIT_OK;
	}
	list.table = new_table();
	rc = cozk_netlink_sessions(add_row, &list, err, sizeof(err));
	if (!rc && !list.len)
		puts("No session is open that you may see.");
	else if (!rc)
		rc = cozk_table_print(list.table, stdout, cozk_terminal_width(stdout), cozk_terminal_colour(stdout));
	cozk_table_destroy(list.table);
	return rc ? complain(rc, err) : COZK_EXIT_OK;
}
