// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one visit of a progress point costs: the way Coz's header counts (an atomic add to a
 * counter that all threads share) and through cozk.h, by 1, 2 and 64 threads at once.
 *
 *   visit [VISITS [THREADS...]]
 *
 * Prints one JSON object; ns are thread CPU time per visit, mean over the threads, best of five
 * rounds.  "empty_ns" is the loop without a visit and is not subtracted.  With -DCOZK_TEST the
 * session is a fake one; without, it is the one of `cozk run`, or none.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cozk.h"
#ifdef COZK_TEST
#include "../unit/fake_client.h"
#endif

enum { MAX_THREADS = 256, ROUNDS = 5 };

static long visits = 20000000;
static pthread_barrier_t start;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The same loop for all three; the barrier to the compiler keeps it a loop. */
#define TIMED_LOOP(visit)                              \
	({                                             \
		double begin_ = cpu_ns();              \
		for (long i_ = 0; i_ < visits; i_++) { \
			visit;                         \
			__asm__ volatile("");          \
		}                                      \
		(cpu_ns() - begin_) / (double)visits;  \
	})

static double run_empty(void)
{
	return TIMED_LOOP((void)0);
}

static double run_cozk(void)
{
	COZ_PROGRESS_NAMED("bench-cozk");
	return TIMED_LOOP(COZ_PROGRESS_NAMED("bench-cozk"));
}

static double run_coz(void)
{
	static coz_counter_t own;
	static coz_counter_t *counter;

	/* Without a session Coz's header would do nothing; here its add is what is measured. */
	if (cozk_weak_get_counter_)
		counter = cozk_weak_get_counter_(COZ_COUNTER_TYPE_THROUGHPUT, "bench-coz");
	if (!counter)
		counter = &own;
	return TIMED_LOOP(__atomic_add_fetch(&counter->count, 1, __ATOMIC_RELAXED));
}

struct worker {
	pthread_t thread;
	double (*run)(void);
	double ns;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	pthread_barrier_wait(&start);
	worker->ns = worker->run();
	return NULL;
}

static double measure(int threads, double (*run)(void))
{
	struct worker workers[MAX_THREADS];
	double best = 0, sum;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_init(&start, NULL, (unsigned int)threads);
		for (int i = 0; i < threads; i++) {
			workers[i].run = run;
			if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
				perror("visit: pthread_create");
				exit(1);
			}
		}
		sum = 0;
		for (int i = 0; i < threads; i++) {
			pthread_join(workers[i].thread, NULL);
			sum += workers[i].ns;
		}
		pthread_barrier_destroy(&start);
		if (!round || sum / threads < best)
			best = sum / threads;
	}
	return best;
}

/* Every round makes new threads; this is what a running program pays, so nothing is warmed up. */
static void print_row(int threads, long total, int last)
{
	visits = total / threads;
	printf("  {\"threads\": %d, \"empty_ns\": %.3f, ", threads, measure(threads, run_empty));
	printf("\"cozk_ns\": %.3f, ", measure(threads, run_cozk));
	printf("\"coz_ns\": %.3f}%s\n", measure(threads, run_coz), last ? "" : ",");
}

/* In a process of its own, because a process that has once been off stays off. */
static void print_off(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("visit: fork");
		exit(1);
	}
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	unsetenv("COZK_CLIENT_FD");
	printf(" \"off_ns\": %.3f,\n", measure(1, run_cozk));
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	static const int usual[] = { 1, 2, 64 };
	long total = argc > 1 ? atol(argv[1]) : visits;

	if (total < 100000) {
		fprintf(stderr, "usage: visit [VISITS >= 100000 [THREADS...]]\n");
		return 2;
	}
	visits = total;
	printf("{\n");
	fflush(stdout);
	print_off();
#ifdef COZK_TEST
	printf(" \"session\": \"fake\",\n");
	fake_client_start();
#else
	printf(" \"session\": \"%s\",\n", getenv("COZK_CLIENT_FD") ? "real" : "none");
#endif
	printf(" \"rows\": [\n");
	if (argc <= 2)
		for (int i = 0; i < 3; i++)
			print_row(usual[i], total, i == 2);
	for (int i = 2; i < argc; i++) {
		int threads = atoi(argv[i]);

		if (threads < 1 || threads > MAX_THREADS) {
			fprintf(stderr, "visit: threads are 1 to %d\n", MAX_THREADS);
			return 2;
		}
		print_row(threads, total, i == argc - 1);
	}
	printf(" ]\n}\n");
	return 0;
}
