// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cozk lab: run a command in a QEMU guest with a stock kernel and the module loaded. The work is
 * done by the shell script lab/boot, which becomes this process, so that signals, streams and exit
 * status are its own.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "diag.h"

#ifndef COZK_LIBDIR
#define COZK_LIBDIR "/usr/local/lib/cozk"
#endif

enum {
	/* What lab/boot returns for its own failures, as env(1) and timeout(1) do. */
	EXIT_LAB_FAILED = 125,
	KEY_FIRST = 0x100,
};

/* The same list as in lab/boot --help; the keys only have to differ, the names are passed on. */
static const struct argp_option options[] = {
	{ "kernel", KEY_FIRST, "NAME", 0, "6.1, 6.12 (default), or a release that is fetched", 0 },
	{ "smp", KEY_FIRST + 1, "N", 0, "Processors (default 2)", 0 },
	{ "mem", KEY_FIRST + 2, "SIZE", 0, "Memory (default 2G)", 0 },
	{ "share", KEY_FIRST + 3, "DIR", 0, "DIR is writable in the guest, and what is written stays (repeatable)", 0 },
	{ "timeout", KEY_FIRST + 4, "SECONDS", 0, "End everything after this time, boot included, with status 124", 0 },
	{ "module", KEY_FIRST + 5, "FILE", 0, "Load this module instead of the one built for the kernel", 0 },
	{ "no-module", KEY_FIRST + 6, NULL, 0, "Load no module", 0 },
	{ "no-kvm", KEY_FIRST + 7, NULL, 0, "Emulate, even if /dev/kvm works", 0 },
	{ "virtual-time", KEY_FIRST + 8, NULL, 0,
	  "Emulate one processor whose time counts instructions: slow, repeatable", 0 },
	{ "append", KEY_FIRST + 9, "WORDS", 0, "More kernel arguments", 0 },
	{ "strict", KEY_FIRST + 10, NULL, 0, "Status 125 if the kernel logs a warning, BUG, lockdep report or the like",
	  0 },
	{ "no-panic-on-warn", KEY_FIRST + 11, NULL, 0, "Go on after a kernel warning", 0 },
	{ "no-stdin", KEY_FIRST + 12, NULL, 0, "COMMAND reads /dev/null", 0 },
	{ "console", KEY_FIRST + 13, "FILE", 0, "Write the guest's console to FILE", 0 },
	{ "verbose", KEY_FIRST + 14, NULL, 0, "The guest's console on standard error", 0 },
	{ 0 }
};

static const char args_doc[] = "[--] COMMAND [ARGUMENTS...]";
static const char doc[] =
	"Boot a Debian kernel in QEMU over this machine's files (read-only, changes are lost), load "
	"cozk.ko and run COMMAND in the current directory, with this environment, input and output."
	"\v"
	"Status: COMMAND's own, 128+N if signal N killed it; 124 after a timeout; 125 if the lab "
	"failed or the kernel crashed; 126 or 127 if COMMAND could not be started. SIGINT and SIGTERM "
	"are passed to COMMAND; a second one ends the machine.\n\n"
	"Example: cozk lab -- cozk run ./prog\n"
	"         cozk lab --kernel 6.1 --share out -- sh -c './test >out/log'";

/* The command line of lab/boot while it is put together; argv has room for every word. */
struct boot_args {
	char **argv;
	int argc;
};

static char *option_word(const char *name)
{
	char *word;

	return asprintf(&word, "--%s", name) < 0 ? NULL : word;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct boot_args *boot = state->input;
	char *word;

	if (key == ARGP_KEY_ARGS) {
		boot->argv[boot->argc++] = "--";
		for (int i = state->next; i < state->argc; i++)
			boot->argv[boot->argc++] = state->argv[i];
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "no command given");
	if (key < KEY_FIRST || key >= KEY_FIRST + (int)(sizeof(options) / sizeof(options[0])) - 1)
		return ARGP_ERR_UNKNOWN;
	word = option_word(options[key - KEY_FIRST].name);
	if (!word)
		return ENOMEM;
	boot->argv[boot->argc++] = word;
	if (arg)
		boot->argv[boot->argc++] = arg;
	return 0;
}

/* Writes DIR/boot to path. Returns whether it can be run. */
static bool boot_in(const char *dir, char *path, size_t size)
{
	return snprintf(path, size, "%s/boot", dir) < (int)size && access(path, X_OK) == 0;
}

/* Finds lab/boot: where COZK_LABDIR says, else in the source tree of this binary, else installed. */
static bool find_boot(char *path, size_t size)
{
	const char *dir = getenv("COZK_LABDIR");
	char self[PATH_MAX];
	char tree[PATH_MAX + sizeof("/../../lab")];
	ssize_t len;
	char *slash;

	if (dir)
		return boot_in(dir, path, size);
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len > 0) {
		self[len] = '\0';
		slash = strrchr(self, '/');
		*slash = '\0';
		snprintf(tree, sizeof(tree), "%s/../../lab", self);
		if (boot_in(tree, path, size))
			return true;
	}
	return boot_in(COZK_LIBDIR "/lab", path, size);
}

int cmd_lab(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, args_doc, doc, NULL, NULL, NULL };
	struct boot_args boot = { NULL, 1 };
	char path[PATH_MAX];
	error_t err;

	/* An option "--x=v" becomes two words, and "--" is added. */
	boot.argv = calloc(2 * (size_t)argc + 3, sizeof(*boot.argv));
	if (!boot.argv) {
		cozk_error("lab: out of memory", NULL);
		return EXIT_LAB_FAILED;
	}
	argp_err_exit_status = EXIT_LAB_FAILED;
	argv[0] = (char *)"cozk lab"; /* what the usage text calls us */
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &boot);
	if (err) {
		cozk_errorf(NULL, "lab: %s", strerror(err));
		return EXIT_LAB_FAILED;
	}
	if (!find_boot(path, sizeof(path))) {
		cozk_errorf("set COZK_LABDIR to the lab/ folder of cozk's source tree",
			    "lab: its scripts are not here (looked for boot in %s)",
			    getenv("COZK_LABDIR") ?: "../../lab beside cozk, and in " COZK_LIBDIR "/lab");
		return EXIT_LAB_FAILED;
	}
	boot.argv[0] = path;
	execv(path, boot.argv);
	cozk_errorf("it needs bash and QEMU: apt install bash qemu-system-x86", "lab: cannot run %s: %s", path,
		    strerror(errno));
	return EXIT_LAB_FAILED;
}
