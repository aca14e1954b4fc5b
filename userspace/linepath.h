/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_LINEPATH_H
#define COZK_LINEPATH_H

#include <stdbool.h>

/*
 * Takes "//", "/./" and "/x/../" out of @path, in place. Text only: symbolic links are not looked
 * at.
 */
void cozk_path_tidy(char *path);

/*
 * @name in @dir in @base as one tidied path, leaving out what an absolute part makes void; @dir and
 * @base may be NULL. Returns a new string, NULL on ENOMEM.
 */
char *cozk_path_join(const char *base, const char *dir, const char *name);

/*
 * Does @path end in @suffix, at a component boundary? An absolute @suffix must be all of it; a
 * leading "./" means nothing.
 */
bool cozk_path_ends(const char *path, const char *suffix);

#endif
