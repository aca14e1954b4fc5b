/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_LINESEARCH_H
#define COZK_LINESEARCH_H

#include <stdbool.h>

#include "binary.h"
#include "ranges.h"
#include "scope.h"

/* What a search for FILE:LINE met, over several binaries. Zeroed memory to start with. */
struct cozk_lines_found {
	unsigned long files; /* units in which a matching file has code */
	unsigned int below;  /* nearest line with code before the wanted one, 0 if none */
	unsigned int above;  /* and after */
	bool have_lines;     /* some binary had line information at all */
	bool out_of_scope;   /* the line has code, but source scope keeps it out */
};

/*
 * Adds every address whose sample would be attributed to @file:@line under @scope (NULL: every
 * address of the line itself), also inlined copies. @file is a path or its end. Returns 0 (also for
 * none; see @found) or -ENOMEM.
 */
int cozk_lines_ranges(struct cozk_binary *binary, const struct cozk_scope *scope, const char *file, unsigned int line,
		      struct cozk_ranges *ret, struct cozk_lines_found *found);

/*
 * Calls @fn once for each line with code, sorted by file and line, until it returns non-zero, which
 * is returned; or -ENOMEM, or -ENOENT when there is no line information. @scope NULL: all.
 */
int cozk_lines_each(struct cozk_binary *binary, const struct cozk_scope *scope,
		    int (*fn)(const char *file, unsigned int line, void *arg), void *arg);

#endif
