// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "commands.h"
#include "diag.h"
#include "table.h"

enum { OPT_JSON = 256 };

static const struct argp_option option_table[] = {
	{ "json", OPT_JSON, NULL, 0, "A JSON object for programs instead of text", 0 },
	{ 0 },
};

static const char doc[] =
	"Tell what this machine can do, what is missing, and the command that mends it. Nothing is "
	"changed."
	"\v"
	"Status: 0 if `cozk run` works here as things are, 69 if only `cozk lab -- cozk run` does, 1 if "
	"neither.\n\n"
	"Examples:\n"
	"  cozk check\n"
	"  cozk check --json | jq -r '.facts[] | select(.state == \"missing\").mend'";

void cozk_check_add(struct cozk_check *check, const char *name, enum cozk_check_state state, const char *format, ...)
{
	struct cozk_fact *fact = &check->v[check->len];
	va_list args;

	if (check->len == COZK_FACTS_MAX)
		return;
	check->len++;
	fact->name = name;
	fact->state = state;
	va_start(args, format);
	vsnprintf(fact->text, sizeof(fact->text), format, args);
	va_end(args);
}

void cozk_check_mend(struct cozk_check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(check->v[check->len - 1].mend, sizeof(check->v[0].mend), format, args);
	va_end(args);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	if (key == OPT_JSON) {
		*json = true;
		return 0;
	}
	if (key == ARGP_KEY_ARG)
		argp_error(state, "takes no argument: %s", arg);
	return ARGP_ERR_UNKNOWN;
}

static const char *state_name(enum cozk_check_state state)
{
	switch (state) {
	case COZK_CHECK_OK:
		return "ok";
	case COZK_CHECK_MISSING:
		return "missing";
	case COZK_CHECK_NOTE:
		break;
	}
	return "note";
}

static int exit_status(const struct cozk_check *check)
{
	if (check->device_ok)
		return COZK_EXIT_OK;
	return check->lab_ok ? COZK_EXIT_UNAVAILABLE : COZK_EXIT_FAILURE;
}

/* One sentence: where `cozk run` works, or the shortest way there. */
static void verdict(const struct cozk_check *check, char *buf, size_t len)
{
	if (check->device_ok)
		snprintf(buf, len, "`cozk run PROG` works here.");
	else if (check->loadable && check->module[0])
		snprintf(buf, len, "`cozk run PROG` works here once the module is loaded: `insmod %s`%s", check->module,
			 check->lab_ok ? "; until then: `cozk lab -- cozk run PROG`." : ".");
	else if (check->loadable && check->headers_ok)
		snprintf(buf, len, "`cozk run PROG` works here once the module is built and loaded%s",
			 check->lab_ok ? "; until then: `cozk lab -- cozk run PROG`." : ".");
	else if (check->lab_ok)
		snprintf(buf, len, "`cozk run PROG` does not work here, but in the lab: `cozk lab -- cozk run PROG`.");
	else
		snprintf(buf, len, "`cozk run PROG` works neither here nor in the lab yet: see what is missing above.");
}

static void print_text(const struct cozk_check *check)
{
	static const char *const colours[] = { "\033[32m", "\033[31m", "\033[33m" };
	bool colour = cozk_terminal_colour(stdout);
	char text[4600];

	for (size_t i = 0; i < check->len; i++) {
		const struct cozk_fact *fact = &check->v[i];

		printf("%s%-7s%s  %-14s %s\n", colour ? colours[fact->state] : "", state_name(fact->state),
		       colour ? "\033[0m" : "", fact->name, fact->text);
		if (*fact->mend)
			printf("%25s-> %s\n", "", fact->mend);
	}
	verdict(check, text, sizeof(text));
	printf("\n%s\n", text);
}

static int print_json(const struct cozk_check *check)
{
	json_t *facts = json_array(), *root;
	char text[4600];
	int rc = -1;

	for (size_t i = 0; i < check->len && facts; i++) {
		const struct cozk_fact *fact = &check->v[i];

		json_array_append_new(facts, json_pack("{s:s, s:s, s:s, s:s?}", "name", fact->name, "state",
						       state_name(fact->state), "text", fact->text, "mend",
						       *fact->mend ? fact->mend : NULL));
	}
	verdict(check, text, sizeof(text));
	root = json_pack("{s:b, s:b, s:s, s:s, s:o}", "here", check->device_ok, "lab", check->lab_ok, "kernel",
			 check->release, "verdict", text, "facts", facts);
	if (root)
		rc = json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
	return rc;
}

int cmd_check(int argc, char **argv)
{
	static const struct argp argp = { option_table, parse_option, NULL, doc, NULL, NULL, NULL };
	static struct cozk_check check;
	bool json = false;
	error_t error;

	argp_err_exit_status = COZK_EXIT_USAGE;
	error = argp_parse(&argp, argc, argv, 0, NULL, &json);
	if (error) {
		cozk_errorf(NULL, "check: %s", strerror(error));
		return COZK_EXIT_FAILURE;
	}
	cozk_check_kernel(&check);
	cozk_check_tools(&check);
	cozk_check_lab(&check);
	if (json && print_json(&check))
		cozk_error("check: cannot write JSON", NULL);
	else if (!json)
		print_text(&check);
	if (fflush(stdout) || ferror(stdout))
		return COZK_EXIT_IOERR;
	return exit_status(&check);
}
