/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_MAPS_H
#define COZK_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum cozk_map_kind {
	COZK_MAP_FILE,	  /* backed by a file that can hold an ELF image */
	COZK_MAP_ANON,	  /* no file: code made at run time */
	COZK_MAP_SPECIAL, /* [vdso], [vsyscall] and other names of the kernel's */
};

/* One executable mapping. */
struct cozk_map {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file, bytes, of start */
	uint64_t inode;	 /* 0 unless COZK_MAP_FILE */
	unsigned int dev_major;
	unsigned int dev_minor;
	char *path; /* without " (deleted)"; "[anon]" for COZK_MAP_ANON */
	enum cozk_map_kind kind;
	bool deleted; /* the file was unlinked or replaced after it was mapped */
	bool is_main; /* the file is the process's executable */
};

/* The executable mappings of one process, sorted by address. Zeroed memory is a valid empty set. */
struct cozk_maps {
	struct cozk_map *v;
	size_t len;
	size_t cap;
};

/*
 * Reads /proc/PID/maps into @ret, which is only changed on success (old content is freed then).
 * Returns 0, -ESRCH when the process is gone or has no memory any more, or another -errno.
 */
int cozk_maps_read(pid_t pid, struct cozk_maps *ret);

/*
 * The same from text in the format of /proc/PID/maps; @exe is the executable's path or NULL.
 * Returns 0 or -errno.
 */
int cozk_maps_parse(const char *text, const char *exe, struct cozk_maps *ret);

/* A deep copy. Returns 0 or -ENOMEM. */
int cozk_maps_copy(const struct cozk_maps *maps, struct cozk_maps *ret);

/* The mapping that holds @addr, or NULL. Valid until @maps changes. */
const struct cozk_map *cozk_maps_find(const struct cozk_maps *maps, uint64_t addr);

/*
 * Opens the file behind a mapping, read-only, also when it lives in another mount namespace or was
 * deleted (while the process is alive). Returns a file descriptor or -errno.
 */
int cozk_map_open(pid_t pid, const struct cozk_map *map);

void cozk_maps_deinit(struct cozk_maps *maps);

#endif
