// SPDX-License-Identifier: GPL-2.0-or-later
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *kind, const char *what, const char *hint)
{
	/*
	 * stderr is not buffered: one call, one write, so the lines of parallel processes do not
	 * mix.
	 */
	if (hint)
		fprintf(stderr, "cozk: %s%s\n  hint: %s\n", kind, what, hint);
	else
		fprintf(stderr, "cozk: %s%s\n", kind, what);
}

static void say_format(const char *kind, const char *hint, const char *format, va_list args)
{
	char what[1024];

	vsnprintf(what, sizeof(what), format, args);
	say(kind, what, hint);
}

void cozk_error(const char *what, const char *hint)
{
	say("", what, hint);
}

void cozk_errorf(const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_format("", hint, format, args);
	va_end(args);
}

void cozk_warning(const char *what, const char *hint)
{
	say("warning: ", what, hint);
}

void cozk_warningf(const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_format("warning: ", hint, format, args);
	va_end(args);
}
