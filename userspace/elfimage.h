/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_ELFIMAGE_H
#define COZK_ELFIMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

/* An ELF file as the kernel and the dynamic linker see it: segments, no debug information. */
struct cozk_elfimage {
	int fd;
	Elf *elf;
	GElf_Ehdr ehdr;
	const char *bytes; /* the file, mapped: only what is looked at is read */
	size_t size;
};

enum {
	COZK_ELF_NEEDED_MAX = 128, /* of one file; the rest is not looked at */
};

/* What the dynamic linker is told. Strings are inside the image. */
struct cozk_elf_dynamic {
	const char *needed[COZK_ELF_NEEDED_MAX];
	size_t needed_len;
	const char *rpath; /* DT_RUNPATH, else DT_RPATH; NULL */
	bool pie;	   /* marked as a position independent executable */
};

/* Opens the file. Returns 0, -ENOEXEC if it is not ELF, or another -errno. */
int cozk_elfimage_open(const char *path, struct cozk_elfimage *ret);
void cozk_elfimage_close(struct cozk_elfimage *image);

/* Is @text anywhere in what is loaded into memory? */
bool cozk_elfimage_contains(const struct cozk_elfimage *image, const char *text);

/* The dynamic linker's path, NULL if the program asks for none. */
const char *cozk_elfimage_interpreter(const struct cozk_elfimage *image);

/* Returns false if there is no dynamic section: a static program that is not PIE. */
bool cozk_elfimage_dynamic(const struct cozk_elfimage *image, struct cozk_elf_dynamic *ret);

/* Does the dynamic symbol table define (else: import) one of @names, a list that NULL ends? */
bool cozk_elfimage_symbol(const struct cozk_elfimage *image, const char *const *names, bool defined);

/*
 * Calls @fn with the path of every library that @path needs, directly or through another, as far as
 * it is found: in RUNPATH, LD_LIBRARY_PATH and beside the file that needs it, and with @system also
 * in the system's own folders. Stops when @fn returns non-zero and returns that; else 0 or -ENOMEM.
 */
int cozk_elf_libraries(const char *path, bool system, int (*fn)(const char *path, void *arg), void *arg);

#endif
