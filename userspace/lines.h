/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_LINES_H
#define COZK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binary.h"
#include "scope.h"

/* One level of inlining. Strings are owned by the struct cozk_frames. */
struct cozk_frame {
	char *function; /* display name, NULL if unknown */
	char *file;	/* where in function control is; NULL if unknown */
	unsigned int line;
};

/* Innermost first; the last one is the function that the code really is in. */
struct cozk_frames {
	struct cozk_frame *v;
	size_t len;
};

/*
 * The inline chain at @vaddr. Returns 0, -ENOENT if there is no debug information there, or
 * -ENOMEM.
 */
int cozk_lines_frames(struct cozk_binary *binary, uint64_t vaddr, struct cozk_frames *ret);
void cozk_frames_deinit(struct cozk_frames *frames);

/*
 * Which frame a sample belongs to: the innermost one with a line in source scope; 0 with *@in_scope
 * false if none is.
 */
size_t cozk_frames_pick(const struct cozk_frames *frames, const struct cozk_scope *scope, bool *in_scope);

#endif
