// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads [SECONDS]: makes and joins two threads at a time, again and again, for SECONDS (3).
 * Each works about 0.7 ms and visits the point "thread".  One line on stdout: how many there were.
 */
#include <pthread.h>
#include <stdio.h>

#include "clock.h"
#include "common.h"
#include "cozk.h"

PART void thread_body(void);

void thread_body(void)
{
	WORK(400000);
}

static void *run(void *arg)
{
	thread_body();
	COZ_PROGRESS_NAMED("thread");
	return arg;
}

int main(int argc, char **argv)
{
	double end = wall_s() + argument(argc, argv, 3);
	unsigned long made = 0;
	pthread_t pair[2];

	while (wall_s() < end) {
		for (int i = 0; i < 2; i++) {
			if (pthread_create(&pair[i], NULL, run, NULL)) {
				perror("threads: pthread_create");
				return 1;
			}
			made++;
		}
		for (int i = 0; i < 2; i++)
			pthread_join(pair[i], NULL);
	}
	printf("%lu threads\n", made);
	return 0;
}
