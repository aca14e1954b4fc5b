/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_PROGRAM_H
#define COZK_PROGRAM_H

#include <stddef.h>

/*
 * Finds the program as execvp(3) does: @name with a '/' is a path, else it is looked for in PATH.
 * Writes the path to @buf. Returns 0 or, with the reason in @why as one line,
 *   -ENOENT   no such program          -EISDIR   it is a directory
 *   -EACCES   not executable, or a folder on the way may not be entered
 * or another -errno of looking for a file.
 */
int cozk_program_find(const char *name, char *buf, size_t len, char *why, size_t whylen);

/* What to do about it, one line. */
const char *cozk_program_hint(int error);

/* The exit status for it: COZK_EXIT_NOT_FOUND or COZK_EXIT_NOT_EXECUTABLE. */
int cozk_program_exit_status(int error);

#endif
