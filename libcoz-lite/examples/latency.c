// SPDX-License-Identifier: BSD-2-Clause
/*
 * A latency point: requests are queued by one thread and served by another.  COZ_BEGIN and
 * COZ_END have the same name and may be visited by different threads.
 *
 *   cc -g -O2 -pthread latency.c -o latency
 *   cozk run ./latency
 */
#include <pthread.h>
#include <stdio.h>

#include <cozk.h>

enum { REQUESTS = 2000, SLOTS = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued; /* under lock */

static unsigned long compute(unsigned long x, int times)
{
	while (times--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

static void *serve(void *arg)
{
	unsigned long *result = arg;

	for (int i = 0; i < REQUESTS; i++) {
		pthread_mutex_lock(&lock);
		while (!queued)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		*result = compute(*result, 2000000);
		COZ_END("request");
		pthread_mutex_lock(&lock);
		queued--;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	unsigned long arrived = 1, served = 1;
	pthread_t server;

	if (pthread_create(&server, NULL, serve, &served))
		return 1;
	for (int i = 0; i < REQUESTS; i++) {
		arrived = compute(arrived, 1500000);
		COZ_BEGIN("request");
		pthread_mutex_lock(&lock);
		while (queued == SLOTS)
			pthread_cond_wait(&changed, &lock);
		queued++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(server, NULL);
	printf("%lx %lx\n", arrived, served);
	return 0;
}
