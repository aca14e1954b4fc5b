// SPDX-License-Identifier: GPL-2.0-or-later
/* The result model: runs, targets, points, windows and samples, each with strings of its own. */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {
	[COZK_UNIT_LINE] = "line",
	[COZK_UNIT_FUNCTION] = "function",
	[COZK_UNIT_END_TO_END] = "end-to-end",
};

const char *cozk_unit_name(enum cozk_unit unit)
{
	return unit_names[unit];
}

bool cozk_unit_parse(const char *name, enum cozk_unit *ret)
{
	for (size_t i = 0; i < sizeof(unit_names) / sizeof(*unit_names); i++) {
		if (strcmp(name, unit_names[i]) == 0) {
			*ret = (enum cozk_unit)i;
			return true;
		}
	}
	return false;
}

/* Room for one more element at the end of an array. */
static void *grow(void *array, size_t len, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *bigger;

	if (len < *cap)
		return array;
	bigger = reallocarray(array, want, size);
	if (bigger)
		*cap = want;
	return bigger;
}

#define GROW(array, len, cap)                                                  \
	({                                                                     \
		void *grown_ = grow((array), (len), &(cap), sizeof(*(array))); \
		if (grown_)                                                    \
			(array) = grown_;                                      \
		grown_ != NULL;                                                \
	})

/* The strings below are const for everybody but their owner. */
static void string_free(const char *s)
{
	free((char *)s);
}

/* Copies @src, where NULL stays NULL; *failed is set when memory runs out and never cleared. */
static const char *string_copy(const char *src, bool *failed)
{
	char *copy;

	if (!src)
		return NULL;
	copy = strdup(src);
	if (!copy)
		*failed = true;
	return copy;
}

static void argv_free(const char *const *argv)
{
	if (!argv)
		return;
	for (size_t i = 0; argv[i]; i++)
		string_free(argv[i]);
	free((void *)argv);
}

static const char *const *argv_copy(const char *const *argv, bool *failed)
{
	const char **copy;
	size_t n = 0;

	if (!argv)
		return NULL;
	while (argv[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	if (!copy) {
		*failed = true;
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		copy[i] = string_copy(argv[i], failed);
		if (!copy[i])
			break;
	}
	return copy;
}

static void startup_free(struct cozk_startup *s)
{
	string_free(s->version);
	string_free(s->kernel);
	string_free(s->event);
	string_free(s->scope);
	argv_free(s->argv);
}

static void sample_free(struct cozk_sample_count *s)
{
	string_free(s->location);
	string_free(s->function);
	string_free(s->binary);
	string_free(s->chain);
}

static void runtime_free(struct cozk_runtime *r)
{
	string_free(r->status);
	string_free(r->reason);
}

static void target_free(struct cozk_profile_target *t)
{
	string_free(t->name);
	string_free(t->function);
	string_free(t->binary);
	string_free(t->chain);
}

static void samples_drop(struct cozk_profile_run *run)
{
	for (size_t i = 0; i < run->samples_len; i++)
		sample_free(&run->samples[i]);
	run->samples_len = 0;
}

int cozk_profile_add_startup(struct cozk_profile *p, const struct cozk_startup *s)
{
	struct cozk_profile_run run = { .startup = *s, .has_startup = true };
	bool failed = false;

	if (!GROW(p->runs, p->runs_len, p->runs_cap))
		return -ENOMEM;
	run.startup.version = string_copy(s->version, &failed);
	run.startup.kernel = string_copy(s->kernel, &failed);
	run.startup.event = string_copy(s->event, &failed);
	run.startup.scope = string_copy(s->scope, &failed);
	run.startup.argv = argv_copy(s->argv, &failed);
	if (failed) {
		startup_free(&run.startup);
		return -ENOMEM;
	}
	p->runs[p->runs_len++] = run;
	return 0;
}

/* The run that records belong to now; NULL when memory runs out. */
static struct cozk_profile_run *current_run(struct cozk_profile *p)
{
	if (!p->runs_len) {
		if (!GROW(p->runs, p->runs_len, p->runs_cap))
			return NULL;
		p->runs[p->runs_len++] = (struct cozk_profile_run){ 0 };
	}
	return &p->runs[p->runs_len - 1];
}

/*
 * Targets and points are few (hundreds), windows come in bursts of the same ones: search from the
 * end.
 */
static int target_intern(struct cozk_profile *p, const struct cozk_experiment *e, uint32_t *ret)
{
	struct cozk_profile_target t = { .unit = e->unit };
	bool failed = false;

	for (size_t i = p->targets_len; i-- > 0;) {
		if (p->targets[i].unit == e->unit && strcmp(p->targets[i].name, e->selected) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	if (!GROW(p->targets, p->targets_len, p->targets_cap))
		return -ENOMEM;
	t.name = string_copy(e->selected, &failed);
	t.function = string_copy(e->function, &failed);
	t.binary = string_copy(e->binary, &failed);
	t.chain = string_copy(e->chain, &failed);
	if (failed) {
		target_free(&t);
		return -ENOMEM;
	}
	*ret = (uint32_t)p->targets_len;
	p->targets[p->targets_len++] = t;
	return 0;
}

static int point_intern(struct cozk_profile *p, const struct cozk_visits *v, uint32_t *ret)
{
	char *name;

	for (size_t i = p->points_len; i-- > 0;) {
		if (p->points[i].type == v->type && strcmp(p->points[i].name, v->name) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	if (!GROW(p->points, p->points_len, p->points_cap))
		return -ENOMEM;
	name = strdup(v->name);
	if (!name)
		return -ENOMEM;
	*ret = (uint32_t)p->points_len;
	p->points[p->points_len++] = (struct cozk_profile_point){ .name = name, .type = v->type };
	return 0;
}

int cozk_profile_add_window(struct cozk_profile *p, const struct cozk_experiment *e)
{
	struct cozk_experiment copy = *e;
	struct cozk_profile_run *run = current_run(p);
	struct cozk_visits *visits = NULL;
	bool failed = false;

	if (!run || !GROW(p->windows, p->windows_len, p->windows_cap))
		return -ENOMEM;
	if (target_intern(p, e, &copy.target))
		return -ENOMEM;
	if (e->visits_len) {
		visits = calloc(e->visits_len, sizeof(*visits));
		if (!visits)
			return -ENOMEM;
	}
	for (size_t i = 0; i < e->visits_len; i++) {
		visits[i] = e->visits[i];
		if (point_intern(p, &e->visits[i], &visits[i].point)) {
			free(visits);
			return -ENOMEM;
		}
		visits[i].name = p->points[visits[i].point].name;
	}
	copy.end_reason = string_copy(e->end_reason, &failed);
	if (failed) {
		free(visits);
		return -ENOMEM;
	}
	/* What names the target is the target's. */
	copy.selected = p->targets[copy.target].name;
	copy.function = p->targets[copy.target].function;
	copy.binary = p->targets[copy.target].binary;
	copy.chain = p->targets[copy.target].chain;
	copy.visits = visits;
	copy.run = (uint32_t)(p->runs_len - 1);
	p->windows[p->windows_len++] = copy;
	run->windows++;
	return 0;
}

int cozk_profile_add_runtime(struct cozk_profile *p, const struct cozk_runtime *r)
{
	struct cozk_profile_run *run = current_run(p);
	struct cozk_runtime copy = *r;
	bool failed = false;

	if (!run)
		return -ENOMEM;
	copy.status = string_copy(r->status, &failed);
	copy.reason = string_copy(r->reason, &failed);
	if (failed) {
		runtime_free(&copy);
		return -ENOMEM;
	}
	runtime_free(&run->runtime);
	run->runtime = copy;
	run->has_runtime = true;
	samples_drop(run);
	return 0;
}

int cozk_profile_add_sample(struct cozk_profile *p, const struct cozk_sample_count *s)
{
	struct cozk_profile_run *run = current_run(p);
	struct cozk_sample_count copy = *s;
	bool failed = false;

	if (!run || !GROW(run->samples, run->samples_len, run->samples_cap))
		return -ENOMEM;
	copy.location = string_copy(s->location, &failed);
	copy.function = string_copy(s->function, &failed);
	copy.binary = string_copy(s->binary, &failed);
	copy.chain = string_copy(s->chain, &failed);
	if (failed) {
		sample_free(&copy);
		return -ENOMEM;
	}
	run->samples[run->samples_len++] = copy;
	return 0;
}

void cozk_profile_deinit(struct cozk_profile *p)
{
	for (size_t i = 0; i < p->runs_len; i++) {
		startup_free(&p->runs[i].startup);
		runtime_free(&p->runs[i].runtime);
		samples_drop(&p->runs[i]);
		free(p->runs[i].samples);
	}
	for (size_t i = 0; i < p->targets_len; i++)
		target_free(&p->targets[i]);
	for (size_t i = 0; i < p->points_len; i++)
		string_free(p->points[i].name);
	for (size_t i = 0; i < p->windows_len; i++) {
		string_free(p->windows[i].end_reason);
		free((void *)p->windows[i].visits);
	}
	free(p->runs);
	free(p->targets);
	free(p->points);
	free(p->windows);
	*p = (struct cozk_profile){ 0 };
}
