// SPDX-License-Identifier: GPL-2.0-or-later
#include "samples.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cozk_samples_init(struct cozk_samples *samples, enum cozk_unit by)
{
	*samples = (struct cozk_samples){ .by = by };
}

static void keep(void *node)
{
	(void)node;
}

void cozk_samples_deinit(struct cozk_samples *samples)
{
	size_t i;

	tdestroy(samples->tree, keep);
	for (i = 0; i < samples->len; i++) {
		free((char *)samples->places[i]->count.location);
		free(samples->places[i]);
	}
	free(samples->places);
	*samples = (struct cozk_samples){ .by = samples->by };
}

static int compare(const void *a, const void *b)
{
	const struct cozk_sampled *left = a, *right = b;

	return strcmp(left->count.location, right->count.location);
}

/* Code without line information is named by its function, whatever is asked for. */
static char *location_of(enum cozk_unit by, const struct cozk_place *place, enum cozk_unit *unit)
{
	char *text = NULL;

	*unit = by == COZK_UNIT_LINE && place->has_line ? COZK_UNIT_LINE : COZK_UNIT_FUNCTION;
	if (*unit == COZK_UNIT_FUNCTION)
		return strdup(place->function);
	return asprintf(&text, "%s:%u", place->file, place->line) < 0 ? NULL : text;
}

static struct cozk_sampled *insert(struct cozk_samples *samples, char *location, enum cozk_unit unit,
				   const struct cozk_place *place)
{
	struct cozk_sampled *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	if (samples->len == samples->cap) {
		size_t cap = samples->cap ? 2 * samples->cap : 64;
		void *bigger = reallocarray(samples->places, cap, sizeof(*samples->places));

		if (!bigger) {
			free(entry);
			return NULL;
		}
		samples->places = bigger;
		samples->cap = cap;
	}
	entry->count = (struct cozk_sample_count){
		.location = location,
		.function = place->function,
		.binary = place->binary,
		.chain = place->chain,
		.in_scope = place->in_scope,
	};
	entry->unit = unit;
	entry->plan_target = -1;
	if (!tsearch(entry, &samples->tree, compare)) {
		free(entry);
		return NULL;
	}
	samples->places[samples->len++] = entry;
	return entry;
}

static struct cozk_sampled *find_or_insert(struct cozk_samples *samples, const struct cozk_place *place)
{
	enum cozk_unit unit;
	char *location = location_of(samples->by, place, &unit);
	struct cozk_sampled key = { .count.location = location };
	struct cozk_sampled **found, *entry;

	if (!location)
		return NULL;
	found = tfind(&key, &samples->tree, compare);
	entry = found ? *found : insert(samples, location, unit, place);
	if (found || !entry)
		free(location);
	return entry;
}

struct cozk_sampled *cozk_samples_add(struct cozk_samples *samples, const struct cozk_place *place, bool resolved,
				      uint64_t weight_ns)
{
	struct cozk_sampled *entry = find_or_insert(samples, place);

	samples->total++;
	samples->total_ns += weight_ns;
	if (!resolved) {
		samples->unresolved++;
	} else if (place->in_scope) {
		samples->in_scope++;
		samples->in_scope_ns += weight_ns;
	} else {
		samples->out_of_scope++;
	}
	if (entry) {
		entry->count.count++;
		entry->count.weight_ns += weight_ns;
	}
	return entry;
}
