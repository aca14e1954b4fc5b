/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the kernel interface share: TAP, sessions, rings, and small programs to hold
 * under a session.  Whatever a test cannot go on without ends it with "Bail out!".
 */
#ifndef COZK_TEST_COMMON_H
#define COZK_TEST_COMMON_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "../../include/uapi/cozk.h"
#include "../../include/uapi/cozk_ring.h"

#define MS 1000000ULL
#define SEC 1000000000ULL

/* One TAP line; returns @pass. */
bool ok(bool pass, const char *name, ...) __attribute__((format(printf, 2, 3)));

/* Passes if @ret is -1 with errno @want. */
bool fails(int ret, int want, const char *name);

/* Passes if @got is in [@low, @high]; shows it if not. */
bool within(uint64_t got, uint64_t low, uint64_t high, const char *name);

void skip(const char *name, const char *why);
void note(const char *text, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void bail(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Prints the plan; the exit status of the test. */
int done(void);

uint64_t now_ns(void);
void sleep_ms(unsigned int ms);

/* A new control fd; children that child_make() makes do not keep it open. */
int session_open(void);
void sessions_close(void);
int session_adopt(int fd, pid_t pid);
int session_sampling(int fd, uint64_t period_ns);
struct cozk_status session_status(int fd);
int session_client(int fd);

/* Waits up to two seconds until the session has @threads alive; records go with the last switch. */
bool session_settles_at(int fd, uint32_t threads);

/* Makes or finds the point: its index, or -1. */
int point(int client, uint32_t type, const char *name);

/* Runs a window without points that the test wants to see; 0 or -1 with errno. */
int window(int fd, uint64_t duration_ns, uint32_t percent, struct cozk_window *w);

/* The same in a thread. */
struct async_window {
	int fd;
	int ret;
	int error;
	uint64_t took_ns;
	struct cozk_window w;
	pthread_t thread;
};
void window_start(struct async_window *a, int fd, uint64_t duration_ns, uint32_t percent);
void window_join(struct async_window *a);

struct rings {
	const struct cozk_info *info;
	char *map;
	uint32_t next; /* the ring looked at next */
};
/* Maps the rings of @fd. */
struct rings *rings_map(int fd);
void rings_unmap(struct rings *r);
/* The next record of any ring; false: none. */
bool rings_next(struct rings *r, struct cozk_record *record);
/* The space of process @pid by the next EXEC or FORK record about it; 0: none. */
uint32_t rings_space(struct rings *r, pid_t pid);

/*
 * A child that waits for child_go() before it runs @fn and exits with what it returns.  It is
 * killed when the test dies.
 */
struct child {
	pid_t pid;
	int gate;
};
struct child child_make(int (*fn)(void *), void *arg);
void child_go(const struct child *c);
/* Its wait status. */
int child_wait(const struct child *c);
void child_kill(const struct child *c);

/* A child in a new session: made, adopted, sampled at 1 kHz. */
struct held {
	int fd;
	struct child child;
	uint32_t space;
	struct rings *rings;
};
struct held held_make(int (*fn)(void *), void *arg);
void held_end(struct held *h);

/* Zeroed memory that children share. */
void *shared(size_t size);

/* Adds to @count until @stop: in code that set_target_hot() names, and in other code. */
struct meter {
	_Alignas(64) volatile uint64_t count;
	volatile bool stop;
};
void spin_hot(struct meter *m);
void spin_cold(struct meter *m);
int set_target_hot(int fd, uint32_t space);

/* How much @m counts in @ms, a second. */
double meter_rate(const struct meter *m, unsigned int ms);

#endif
