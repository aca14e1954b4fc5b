// SPDX-License-Identifier: GPL-2.0-only
/* COZK_HAVE_HRTIMER_SETUP: is there hrtimer_setup()?  (v6.15) */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *));

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
