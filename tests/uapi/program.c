// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs that the tests hold under a session. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

/* The linker makes these for a section with a C name. */
extern const char __start_hot_text[], __stop_hot_text[];

enum { ROUND = 200 };

struct child child_make(int (*fn)(void *), void *arg)
{
	struct child c;
	int gate[2], ready[2];
	char byte;

	if (pipe(gate) || pipe(ready))
		bail("no pipe");
	fflush(stdout);
	c.pid = fork();
	if (c.pid < 0)
		bail("no child");
	if (!c.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(gate[1]);
		close(ready[0]);
		sessions_close();
		close(ready[1]);
		if (read(gate[0], &byte, 1) != 1)
			_exit(99);
		close(gate[0]);
		_exit(fn(arg));
	}
	close(gate[0]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 0)
		bail("the child is not ready");
	close(ready[0]);
	c.gate = gate[1];
	return c;
}

void child_go(const struct child *c)
{
	if (write(c->gate, "", 1) != 1)
		bail("child %d is gone", c->pid);
	close(c->gate);
}

int child_wait(const struct child *c)
{
	int status;

	if (waitpid(c->pid, &status, 0) != c->pid)
		bail("no child %d", c->pid);
	return status;
}

void child_kill(const struct child *c)
{
	kill(c->pid, SIGKILL);
	child_wait(c);
}

struct held held_make(int (*fn)(void *), void *arg)
{
	struct held h = { .fd = session_open() };

	h.child = child_make(fn, arg);
	h.rings = rings_map(h.fd);
	if (session_adopt(h.fd, h.child.pid))
		bail("cannot adopt the child");
	h.space = rings_space(h.rings, h.child.pid);
	if (!h.space)
		bail("no EXEC record of the child");
	if (session_sampling(h.fd, MS) || set_target_hot(h.fd, h.space))
		bail("cannot set up sampling");
	return h;
}

void held_end(struct held *h)
{
	kill(h->child.pid, SIGKILL);
	child_wait(&h->child);
	rings_unmap(h->rings);
	close(h->fd);
}

void *shared(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		bail("no memory");
	return mem;
}

__attribute__((noinline, section("hot_text"))) void spin_hot(struct meter *m)
{
	while (!m->stop) {
		for (volatile int i = 0; i < ROUND; i++)
			;
		m->count++;
	}
}

__attribute__((noinline)) void spin_cold(struct meter *m)
{
	while (!m->stop) {
		for (volatile int i = 0; i < ROUND; i++)
			;
		m->count++;
	}
}

int set_target_hot(int fd, uint32_t space)
{
	struct cozk_span span = {
		.start = (uintptr_t)__start_hot_text,
		.end = (uintptr_t)__stop_hot_text,
		.space = space,
	};
	struct cozk_set_target target = { .count = 1, .ranges = (uintptr_t)&span };

	return ioctl(fd, COZK_IOC_TARGET, &target);
}

double meter_rate(const struct meter *m, unsigned int ms)
{
	uint64_t start = now_ns();
	uint64_t before = m->count;

	sleep_ms(ms);
	return (m->count - before) / ((now_ns() - start) / 1e9);
}
