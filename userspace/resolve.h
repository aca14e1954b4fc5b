/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_RESOLVE_H
#define COZK_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ranges.h"
#include "scope.h"

/*
 * From runtime addresses of running (or gone) processes to places in source code, and back.
 * Everything is looked up on first need and remembered. Not thread-safe.
 */
struct cozk_resolver;

/*
 * Where an address is. All strings belong to the resolver and stay valid until it is destroyed;
 * none is NULL.
 *
 * file:line is the line in scope nearest to the instruction: the instruction's own line when that
 * is in source scope, else the innermost inline call site that is. With none in scope it is the
 * instruction's own line. function is the function that file:line belongs to (an inlined function
 * under its own name).
 */
struct cozk_place {
	const char *binary;   /* path as mapped; "[vdso]", "[anon]" (run-time code) and "[unmapped]"
			       are possible */
	const char *build_id; /* lower-case hex, "" if the binary has none */
	uint64_t vaddr;	      /* address in the ELF file's own terms; the runtime address if there is no
			   file */
	const char *function; /* for display: demangled, clones folded; "NAME+0xADDR" if there is no
				 symbol */
	const char *file;     /* absolute where the debug information allows; "" without has_line */
	unsigned int line;    /* 0 without has_line */
	const char *chain;    /* "outer > inlined > innermost"; equals function when nothing is inlined */
	bool in_scope;	      /* binary and source scope both let it in */
	bool has_line;
};

enum cozk_target_kind {
	COZK_TARGET_LINE,     /* "FILE:LINE"; FILE is a path or its end, from a '/' on */
	COZK_TARGET_FUNCTION, /* a name as in cozk_place.function, or without parameters, or mangled
			       */
};

struct cozk_resolver_stats {
	unsigned long binaries;	       /* ELF files opened */
	unsigned long binaries_failed; /* mapped files that could not be read as ELF */
	unsigned long units_skipped;   /* compilation units with unreadable debug information */
	unsigned long maps_reads;      /* times a /proc/PID/maps was read */
	unsigned long places;	       /* different addresses resolved */
};

/* @scope is borrowed, and must not change while the resolver lives. Returns NULL on ENOMEM. */
struct cozk_resolver *cozk_resolver_create(const struct cozk_scope *scope);
void cozk_resolver_destroy(struct cozk_resolver *r);

/*
 * Resolves the user-space address @ip of process @pid (its tgid). Always fills @ret, at worst with
 * "[unmapped]". Returns 0, -ENOENT when no mapping is known at @ip, or -ENOMEM.
 */
int cozk_resolve(struct cozk_resolver *r, pid_t pid, uint64_t ip, struct cozk_place *ret);

/*
 * All runtime ranges of a target in process @pid over its in-scope binaries, inlined copies
 * included, sorted and merged into @ret (old content dropped). Returns 0, -ENOENT (no such code),
 * -EINVAL (bad target text), -ESRCH (process unknown), -ENOMEM; except for -ENOMEM @err then says
 * why in one line, such as "no code at a.c:3; nearest lines with code: 2, 5".
 */
int cozk_resolver_ranges(struct cozk_resolver *r, pid_t pid, enum cozk_target_kind kind, const char *target,
			 struct cozk_ranges *ret, char *err, size_t errlen);

/*
 * Runtime ranges of the executable mappings of @pid whose binary is in scope, sorted and merged.
 * Returns 0 (possibly with an empty list), -ESRCH when nothing is known of the process, or -ENOMEM.
 */
int cozk_resolver_scope_ranges(struct cozk_resolver *r, pid_t pid, struct cozk_ranges *ret);

/*
 * Life of processes. fork: the child starts with a copy of the parent's maps, in case it ends
 * before it can be read.
 */
int cozk_resolver_fork(struct cozk_resolver *r, pid_t parent, pid_t child);
/*
 * exec, or any other reason to trust the cached maps no longer: they are read again on next use
 * (kept if that fails).
 */
void cozk_resolver_stale(struct cozk_resolver *r, pid_t pid);
/* Reads the maps now, if not yet known or stale. Returns 0 or -errno. */
int cozk_resolver_load(struct cozk_resolver *r, pid_t pid);

void cozk_resolver_stats(const struct cozk_resolver *r, struct cozk_resolver_stats *ret);

#endif
