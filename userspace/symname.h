/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_SYMNAME_H
#define COZK_SYMNAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A name for people: demangled, and with the suffixes of compiler-made clones (.cold, .part.N,
 * .constprop.N, ...) taken off. Returns a new string, NULL on ENOMEM.
 */
char *cozk_symbol_display(const char *raw);

/*
 * Is @display (from cozk_symbol_display(@raw)) what a user calls @name? True for the mangled name,
 * the display name, and that without its parameter list.
 */
bool cozk_symbol_matches(const char *raw, const char *display, const char *name);

/*
 * The part of a user's function name that its mangled form must contain, in @buf; "" if nothing is
 * certain.
 */
void cozk_symbol_key(const char *name, char *buf, size_t len);

#endif
