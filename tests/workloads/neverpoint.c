// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * neverpoint [SECONDS]: works for SECONDS (3) and has a point, "never", in code that is not
 * reached.
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
	double end = wall_s() + argument(argc, argv, 3);

	while (wall_s() < end)
		work();
	if (argc > 1000)
		COZ_PROGRESS_NAMED("never");
	return 0;
}
