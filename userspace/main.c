// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of cozk, and which of them was meant. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "diag.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "run", cmd_run, "run a program and measure what each of its parts being faster would bring" },
	{ "report", cmd_report, "print the table of a profile" },
	{ "list", cmd_list, "list sessions, or the lines, functions and points of a program" },
	{ "check", cmd_check, "tell what this machine can do and what is missing" },
	{ "lab", cmd_lab, "run a command in a virtual machine with the module loaded" },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *out)
{
	int i;

	fprintf(out, "Usage: cozk COMMAND [OPTIONS]\n\n"
		     "A causal profiler: if this code were X %% faster, how much faster would the program be?\n\n");
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\n`cozk COMMAND --help` tells more; `cozk run ./prog` is where to start.\n");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";
	char full_name[64];
	int i;

	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(name, commands[i].name))
			continue;
		/* argp and error messages speak of "cozk run". */
		snprintf(full_name, sizeof(full_name), "cozk %s", name);
		argv[1] = full_name;
		program_invocation_name = program_invocation_short_name = full_name;
		return commands[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(argc > 1 ? stdout : stderr);
		return argc > 1 ? COZK_EXIT_OK : COZK_EXIT_USAGE;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		printf("cozk %s\n", COZK_VERSION);
		return COZK_EXIT_OK;
	}
	cozk_errorf("`cozk --help` lists the commands", "there is no command '%s'", name);
	return COZK_EXIT_USAGE;
}
