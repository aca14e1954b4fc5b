// SPDX-License-Identifier: GPL-2.0-or-later
/* Private counter lanes: one a thread, freed with it, counted in the totals and in windows. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"

/* One thread more than there are lanes, the main thread included. */
enum { THREADS = COZK_MAX_LANES + 1 };

static struct state {
	int client;
	pthread_barrier_t all;
	int lanes[THREADS]; /* or -errno */
	int main_again;
	int reused;
	volatile bool ready;
} * state;

static int lane_of(void)
{
	struct cozk_lane lane;

	memset(&lane, 0xcc, sizeof(lane));
	if (ioctl(state->client, COZK_IOC_LANE, &lane))
		return -errno;
	return lane.reserved ? -1 : (int)lane.lane;
}

static void *take_lane(void *lane)
{
	*(int *)lane = lane_of();
	/* All have one before the first gives its up. */
	pthread_barrier_wait(&state->all);
	return NULL;
}

static void *take_freed_lane(void *unused)
{
	state->reused = lane_of();
	return unused;
}

static int program(void *unused)
{
	pthread_t threads[THREADS];
	pthread_attr_t attr;
	uint64_t *map;
	int i;

	(void)unused;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&state->all, NULL, THREADS);
	state->lanes[0] = lane_of();
	state->main_again = lane_of();
	for (i = 1; i < THREADS; i++)
		if (pthread_create(&threads[i], &attr, take_lane, &state->lanes[i]))
			return 1;
	pthread_barrier_wait(&state->all);
	for (i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* A record goes with the last switch, a moment after the join. */
	usleep(100000);
	pthread_create(&threads[1], &attr, take_freed_lane, NULL);
	pthread_join(threads[1], NULL);

	map = mmap(NULL, COZK_COUNTERS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, state->client, 0);
	if (map == MAP_FAILED)
		return 1;
	map[0] = 2;
	map[(COZK_SHARED_SIZE + 1 * COZK_LANE_SIZE) / 8] = 3;
	map[(COZK_SHARED_SIZE + 200 * COZK_LANE_SIZE) / 8] = 4;
	state->ready = true;
	pause();
	return 0;
}

static void check_lanes(void)
{
	bool seen[COZK_MAX_LANES] = { 0 };
	int i, distinct = 0, refused = 0;

	for (i = 0; i < THREADS; i++) {
		int lane = state->lanes[i];

		refused += lane == -ENOSPC;
		if (lane >= 0 && lane < COZK_MAX_LANES && !seen[lane])
			distinct++, seen[lane] = true;
	}
	ok(state->main_again == state->lanes[0], "LANE: a thread gets the same again");
	ok(distinct == COZK_MAX_LANES, "LANE: every thread has its own (%d)", distinct);
	ok(refused == 1, "LANE: one thread too many has none: ENOSPC (%d)", refused);
	ok(state->reused >= 0, "LANE: those of exited threads go to new ones (%d)", state->reused);
}

static void check_counts(int fd)
{
	struct cozk_count counts[1];
	struct cozk_window w = { .counts = (uintptr_t)counts, .counts_max = 1 };

	memset(counts, 0xcc, sizeof(counts));
	ok(!ioctl(fd, COZK_IOC_WINDOW, &w) && w.counts_len == 1, "a window tells the point");
	ok(counts[0].point == 0 && counts[0].type == COZK_POINT_THROUGHPUT, "and which it is");
	ok(counts[0].start == 9 && counts[0].end == 9, "with the counts of all lanes");
}

int main(void)
{
	struct child c;
	int fd = session_open();
	int i;

	state = shared(sizeof(*state));
	state->client = session_client(fd);
	if (point(state->client, COZK_POINT_THROUGHPUT, "p") != 0)
		bail("no point");
	c = child_make(program, NULL);
	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	child_go(&c);
	for (i = 0; !state->ready && i < 1000; i++)
		sleep_ms(10);
	if (!state->ready)
		bail("the program is stuck");
	check_lanes();
	check_counts(fd);
	child_kill(&c);
	close(fd);
	return done();
}
