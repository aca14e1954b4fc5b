// SPDX-License-Identifier: GPL-2.0-or-later
#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Spans for the module, over all processes. */
struct spans {
	struct cozk_span *v;
	size_t len, cap;
};

void cozk_processes_init(struct cozk_processes *p, struct cozk_resolver *resolver)
{
	*p = (struct cozk_processes){ .resolver = resolver };
}

void cozk_processes_deinit(struct cozk_processes *p)
{
	free(p->v);
	p->v = NULL;
	p->len = p->cap = 0;
}

static struct cozk_process *find_space(struct cozk_processes *p, uint32_t space)
{
	size_t i = p->len;

	/* The latest are asked for most. */
	while (i-- > 0)
		if (p->v[i].space == space)
			return &p->v[i];
	return NULL;
}

/* Address space ids only grow, and sorted by them is how the module wants spans. */
static int insert_space(struct cozk_processes *p, pid_t pid, uint32_t space)
{
	size_t at = p->len;

	if (p->len == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 16;
		void *bigger = reallocarray(p->v, cap, sizeof(*p->v));

		if (!bigger)
			return -ENOMEM;
		p->v = bigger;
		p->cap = cap;
	}
	while (at > 0 && p->v[at - 1].space > space)
		at--;
	memmove(&p->v[at + 1], &p->v[at], (p->len - at) * sizeof(*p->v));
	p->v[at] = (struct cozk_process){ .pid = pid, .space = space };
	p->len++;
	p->generation++;
	return 0;
}

/* Records of different CPUs do not come in order: an exec only ends the spaces before its own. */
static void mark_gone(struct cozk_processes *p, pid_t pid, uint32_t before)
{
	size_t i;

	for (i = 0; i < p->len; i++)
		if (p->v[i].pid == pid && p->v[i].space < before)
			p->v[i].gone = true;
}

int cozk_processes_record(struct cozk_processes *p, const struct cozk_record *record)
{
	bool known = record->space == p->ignored_space || find_space(p, record->space);

	switch (record->type) {
	case COZK_RECORD_FORK:
		cozk_resolver_fork(p->resolver, record->aux, record->pid);
		break;
	case COZK_RECORD_EXEC:
		cozk_resolver_stale(p->resolver, record->pid);
		mark_gone(p, record->pid, record->space);
		p->generation++;
		break;
	case COZK_RECORD_EXIT:
		mark_gone(p, record->pid, UINT32_MAX);
		return 0;
	}
	return known ? 0 : insert_space(p, record->pid, record->space);
}

static int add_span(struct spans *spans, uint32_t space, const struct cozk_range *range)
{
	if (spans->len == spans->cap) {
		size_t cap = spans->cap ? 2 * spans->cap : 64;
		void *bigger = reallocarray(spans->v, cap, sizeof(*spans->v));

		if (!bigger)
			return -ENOMEM;
		spans->v = bigger;
		spans->cap = cap;
	}
	spans->v[spans->len++] = (struct cozk_span){ .start = range->start, .end = range->end, .space = space };
	return 0;
}

static int add_ranges(struct spans *spans, uint32_t space, const struct cozk_ranges *ranges)
{
	size_t i;
	int error = 0;

	for (i = 0; i < ranges->len && !error; i++)
		error = add_span(spans, space, &ranges->v[i]);
	return error;
}

static int push_scope(struct cozk_processes *p, struct cozk_process *process, struct cozk_device *dev)
{
	struct cozk_ranges ranges = { 0 };
	struct spans spans = { 0 };
	int error = cozk_resolver_scope_ranges(p->resolver, process->pid, &ranges);

	if (!error)
		error = add_ranges(&spans, process->space, &ranges);
	if (!error)
		error = cozk_device_scope(dev, process->space, spans.v, spans.len);
	process->scoped = !error;
	free(spans.v);
	cozk_ranges_deinit(&ranges);
	return error == -ESRCH ? 0 : error; /* gone before it could be looked at */
}

int cozk_processes_push_scopes(struct cozk_processes *p, struct cozk_device *dev)
{
	struct cozk_resolver_stats stats;
	bool mapped_more;
	size_t i;
	int error = 0;

	cozk_resolver_stats(p->resolver, &stats);
	mapped_more = stats.maps_reads != p->maps_reads;
	p->generation += mapped_more;
	for (i = 0; i < p->len && !error; i++)
		if (!p->v[i].gone && (mapped_more || !p->v[i].scoped))
			error = push_scope(p, &p->v[i], dev);
	cozk_resolver_stats(p->resolver, &stats);
	p->maps_reads = stats.maps_reads;
	return error;
}

int cozk_processes_push_target(struct cozk_processes *p, struct cozk_device *dev, enum cozk_target_kind kind,
			       const char *name, char *err, size_t errlen)
{
	struct cozk_ranges ranges = { 0 };
	struct spans spans = { 0 };
	int error = 0;
	size_t i;

	snprintf(err, errlen, "no process to look for %s in", name);
	for (i = 0; i < p->len; i++) {
		if (p->v[i].gone)
			continue;
		error = cozk_resolver_ranges(p->resolver, p->v[i].pid, kind, name, &ranges, err, errlen);
		if (!error)
			error = add_ranges(&spans, p->v[i].space, &ranges);
		if (error == -ENOMEM)
			break;
	}
	if (spans.len)
		error = cozk_device_target(dev, spans.v, spans.len);
	else if (!error)
		error = -ENOENT;
	free(spans.v);
	cozk_ranges_deinit(&ranges);
	return error;
}

void cozk_processes_kill(const struct cozk_processes *p, int signal_number)
{
	size_t i;

	for (i = 0; i < p->len; i++)
		if (!p->v[i].gone)
			kill(p->v[i].pid, signal_number);
}
