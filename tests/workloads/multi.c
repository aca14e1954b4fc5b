// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * multi: one thread, two functions, 70:30; one item each time both are through.  Good for a first
 * look: with one thread, what a function gains is simply its share.
 *
 * Truth: P = 7(1 - s_parse) + 3(1 - s_render) units.
 *   parse   x = 0.7 s, a straight line
 *   render  x = 0.3 s, a straight line
 */
#include "common.h"
#include "cozk.h"

enum { PARSE, RENDER };

static struct part parts[] = {
	[PARSE] = { .name = "parse", .units = 7 },
	[RENDER] = { .name = "render", .units = 3 },
};

static double period(const struct part *p)
{
	return part_units(&p[PARSE]) + part_units(&p[RENDER]);
}

static const struct workload multi = { .name = "multi", .parts = parts, .nr_parts = 2, .cpus = 1, .period = period };

PART void parse(void);
PART void render(void);

void parse(void)
{
	WORK(parts[PARSE].loops);
}

void render(void)
{
	WORK(parts[RENDER].loops);
}

int main(int argc, char **argv)
{
	bool done = false;

	workload_start(&multi, argc, argv);
	workload_thread_begin(0);
	while (!done) {
		parse();
		render();
		COZ_PROGRESS_NAMED("item");
		done = workload_item();
	}
	workload_thread_end(0);
	return workload_finish();
}
