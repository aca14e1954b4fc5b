// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue.h"

void queue_put(struct queue *queue, int token)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->put - queue->taken == QUEUE_SLOTS)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	queue->token[queue->put++ % QUEUE_SLOTS] = token;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

int queue_take(struct queue *queue)
{
	int token;

	pthread_mutex_lock(&queue->lock);
	while (queue->put == queue->taken)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	token = queue->token[queue->taken++ % QUEUE_SLOTS];
	pthread_cond_signal(&queue->not_full);
	pthread_mutex_unlock(&queue->lock);
	return token;
}
