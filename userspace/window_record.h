/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the module's account of a window to the profile's. */
#ifndef COZK_WINDOW_RECORD_H
#define COZK_WINDOW_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "cozk.h"
#include "profile.h"

struct cozk_controller_target;

/*
 * One entry a point into @ret (room for COZK_MAX_POINTS); the two ends of a latency pair become one. Without any point
 * progress is measured end to end: the CPU time that the program got, in ms, since a program's need of it is what stays the
 * same. @ret_most: visits of the most visited point. Returns how many entries there are.
 */
size_t cozk_window_visits(const struct cozk_window *window, const struct cozk_count *counts,
			  const struct cozk_point *points, size_t points_len, struct cozk_visits *ret,
			  uint64_t *ret_most);

/* Fills @ret; strings and @visits are borrowed. */
void cozk_window_experiment(struct cozk_experiment *ret, const struct cozk_window *window,
			    const struct cozk_controller_target *target, uint32_t speedup_ppm, uint32_t block,
			    const struct cozk_visits *visits, size_t visits_len);

#endif
