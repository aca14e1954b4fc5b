// SPDX-License-Identifier: GPL-2.0-or-later
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"

/* Can the file at @path be executed, as far as its mode tells? Returns 0 or -errno. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

static void explain(int error, const char *name, char *why, size_t whylen)
{
	switch (-error) {
	case ENOENT:
		snprintf(why, whylen, "no such program: %s", name);
		break;
	case EISDIR:
		snprintf(why, whylen, "%s is a directory", name);
		break;
	case EACCES:
		snprintf(why, whylen, "%s is not executable", name);
		break;
	default:
		snprintf(why, whylen, "cannot look at %s: %s", name, strerror(-error));
	}
}

/* Looks through PATH. What is found but cannot be executed is passed over, and told if it stays. */
static int search_path(const char *name, char *buf, size_t len)
{
	const char *list = getenv("PATH");
	int error = -ENOENT;

	if (!list)
		list = "/bin:/usr/bin";
	for (;;) {
		size_t folder = strcspn(list, ":");
		int one;

		/* An empty entry is the current directory. */
		if (snprintf(buf, len, "%.*s%s%s", (int)folder, list, folder ? "/" : "./", name) < (int)len) {
			one = check_file(buf);
			if (!one)
				return 0;
			if (one == -EACCES)
				error = one;
		}
		if (!list[folder])
			return error;
		list += folder + 1;
	}
}

int cozk_program_find(const char *name, char *buf, size_t len, char *why, size_t whylen)
{
	int error;

	if (!*name) {
		error = -ENOENT;
		snprintf(why, whylen, "no such program: the name is empty");
		return error;
	}
	if (!strchr(name, '/')) {
		error = search_path(name, buf, len);
		if (error == -ENOENT && !check_file(name)) {
			snprintf(why, whylen, "%s is not in PATH; the one in this directory is ./%s", name, name);
			return error;
		}
	} else {
		error = check_file(name);
		if (!error && snprintf(buf, len, "%s", name) >= (int)len)
			error = -ENAMETOOLONG;
	}
	if (error)
		explain(error, name, why, whylen);
	return error;
}

const char *cozk_program_hint(int error)
{
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
		return "check the spelling, or give the path: ./PROG";
	case EISDIR:
		return "give the program inside it";
	case EACCES:
		return "`chmod +x` it, or start it by its interpreter; a folder on the way may also be closed to you";
	case ENOEXEC:
		return "`file PROG` tells what it is; cozk profiles 64-bit programs of this machine's kind";
	default:
		return NULL;
	}
}

int cozk_program_exit_status(int error)
{
	return error == -ENOENT || error == -ENOTDIR ? COZK_EXIT_NOT_FOUND : COZK_EXIT_NOT_EXECUTABLE;
}
