/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_DEBUGFILE_H
#define COZK_DEBUGFILE_H

#include <libelf.h>

/*
 * Opens the separate debug file of @elf, found by build-id, then by .gnu_debuglink beside @path and
 * under /usr/lib/debug, and, only if DEBUGINFOD_URLS is set, from a debuginfod server (which may
 * take long). @build_id is hex, "" if unknown. Returns a file descriptor or -ENOENT.
 */
int cozk_debugfile_open(Elf *elf, const char *path, const char *build_id);

/* The build-id of @elf as lower-case hex in @buf; "" if it has none. */
void cozk_build_id(Elf *elf, char *buf, size_t len);

#endif
