/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_BINARY_H
#define COZK_BINARY_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cozk_symbols;
struct cozk_units;

/* A loadable segment that may be executed. */
struct cozk_segment {
	uint64_t vaddr;
	uint64_t offset; /* in the file, of vaddr */
	uint64_t size;	 /* bytes that come from the file */
};

/*
 * One ELF file with its debug information, wherever that is. Opening reads the headers only; the
 * pointers below are filled on first need by the function beside them.
 */
struct cozk_binary {
	char *path;	    /* for display and for finding separate debug files */
	char build_id[130]; /* lower-case hex, "" if none */
	int fd;
	Elf *elf;
	struct cozk_segment *segments;
	size_t nsegments;

	bool debug_tried; /* the next three: cozk_binary_dwarf() */
	int debug_fd;	  /* of a separate debug file, else -1 */
	Elf *debug_elf;	  /* elf itself, a separate file's, or NULL */
	Dwarf *dwarf;

	struct cozk_symbols *symbols; /* cozk_symbols_get() */
	struct cozk_units *units;     /* cozk_units_get() */
	unsigned long units_skipped;  /* compilation units that could not be read */
};

/*
 * Opens the ELF file @fd; owns it on success. @path need not exist any more.
 * Returns 0, -ENOEXEC if it is no ELF file for execution on this kind of machine word, or another
 * -errno.
 */
int cozk_binary_open(int fd, const char *path, struct cozk_binary **ret);

/* The same by path. Returns 0 or -errno. */
int cozk_binary_open_path(const char *path, struct cozk_binary **ret);

void cozk_binary_close(struct cozk_binary *binary);

/* File offset to ELF virtual address. Returns false if no executable segment holds it. */
bool cozk_binary_vaddr(const struct cozk_binary *binary, uint64_t offset, uint64_t *ret);

/*
 * ELF virtual address to file offset, the other way round; *@left is how many bytes of the segment
 * follow.
 */
bool cozk_binary_offset(const struct cozk_binary *binary, uint64_t vaddr, uint64_t *ret, uint64_t *left);

/*
 * Is @vaddr a place where code can be? Debug information of functions that the linker dropped
 * points to 0 or to all-ones, which is no such place.
 */
bool cozk_binary_is_code(const struct cozk_binary *binary, uint64_t vaddr);

/*
 * The debug information: in the file, else by build-id or debug link, else (only if DEBUGINFOD_URLS
 * is set) from debuginfod. NULL if there is none. Searched for once.
 */
Dwarf *cozk_binary_dwarf(struct cozk_binary *binary);

/*
 * Content of a section, decompressed; valid while @elf is open. Returns NULL if missing or empty.
 */
Elf_Data *cozk_elf_section(Elf *elf, const char *name, GElf_Shdr *shdr);

#endif
