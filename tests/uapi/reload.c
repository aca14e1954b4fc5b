// SPDX-License-Identifier: GPL-2.0-or-later
/* reload MODULE: unloading and loading the module, with and without a session. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

enum { CYCLES = 20 };

static struct meter *meter;

static int unload(void)
{
	return syscall(SYS_delete_module, "cozk", O_NONBLOCK);
}

static int load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		bail("cannot open %s", file);
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

static int spin(void *unused)
{
	(void)unused;
	spin_hot(meter);
	return 0;
}

static void pinned(void)
{
	int fd = session_open();
	int client;

	/* What the kernel says; rmmod turns it into "in use". */
	fails(unload(), EWOULDBLOCK, "the module stays while a session is open");
	client = session_client(fd);
	close(fd);
	fails(unload(), EWOULDBLOCK, "and while a client fd is");
	close(client);
}

/* A session in use, ended with the program running on, and the module gone right after. */
static bool cycle(const char *file, bool kill_first)
{
	struct held h = held_make(spin, NULL);
	struct cozk_window w;
	int i;

	child_go(&h.child);
	if (window(h.fd, 10 * MS, 100, &w))
		bail("WINDOW failed");
	if (kill_first)
		kill(h.child.pid, SIGKILL);
	rings_unmap(h.rings);
	close(h.fd);
	/* A record may be held by a pause that is just ending. */
	for (i = 0; unload(); i++) {
		if (i == 100)
			return false;
		sleep_ms(5);
	}
	child_kill(&h.child);
	return !load(file);
}

int main(int argc, char **argv)
{
	int i, good = 0;

	if (argc != 2)
		bail("usage: reload MODULE");
	meter = shared(sizeof(*meter));
	pinned();
	ok(!unload(), "the module can be unloaded");
	ok(access("/dev/cozk", F_OK) && errno == ENOENT, "and takes its device with it");
	ok(!load(argv[1]), "and loaded again");
	fails(load(argv[1]), EEXIST, "but not twice");
	for (i = 0; i < CYCLES; i++)
		good += cycle(argv[1], i % 2);
	ok(good == CYCLES, "%d sessions with the module unloaded behind them", good);
	return done();
}
