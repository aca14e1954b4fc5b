/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_DIAG_H
#define COZK_DIAG_H

/*
 * What the commands say when something is wrong, and how they exit. Only commands print; what they
 * call returns -errno and one line of text. `cozk run` returns the program's own status when the
 * program was run.
 */
enum cozk_exit {
	COZK_EXIT_OK = 0,
	COZK_EXIT_FAILURE = 1,	    /* nothing more precise below fits */
	COZK_EXIT_USAGE = 2,	    /* options or arguments */
	COZK_EXIT_NOTHING = 3,	    /* nothing to report; the reason was printed */
	COZK_EXIT_DATAERR = 65,	    /* the input is not what it should be */
	COZK_EXIT_NOINPUT = 66,	    /* the input cannot be opened */
	COZK_EXIT_UNAVAILABLE = 69, /* no module loaded, or the kernel lacks what is needed */
	COZK_EXIT_CANTCREAT = 73,   /* the output cannot be opened */
	COZK_EXIT_IOERR = 74,	    /* reading or writing failed */
	COZK_EXIT_NOPERM = 77,
	COZK_EXIT_ABI = 78,		/* module and program are of different versions */
	COZK_EXIT_NOT_EXECUTABLE = 126, /* the program to profile cannot be executed */
	COZK_EXIT_NOT_FOUND = 127,	/* it does not exist */
};

/*
 * Prints "cozk: WHAT" and, if @hint is not NULL, "  hint: HINT" (what to do next) to stderr, in one
 * write.
 * @what is one line without a full stop.
 */
void cozk_error(const char *what, const char *hint);

/* The same with a format for WHAT. */
__attribute__((format(printf, 2, 3))) void cozk_errorf(const char *hint, const char *format, ...);

/* The same as "cozk: warning: WHAT": things go on. */
void cozk_warning(const char *what, const char *hint);

__attribute__((format(printf, 2, 3))) void cozk_warningf(const char *hint, const char *format, ...);

#endif
