/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of `cozk check`. */
#ifndef COZK_CHECK_H
#define COZK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum cozk_check_state {
	COZK_CHECK_OK,
	COZK_CHECK_MISSING, /* something does not work without it */
	COZK_CHECK_NOTE,    /* it would be nice to have */
};

/* One thing that this machine can do or not. */
struct cozk_fact {
	const char *name;
	enum cozk_check_state state;
	char text[512];
	char mend[512]; /* the command, or what to do; "" if nothing is wrong or helps */
};

enum { COZK_FACTS_MAX = 32 };

struct cozk_check {
	struct cozk_fact v[COZK_FACTS_MAX];
	size_t len;
	char release[65];  /* of the running kernel */
	char module[4200]; /* cozk.ko built for it, "" if there is none */
	bool device_ok;	   /* `cozk run` works here */
	bool loadable;	   /* modules can be loaded here, as root at least */
	bool headers_ok;
	bool lab_ok;
};

/* Adds a fact. The text is printf's; the mend is set with cozk_check_mend() then. */
__attribute__((format(printf, 4, 5))) void cozk_check_add(struct cozk_check *check, const char *name,
							  enum cozk_check_state state, const char *format, ...);
/* What mends the fact that was added last. */
__attribute__((format(printf, 2, 3))) void cozk_check_mend(struct cozk_check *check, const char *format, ...);

/* The kernel, the module and the device. */
void cozk_check_kernel(struct cozk_check *check);
/* Hardware counters, the library, debug information. */
void cozk_check_tools(struct cozk_check *check);
/* The virtual machine. */
void cozk_check_lab(struct cozk_check *check);

#endif
