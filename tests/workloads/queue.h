/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bounded queue of tokens between two threads that block on it. */
#ifndef WORKLOAD_QUEUE_H
#define WORKLOAD_QUEUE_H

#include <pthread.h>

enum { QUEUE_SLOTS = 8 };

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	pthread_cond_t not_full;
	int token[QUEUE_SLOTS];
	unsigned int put; /* tokens ever put */
	unsigned int taken;
};

#define QUEUE_INIT                                                                        \
	{                                                                                 \
		.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, \
		.not_full = PTHREAD_COND_INITIALIZER                                      \
	}

/* Waits for a free slot. */
void queue_put(struct queue *queue, int token);

/* Waits for a token. */
int queue_take(struct queue *queue);

#endif
