// SPDX-License-Identifier: GPL-2.0-or-later
#include "preload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elfimage.h"

#ifndef COZK_LIBDIR
#define COZK_LIBDIR "/usr/local/lib/cozk"
#endif

#define LIBRARY_NAME "libcoz-lite.so"

#if defined(__x86_64__)
enum { THIS_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { THIS_MACHINE = EM_AARCH64 };
#endif

/* What the macros of coz.h and cozk.h look up, by dlsym or as an undefined symbol. */
static const char *const point_symbols[] = { "_coz_get_counter", "_cozk_visit", NULL };

/* Functions by which other code can come in. */
static const char *const door_symbols[] = { "dlopen", "dlmopen", "execve",	"execv",	"execvp",   "execvpe",
					    "execl",  "execlp",	 "execle",	"fexecve",	"execveat", "system",
					    "popen",  "wordexp", "posix_spawn", "posix_spawnp", "syscall",  NULL };

static bool has_points(const struct cozk_elfimage *image)
{
	for (size_t i = 0; point_symbols[i]; i++) {
		if (cozk_elfimage_contains(image, point_symbols[i]))
			return true;
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool links_library(const struct cozk_elf_dynamic *dynamic)
{
	for (size_t i = 0; i < dynamic->needed_len; i++) {
		if (!strncmp(base_name(dynamic->needed[i]), LIBRARY_NAME, strlen(LIBRARY_NAME)))
			return true;
	}
	return false;
}

struct library_search {
	bool provided; /* one of them is, or links, the library itself */
	char with_points[PATH_MAX];
};

static int look_at_library(const char *path, void *arg)
{
	struct library_search *search = arg;
	struct cozk_elfimage image;

	if (!strncmp(base_name(path), LIBRARY_NAME, strlen(LIBRARY_NAME))) {
		search->provided = true;
		return 1;
	}
	if (search->with_points[0] || cozk_elfimage_open(path, &image))
		return 0;
	if (has_points(&image))
		snprintf(search->with_points, sizeof(search->with_points), "%s", path);
	cozk_elfimage_close(&image);
	return 0;
}

/* A dynamic program of this machine. */
static int judge_dynamic(const char *program, const struct cozk_elfimage *image, const struct cozk_elf_dynamic *dynamic,
			 char *why, size_t whylen)
{
	struct library_search search = { 0 };
	int rc;

	if (links_library(dynamic) || cozk_elfimage_symbol(image, point_symbols, true)) {
		snprintf(why, whylen, "it is linked with libcoz-lite");
		return COZK_PRELOAD_NO;
	}
	rc = cozk_elf_libraries(program, false, look_at_library, &search);
	if (rc < 0) {
		snprintf(why, whylen, "out of memory");
		return rc;
	}
	if (search.provided) {
		snprintf(why, whylen, "a library of it is linked with libcoz-lite");
		return COZK_PRELOAD_NO;
	}
	if (has_points(image)) {
		snprintf(why, whylen, "it has progress points");
		return COZK_PRELOAD_YES;
	}
	if (search.with_points[0]) {
		snprintf(why, whylen, "its library %s has progress points", search.with_points);
		return COZK_PRELOAD_YES;
	}
	if (cozk_elfimage_symbol(image, door_symbols, false)) {
		snprintf(why, whylen, "it has no progress points, but can start programs or load plugins that have");
		return COZK_PRELOAD_MAYBE;
	}
	snprintf(why, whylen, "it has no progress points");
	return COZK_PRELOAD_NO;
}

/* Is it a program that this machine runs and cozk can profile? Returns 0 or -ENOEXEC. */
static int check_kind(const char *program, const struct cozk_elfimage *image, char *why, size_t whylen)
{
	const char *what = NULL;

	if (image->ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		what = "is a 32-bit program, which cozk does not profile";
	else if (image->ehdr.e_machine != THIS_MACHINE || image->ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		what = "is a program for another kind of machine";
	else if (image->ehdr.e_type == ET_REL)
		what = "is an object file that has not been linked";
	else if (image->ehdr.e_type == ET_CORE)
		what = "is a core dump";
	else if (image->ehdr.e_type != ET_EXEC && image->ehdr.e_type != ET_DYN)
		what = "is no program";
	else if (!image->ehdr.e_entry)
		what = "is a shared library, not a program";
	if (!what)
		return 0;
	snprintf(why, whylen, "%s %s", program, what);
	return -ENOEXEC;
}

static int judge_elf(const char *program, const struct cozk_elfimage *image, char *why, size_t whylen)
{
	const char *interpreter = cozk_elfimage_interpreter(image);
	struct cozk_elf_dynamic dynamic;
	bool has_dynamic = cozk_elfimage_dynamic(image, &dynamic);
	int rc = check_kind(program, image, why, whylen);

	if (rc)
		return rc;
	if (!interpreter && image->ehdr.e_type == ET_DYN && !dynamic.pie) {
		/* ld.so called as a program, or a loader like it. */
		snprintf(why, whylen, "it is a loader: what it loads may have progress points");
		return COZK_PRELOAD_MAYBE;
	}
	if (!interpreter || !has_dynamic) {
		snprintf(why, whylen, "it is a static program, which nothing can be preloaded into");
		return COZK_PRELOAD_NO;
	}
	if (access(interpreter, F_OK)) {
		rc = -errno;
		snprintf(why, whylen, "%s needs the dynamic linker %s, which is not here", program, interpreter);
		return rc;
	}
	if (strstr(interpreter, "ld-musl")) {
		snprintf(why, whylen, "it uses musl, which cannot load a library made for glibc");
		return COZK_PRELOAD_NO;
	}
	return judge_dynamic(program, image, &dynamic, why, whylen);
}

/* Has the kernel been told to start other files than ELF and scripts? */
static bool has_binfmt(void)
{
	DIR *dir = opendir("/proc/sys/fs/binfmt_misc");
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && strcmp(entry->d_name, "register") && strcmp(entry->d_name, "status");
	if (dir)
		closedir(dir);
	return found;
}

/* A script: with "#!" its interpreter must be there, without execvp takes the shell. */
static int judge_script(const char *program, char *head, size_t len, char *why, size_t whylen)
{
	char *interpreter = head + 2;

	if (len >= 2 && !strncmp(head, "#!", 2)) {
		head[len] = '\0';
		interpreter += strspn(interpreter, " \t");
		interpreter[strcspn(interpreter, " \t\r\n")] = '\0';
		if (access(interpreter, F_OK)) {
			int error = -errno;

			snprintf(why, whylen, "the script %s needs the interpreter '%s', which is not here", program,
				 interpreter);
			return error;
		}
	} else if (!len || (memchr(head, '\0', len) && !has_binfmt())) {
		snprintf(why, whylen, len ? "%s is neither a program nor a script" : "%s is empty", program);
		return -ENOEXEC;
	}
	snprintf(why, whylen, "it is a script: what it starts may have progress points");
	return COZK_PRELOAD_MAYBE;
}

int cozk_preload_needed(const char *program, char *why, size_t whylen)
{
	struct cozk_elfimage image;
	char head[257];
	ssize_t len;
	int fd, rc;

	rc = cozk_elfimage_open(program, &image);
	if (!rc) {
		rc = judge_elf(program, &image, why, whylen);
		cozk_elfimage_close(&image);
		return rc;
	}
	if (rc != -ENOEXEC) {
		/* A program may be executable and not readable. */
		snprintf(why, whylen, "cannot read %s: %s", program, strerror(-rc));
		return rc;
	}
	fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	len = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);
	rc = len < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (rc) {
		snprintf(why, whylen, "cannot read %s: %s", program, strerror(-rc));
		return rc;
	}
	return judge_script(program, head, (size_t)len, why, whylen);
}

int cozk_preload_has_points(const char *path)
{
	struct cozk_elfimage image;
	int rc = cozk_elfimage_open(path, &image);

	if (rc)
		return rc;
	rc = has_points(&image);
	cozk_elfimage_close(&image);
	return rc;
}

int cozk_preload_library(char *buf, size_t len)
{
	/* Absolute paths: the program may change its directory before it starts another one. */
	const char *asked = getenv("COZK_LIBRARY");
	char self[PATH_MAX], tree[PATH_MAX + sizeof("/../lib/" LIBRARY_NAME)];
	ssize_t n;

	if (asked && *asked) {
		bool there = realpath(asked, self) && !access(self, R_OK);

		snprintf(buf, len, "%s", there ? self : asked);
		return there ? 0 : -ENOENT;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		snprintf(tree, sizeof(tree), "%s/../lib/" LIBRARY_NAME, self);
		if (realpath(tree, self) && strlen(self) < len) {
			strcpy(buf, self);
			return 0;
		}
	}
	snprintf(buf, len, "%s", COZK_LIBDIR "/" LIBRARY_NAME);
	return access(buf, R_OK) ? -ENOENT : 0;
}
