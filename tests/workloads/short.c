// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * short [STATUS]: works for 50 ms of wall time, visiting the point "item", and exits with STATUS
 * (0).  Over before a first experiment can be.
 */
#include "clock.h"
#include "common.h"
#include "cozk.h"

PART void work(void);

void work(void)
{
	WORK(50000);
}

int main(int argc, char **argv)
{
	double end = wall_s() + 0.05;

	while (wall_s() < end) {
		work();
		COZ_PROGRESS_NAMED("item");
	}
	return (int)argument(argc, argv, 0);
}
