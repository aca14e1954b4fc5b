/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a program needs libcoz-lite put into it, and where that is. */
#ifndef COZK_PRELOAD_H
#define COZK_PRELOAD_H

#include <stddef.h>

enum cozk_preload {
	COZK_PRELOAD_NO,    /* it has no use for it, or cannot take it */
	COZK_PRELOAD_MAYBE, /* not itself, but it can start programs or load plugins that have */
	COZK_PRELOAD_YES,   /* it has progress points that look for the library */
};

/*
 * Does the program at @program (a path: see cozk_program_find()) need libcoz-lite preloaded? Looks
 * at what is loaded of it and of its own libraries, never at debug information. Returns an enum
 * cozk_preload with the reason in @why, as in "it has progress points", or -errno with @why the
 * message: -ENOEXEC (no program of this kind of machine), -ENOENT (the dynamic linker or
 * interpreter that it asks for is missing), or another of reading it.
 */
int cozk_preload_needed(const char *program, char *why, size_t whylen);

/* Does the ELF file itself look progress points up? Returns 1, 0, or -errno of reading it. */
int cozk_preload_has_points(const char *path);

/*
 * The path of libcoz-lite.so: COZK_LIBRARY of the environment, else beside this binary in
 * ../lib, else where it is installed. Returns 0, or -ENOENT with the place that was asked for, or
 * looked at last, in @buf.
 */
int cozk_preload_library(char *buf, size_t len);

#endif
