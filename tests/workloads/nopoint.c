// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nopoint [ROUNDS]: a fixed amount of work, and no progress point at all: the whole run is the
 * unit of work.  hot does 80 % of it, cold 20 %.  1500 rounds (the default) are about 3 s natively.
 */
#include "clock.h"
#include "common.h"

PART void hot(void);
PART void cold(void);

void hot(void)
{
	WORK(1000000);
}

void cold(void)
{
	WORK(250000);
}

int main(int argc, char **argv)
{
	for (double rounds = argument(argc, argv, 1500); rounds > 0; rounds--) {
		hot();
		cold();
	}
	return 0;
}
