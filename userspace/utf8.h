/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_UTF8_H
#define COZK_UTF8_H

#include <stddef.h>

/* Bytes of the valid UTF-8 sequence at @s (a NUL-terminated text, not at its end); 0 if it is none.
 */
size_t cozk_utf8_length(const char *s);

#endif
