// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test driver: runs a shape program, resolves the addresses that it prints, and looks targets up.
 *
 *	addr [-b BINARY-SCOPE] [-s SOURCE-SCOPE] [-l FILE:LINE]... [-f FUNCTION]... [-e] [-d]
 *	     PROG ARGS...
 *
 * A line for each mark (base name of FILE; ?:0 without a line):
 *	mark KIND FUNCTION FILE:LINE SCOPE CHAIN
 * A line for each target:
 *	target TEXT KIND=INSIDE/ALL...
 *	target TEXT ERRNO-NAME MESSAGE
 *
 * With -e all questions are asked after the program has ended, with -d after its file was deleted.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../userspace/resolve.h"

enum {
	MAX_MARKS = 64,
	MAX_TARGETS = 16,
	KINDS = 5,
};

struct driver {
	struct cozk_resolver *r;
	pid_t pid;
	FILE *to;
	FILE *from;
	struct {
		int kind;
		uint64_t addr;
	} marks[MAX_MARKS];
	size_t nmarks;
	struct {
		enum cozk_target_kind kind;
		const char *text;
	} targets[MAX_TARGETS];
	size_t ntargets;
};

static void die(const char *what)
{
	fprintf(stderr, "addr: %s\n", what);
	exit(2);
}

static void start(struct driver *d, char **argv)
{
	int in[2], out[2];
	posix_spawn_file_actions_t actions;

	if (pipe(in) || pipe(out))
		die("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addclose(&actions, in[1]);
	posix_spawn_file_actions_addclose(&actions, out[0]);
	if (posix_spawn(&d->pid, argv[0], &actions, NULL, argv, environ))
		die("cannot start the program");
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	d->to = fdopen(in[1], "w");
	d->from = fdopen(out[0], "r");
}

static void read_marks(struct driver *d)
{
	char line[128];
	unsigned long long addr;
	int kind;

	while (fgets(line, sizeof(line), d->from)) {
		if (!strcmp(line, "early\n")) {
			/* Known before the dlopen, so that only a second look finds the plugin. */
			if (cozk_resolver_load(d->r, d->pid))
				die("cannot read the maps");
			usleep(150 * 1000);
			fputs("\n", d->to);
			fflush(d->to);
		} else if (sscanf(line, "mark %d %llx", &kind, &addr) == 2 && d->nmarks < MAX_MARKS) {
			d->marks[d->nmarks].kind = kind;
			d->marks[d->nmarks++].addr = addr;
		} else if (!strcmp(line, "ready\n")) {
			return;
		}
	}
	die("the program ended too early");
}

static void finish(struct driver *d)
{
	int status;

	if (!d->to)
		return;
	fclose(d->to);
	d->to = NULL;
	if (waitpid(d->pid, &status, 0) != d->pid || status)
		die("the program failed");
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void show_marks(struct driver *d)
{
	for (size_t i = 0; i < d->nmarks; i++) {
		struct cozk_place place;

		if (cozk_resolve(d->r, d->pid, d->marks[i].addr, &place))
			die("no mapping at a mark");
		printf("mark %d %s %s:%u %s %s\n", d->marks[i].kind, place.function,
		       place.has_line ? base(place.file) : "?", place.line, place.in_scope ? "in" : "out", place.chain);
		if (place.has_line && *place.file != '/')
			die("relative source path");
	}
}

static void show_target(struct driver *d, size_t index)
{
	const char *text = d->targets[index].text;
	struct cozk_ranges ranges = { 0 };
	char err[256];
	int rc = cozk_resolver_ranges(d->r, d->pid, d->targets[index].kind, text, &ranges, err, sizeof(err));

	printf("target %s", text);
	if (rc) {
		printf(" %s %s\n", strerrorname_np(-rc), err);
		return;
	}
	for (int kind = 1; kind < KINDS; kind++) {
		int inside = 0, all = 0;

		for (size_t i = 0; i < d->nmarks; i++) {
			if (d->marks[i].kind != kind)
				continue;
			all++;
			inside += cozk_ranges_have(&ranges, d->marks[i].addr);
		}
		printf(" %d=%d/%d", kind, inside, all);
	}
	printf("\n");
	cozk_ranges_deinit(&ranges);
}

static void check_scope_ranges(struct driver *d)
{
	struct cozk_ranges ranges = { 0 };
	struct cozk_place place;

	if (cozk_resolver_scope_ranges(d->r, d->pid, &ranges))
		die("no scope ranges");
	for (size_t i = 0; i < d->nmarks; i++) {
		cozk_resolve(d->r, d->pid, d->marks[i].addr, &place);
		if (place.in_scope && !cozk_ranges_have(&ranges, d->marks[i].addr))
			die("a mark in scope is outside the scope's ranges");
	}
	cozk_ranges_deinit(&ranges);
}

int main(int argc, char **argv)
{
	struct driver d = { 0 };
	struct cozk_scope scope = { 0 };
	bool after_end = false, delete = false;
	int opt;

	while ((opt = getopt(argc, argv, "+b:s:l:f:ed")) != -1) {
		if (opt == 'e') {
			after_end = true;
		} else if (opt == 'd') {
			delete = true;
		} else if (opt == 'b' || opt == 's') {
			if (cozk_scope_add(&scope, opt == 'b' ? COZK_SCOPE_BINARY : COZK_SCOPE_SOURCE, optarg))
				die("bad scope");
		} else if (opt != '?' && d.ntargets < MAX_TARGETS) {
			d.targets[d.ntargets].kind = opt == 'l' ? COZK_TARGET_LINE : COZK_TARGET_FUNCTION;
			d.targets[d.ntargets++].text = optarg;
		} else {
			die("bad option");
		}
	}
	if (optind == argc)
		die("no program");
	d.r = cozk_resolver_create(&scope);
	start(&d, argv + optind);
	read_marks(&d);
	if (delete &&unlink(argv[optind]))
		die("cannot delete the program");
	if (after_end) {
		cozk_resolver_stale(d.r, d.pid);
		cozk_resolver_load(d.r, d.pid);
		finish(&d);
	}
	show_marks(&d);
	for (size_t i = 0; i < d.ntargets; i++)
		show_target(&d, i);
	check_scope_ranges(&d);
	finish(&d);
	fclose(d.from);
	cozk_resolver_destroy(d.r);
	cozk_scope_deinit(&scope);
	return 0;
}
