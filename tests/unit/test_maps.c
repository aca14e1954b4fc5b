// SPDX-License-Identifier: GPL-2.0-or-later
/* Process maps: text, this process, one that has ended. Sources: maps.c */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../userspace/maps.h"

static const char example[] = "00400000-00401000 r--p 00000000 fe:01 1234                       /opt/my app/prog\n"
			      "00401000-00405000 r-xp 00001000 fe:01 1234                       /opt/my app/prog\n"
			      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
			      "7f0000002000-7f0000003000 r-xs 00000000 00:01 99 /memfd:jit (deleted)\n"
			      "7f0000004000-7f0000006000 r-xp 00002000 fe:01 77                 /lib/old.so (deleted)\n"
			      "7f0000007000-7f0000008000 r-xp 00000000 fe:01 78                 /lib/new\\012line.so\n"
			      "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                  [vdso]\n"
			      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n";

static void test_parse(void **state)
{
	struct cozk_maps maps = { 0 };
	const struct cozk_map *map;

	(void)state;
	assert_int_equal(cozk_maps_parse(example, "/opt/my app/prog", &maps), 0);
	assert_int_equal(maps.len, 7);

	assert_null(cozk_maps_find(&maps, 0x400fff));
	map = cozk_maps_find(&maps, 0x401000);
	assert_non_null(map);
	assert_string_equal(map->path, "/opt/my app/prog");
	assert_true(map->is_main);
	assert_int_equal(map->kind, COZK_MAP_FILE);
	assert_int_equal(map->offset, 0x1000);
	assert_int_equal(map->inode, 1234);
	assert_int_equal(map->dev_major, 0xfe);
	assert_ptr_equal(cozk_maps_find(&maps, 0x404fff), map);
	assert_null(cozk_maps_find(&maps, 0x405000));

	map = cozk_maps_find(&maps, 0x7f0000000000);
	assert_int_equal(map->kind, COZK_MAP_ANON);
	assert_string_equal(map->path, "[anon]");
	assert_false(map->is_main);

	map = cozk_maps_find(&maps, 0x7f0000004001);
	assert_string_equal(map->path, "/lib/old.so");
	assert_true(map->deleted);
	map = cozk_maps_find(&maps, 0x7f0000007000);
	assert_string_equal(map->path, "/lib/new\nline.so");
	map = cozk_maps_find(&maps, 0x7fff00000000);
	assert_int_equal(map->kind, COZK_MAP_SPECIAL);
	map = cozk_maps_find(&maps, 0xffffffffff600000);
	assert_string_equal(map->path, "[vsyscall]");
	cozk_maps_deinit(&maps);
}

static void test_parse_bad(void **state)
{
	struct cozk_maps maps = { 0 };

	(void)state;
	assert_int_equal(cozk_maps_parse("", NULL, &maps), 0);
	assert_int_equal(maps.len, 0);
	assert_null(cozk_maps_find(&maps, 0));
	/* What is there stays when new text is refused. */
	assert_int_equal(cozk_maps_parse(example, NULL, &maps), 0);
	assert_int_equal(cozk_maps_parse("00400000-00401000 r-xp 0 fe:01\n", NULL, &maps), -EBADMSG);
	assert_int_equal(cozk_maps_parse("rubbish\n", NULL, &maps), -EBADMSG);
	assert_int_equal(maps.len, 7);
	assert_false(maps.v[0].is_main);
	cozk_maps_deinit(&maps);
}

static void test_self(void **state)
{
	struct cozk_maps maps = { 0 }, copy = { 0 };
	const struct cozk_map *map;
	char magic[4];
	int fd;

	(void)state;
	assert_int_equal(cozk_maps_read(getpid(), &maps), 0);
	map = cozk_maps_find(&maps, (uint64_t)(uintptr_t)test_self);
	assert_non_null(map);
	assert_true(map->is_main);
	fd = cozk_map_open(getpid(), map);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, magic, sizeof(magic)), sizeof(magic));
	assert_memory_equal(magic, "\177ELF", 4);
	close(fd);
	map = cozk_maps_find(&maps, (uint64_t)(uintptr_t)&strtoul);
	assert_non_null(map);

	assert_int_equal(cozk_maps_copy(&maps, &copy), 0);
	assert_int_equal(copy.len, maps.len);
	cozk_maps_deinit(&maps);
	map = cozk_maps_find(&copy, (uint64_t)(uintptr_t)test_self);
	assert_true(map && map->is_main);
	cozk_maps_deinit(&copy);
}

static void test_deleted_file(void **state)
{
	char path[] = "/tmp/cozk-maps-XXXXXX", first = 0;
	struct cozk_maps maps = { 0 };
	const struct cozk_map *map;
	int fd = mkstemp(path), opened;
	void *addr;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "content", 7), 7);
	addr = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink(path);
	if (addr == MAP_FAILED)
		skip();
	assert_int_equal(cozk_maps_read(getpid(), &maps), 0);
	map = cozk_maps_find(&maps, (uint64_t)(uintptr_t)addr);
	assert_non_null(map);
	assert_string_equal(map->path, path);
	assert_true(map->deleted);
	opened = cozk_map_open(getpid(), map);
	/* Without the right to look into map_files there is no way to such a file. */
	if (opened >= 0) {
		assert_int_equal(read(opened, &first, 1), 1);
		assert_int_equal(first, 'c');
		close(opened);
	} else {
		assert_int_not_equal(geteuid(), 0);
	}
	cozk_maps_deinit(&maps);
	munmap(addr, 4096);
}

static void test_gone(void **state)
{
	struct cozk_maps maps = { 0 };
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	/* A zombie has a maps file without content; a process that was waited for has none. */
	assert_int_equal(waitid(P_PID, pid, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(cozk_maps_read(pid, &maps), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(cozk_maps_read(pid, &maps), -ESRCH);
	assert_int_equal(maps.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	     cmocka_unit_test(test_parse_bad), cmocka_unit_test(test_self),
		cmocka_unit_test(test_deleted_file), cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
