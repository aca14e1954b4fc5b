/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples counted by place, as they come out of the rings. */
#ifndef COZK_SAMPLES_H
#define COZK_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "resolve.h"

/* A place with the number of samples on it; strings belong to the table or the resolver. */
struct cozk_sampled {
	struct cozk_sample_count count;
	enum cozk_unit unit; /* what a target at this place would be */
	long plan_target;    /* index into the plan, or -1 */
};

struct cozk_samples {
	enum cozk_unit by;	      /* lines, or functions only */
	struct cozk_sampled **places; /* in order of first sight */
	size_t len, cap;
	void *tree; /* the same by location (tsearch) */
	uint64_t total, in_scope, out_of_scope, unresolved;
	uint64_t in_scope_ns, total_ns;
};

void cozk_samples_init(struct cozk_samples *samples, enum cozk_unit by);
void cozk_samples_deinit(struct cozk_samples *samples);

/* Counts one sample at @place. Returns its entry, or NULL without memory (the totals count it all the same). */
struct cozk_sampled *cozk_samples_add(struct cozk_samples *samples, const struct cozk_place *place, bool resolved,
				      uint64_t weight_ns);

#endif
