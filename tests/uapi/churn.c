// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions that come and go over a program whose threads and processes do too, with pauses under
 * way: what must not happen is in the kernel's log (a warning, poison with slub_debug=FZPU).
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { CYCLES = 60, WORKERS = 3 };

static struct state {
	struct meter hot;
	volatile uint64_t forks, threads;
} * state;

static void *short_life(void *unused)
{
	for (volatile int i = 0; i < 20000; i++)
		;
	state->threads++;
	return unused;
}

/* Some exit by themselves, some with their process, some by a signal. */
static void *births(void *unused)
{
	pthread_t t[2];
	int i, n = 0;

	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			pthread_create(&t[0], NULL, short_life, NULL);
			if (n % 3 == 0)
				pause();
			if (n % 3 == 1)
				pthread_join(t[0], NULL);
			_exit(0);
		}
		state->forks++;
		for (i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, short_life, NULL);
		for (i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		if (n++ % 3 == 0)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return unused;
}

static int program(void *unused)
{
	pthread_t t;
	int i;

	(void)unused;
	for (i = 0; i < WORKERS; i++)
		pthread_create(&t, NULL, births, NULL);
	spin_hot(&state->hot);
	return 0;
}

/* A window now and then, and an end in the middle of it all. */
static bool cycle(const struct child *c, int n)
{
	int fd = session_open();
	struct cozk_window w;
	struct rings *rings = rings_map(fd);
	bool good = !session_adopt(fd, c->pid) && !session_sampling(fd, 50000) &&
		    !set_target_hot(fd, rings_space(rings, c->pid));

	if (n % 3)
		good &= !window(fd, (1 + n % 20) * MS, 100, &w) && w.end_reason == COZK_END_DURATION &&
			w.due_end_ns - w.due_start_ns <= w.end_ns - w.start_ns + 60 * MS;
	else
		sleep_ms(n % 7);
	rings_unmap(rings);
	close(fd);
	return good;
}

int main(void)
{
	struct child c;
	uint64_t forks, threads;
	int i, good = 0;

	state = shared(sizeof(*state));
	c = child_make(program, NULL);
	child_go(&c);
	sleep_ms(50);
	for (i = 0; i < CYCLES; i++)
		good += cycle(&c, i);
	ok(good == CYCLES, "%d sessions over a program in turmoil", good);
	forks = state->forks;
	threads = state->threads;
	sleep_ms(300);
	ok(state->forks > forks && state->threads > threads, "which goes on (%llu, %llu)",
	   (unsigned long long)state->forks, (unsigned long long)state->threads);
	child_kill(&c);
	return done();
}
