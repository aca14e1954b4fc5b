// SPDX-License-Identifier: GPL-2.0-or-later
#include "debugfile.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char global_dir[] = "/usr/lib/debug";

void cozk_build_id(Elf *elf, char *buf, size_t len)
{
	const void *bits;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bits);

	buf[0] = '\0';
	if (n <= 0 || (size_t)n * 2 + 1 > len)
		return;
	for (ssize_t i = 0; i < n; i++)
		snprintf(buf + 2 * i, 3, "%02x", ((const uint8_t *)bits)[i]);
}

static bool crc_is(int fd, uint32_t want)
{
	struct stat st;
	void *data;
	uint32_t crc;

	if (fstat(fd, &st) || st.st_size <= 0)
		return false;
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return false;
	crc = crc32_z(0, data, st.st_size);
	munmap(data, st.st_size);
	return crc == want;
}

/*
 * Equal build-ids prove that the two belong together; the checksum over a debug file of gigabytes
 * is only computed when there are none.
 */
static bool belongs(int fd, const char *build_id, const uint32_t *crc)
{
	char other[130];
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (!elf)
		return false;
	cozk_build_id(elf, other, sizeof(other));
	elf_end(elf);
	if (*build_id && *other)
		return !strcmp(build_id, other);
	return crc && crc_is(fd, *crc);
}

static int try_open(const char *path, const char *build_id, const uint32_t *crc)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -ENOENT;
	if (belongs(fd, build_id, crc))
		return fd;
	close(fd);
	return -ENOENT;
}

static int by_build_id(const char *build_id)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 4)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", global_dir, build_id, build_id + 2);
	return try_open(path, build_id, NULL);
}

static int by_link(Elf *elf, const char *binary, const char *build_id)
{
	char real[PATH_MAX], path[PATH_MAX * 2 + 64], *slash;
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(elf, &crc);
	int fd;

	if (!name || !*name)
		return -ENOENT;
	if (!realpath(binary, real))
		snprintf(real, sizeof(real), "%s", binary);
	slash = strrchr(real, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	snprintf(path, sizeof(path), "%s/%s", real, name);
	fd = try_open(path, build_id, &crc);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/.debug/%s", real, name);
	fd = try_open(path, build_id, &crc);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s%s/%s", global_dir, real, name);
	return try_open(path, build_id, &crc);
}

/*
 * Loaded at run time, so that cozk neither needs the library nor pulls in its HTTP client when
 * nobody asked for it.
 */
static int by_debuginfod(const char *build_id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int len, char **path);
	void (*end)(void *client);
	void *lib, *client;
	int fd = -ENOENT;

	if (!urls || !*urls || !*build_id)
		return -ENOENT;
	lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return -ENOENT;
	begin = (void *(*)(void))dlsym(lib, "debuginfod_begin");
	find = (int (*)(void *, const unsigned char *, int, char **))dlsym(lib, "debuginfod_find_debuginfo");
	end = (void (*)(void *))dlsym(lib, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		/* Length 0 says that the id is hex text. */
		fd = find(client, (const unsigned char *)build_id, 0, NULL);
		end(client);
	}
	return fd >= 0 ? fd : -ENOENT;
}

int cozk_debugfile_open(Elf *elf, const char *path, const char *build_id)
{
	int fd = by_build_id(build_id);

	if (fd < 0)
		fd = by_link(elf, path, build_id);
	if (fd < 0)
		fd = by_debuginfod(build_id);
	return fd;
}
