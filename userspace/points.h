/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress points in a program's code, found in its debug information without running it. */
#ifndef COZK_POINTS_H
#define COZK_POINTS_H

#include "binary.h"

/*
 * Calls @fn once for each line where a macro of coz.h or cozk.h has put a progress point, sorted by
 * file and line, until it returns non-zero, which is returned. Returns 0 (also for none), -ENOENT
 * if there is no debug information, or -ENOMEM.
 */
int cozk_points_each(struct cozk_binary *binary, int (*fn)(const char *file, unsigned int line, void *arg), void *arg);

/* What the source says about a point. */
struct cozk_point_text {
	char source[256]; /* the macro's call as written, "" if the file cannot be read */
	char name[256];	  /* if it is a string there; "" if not known */
	int type;	  /* COZK_POINT_*, 0 if not known */
};

/* Reads @line of @file, if the source is still there, and takes it apart. */
void cozk_point_text_read(const char *file, unsigned int line, struct cozk_point_text *ret);

#endif
