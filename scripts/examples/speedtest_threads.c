// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQLite's speedtest1 in several threads, each on a database of its own in memory, over and over.
 *
 *   speedtest_threads THREADS RUNS SIZE
 *
 * speedtest1 is a program for one thread.  Built into this file its globals can be reset between two
 * runs; the build script has made them thread-local.
 */
#define main speedtest1_main
#include "speedtest1.c"
#undef main

#include <pthread.h>

static int runs;
static char *size;

static void *worker(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < runs; i++) {
		/* It writes into some of its arguments. */
		char name[] = "speedtest1", memory[] = "--memdb", testset[] = "--testset", which[] = "main",
		     option[] = "--size";
		char *argv[] = { name, memory, testset, which, option, size, NULL };

		memset(&g, 0, sizeof(g));
		speedtest1_main(6, argv);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int i, count;

	if (argc != 4 || (count = atoi(argv[1])) < 1 || count > 64 || (runs = atoi(argv[2])) < 1) {
		fprintf(stderr, "Usage: %s THREADS RUNS SIZE\n", argv[0]);
		return 2;
	}
	size = argv[3];
	/* Its own report is of no use when there are many. */
	if (!freopen("/dev/null", "w", stdout)) {
		perror("/dev/null");
		return 1;
	}
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL)) {
			fprintf(stderr, "cannot create thread %d\n", i);
			return 1;
		}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
