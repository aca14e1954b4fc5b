// SPDX-License-Identifier: GPL-2.0-or-later
/* INFO, STATUS, the device node, and every ioctl with a number or an address it cannot use. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

static void *unmapped(void)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		bail("no page");
	return page;
}

static void device(void)
{
	struct stat st;

	ok(!stat("/dev/cozk", &st) && S_ISCHR(st.st_mode), "the device node is there");
	ok((st.st_mode & 0777) == 0660, "and is for root and the group");
}

static void info(int fd)
{
	struct cozk_info info;

	memset(&info, 0xcc, sizeof(info));
	ok(!ioctl(fd, COZK_IOC_INFO, &info), "INFO succeeds");
	ok(info.abi_version == COZK_ABI_VERSION, "the ABI version is the header's");
	ok(info.max_threads > 0 && info.max_threads < 1U << 22, "max_threads is told");
	ok(!(info.features & ~(COZK_FEATURE_KERNEL_IP | COZK_FEATURE_PERF_EVENT)), "no unknown feature");
	ok(info.features & COZK_FEATURE_KERNEL_IP, "root may see kernel addresses");
	ok(info.ring_records && !(info.ring_records & (info.ring_records - 1)), "a ring's records are a power of two");
	ok(info.nr_rings >= (uint32_t)sysconf(_SC_NPROCESSORS_CONF), "a ring per processor");
	ok(info.ring_stride >= 4096 + info.ring_records * sizeof(struct cozk_record) && info.ring_stride % 4096 == 0,
	   "a ring fits its stride");
	ok(info.max_pause_ns > 0 && info.max_pause_ns <= SEC, "the longest pause is told");
	ok(memchr(info.version, 0, sizeof(info.version)) && info.version[0], "the version is a string");
	ok(!info.version[sizeof(info.version) - 1], "and nothing poisoned is left behind it");
}

static void status(int fd)
{
	struct cozk_status status;
	size_t i;

	memset(&status, 0xcc, sizeof(status));
	ok(!ioctl(fd, COZK_IOC_STATUS, &status), "STATUS succeeds");
	for (i = 0; i < sizeof(status); i++)
		if (((char *)&status)[i])
			break;
	ok(i == sizeof(status), "a new session's status is all zero");
}

static void faults(int fd, int client)
{
	static const struct {
		unsigned long cmd;
		const char *name;
		bool client;
	} calls[] = {
		{ COZK_IOC_INFO, "INFO: EFAULT", false },     { COZK_IOC_ADOPT, "ADOPT: EFAULT", false },
		{ COZK_IOC_CLIENT, "CLIENT: EFAULT", false }, { COZK_IOC_SAMPLING, "SAMPLING: EFAULT", false },
		{ COZK_IOC_SCOPE, "SCOPE: EFAULT", false },   { COZK_IOC_TARGET, "TARGET: EFAULT", false },
		{ COZK_IOC_WINDOW, "WINDOW: EFAULT", false }, { COZK_IOC_STATUS, "STATUS: EFAULT", false },
		{ COZK_IOC_POINTS, "POINTS: EFAULT", false }, { COZK_IOC_INFO, "INFO of a client: EFAULT", true },
		{ COZK_IOC_POINT, "POINT: EFAULT", true },
	};
	char *page = unmapped();
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		fails(ioctl(calls[i].client ? client : fd, calls[i].cmd, page), EFAULT, calls[i].name);
}

static void unknown(int fd, int client)
{
	struct cozk_point p = { .type = COZK_POINT_THROUGHPUT, .name = "p" };
	struct cozk_lane lane = { 0 };
	struct cozk_status status;
	char buffer[256] = { 0 };

	fails(ioctl(fd, _IOR(COZK_IOC_MAGIC, 99, buffer), buffer), ENOTTY, "unknown ioctl");
	fails(ioctl(fd, _IOR(COZK_IOC_MAGIC, 0, buffer), buffer), ENOTTY, "a known number with another size");
	fails(ioctl(client, _IOR(COZK_IOC_MAGIC, 99, buffer), buffer), ENOTTY, "unknown ioctl of a client");
	fails(ioctl(client, COZK_IOC_STATUS, &status), ENOTTY, "a client has no STATUS");
	fails(ioctl(fd, COZK_IOC_POINT, &p), ENOTTY, "a control fd has no POINT");
	fails(ioctl(fd, COZK_IOC_LANE, &lane), ENOTTY, "a control fd has no LANE");
	fails(read(fd, buffer, 1), EINVAL, "read is refused");
	fails(write(fd, buffer, 1), EINVAL, "write is refused");
}

int main(void)
{
	int fd = session_open();
	int client = session_client(fd);

	device();
	info(fd);
	status(fd);
	faults(fd, client);
	unknown(fd, client);
	close(client);
	close(fd);
	return done();
}
