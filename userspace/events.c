// SPDX-License-Identifier: GPL-2.0-or-later
#include "events.h"

#include <ctype.h>
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME_MAX_COMPARED = 64, /* no event has a longer name */
	NEAR_SHOWN = 3,
};

/* Edits (insert, delete, change) from @a to @b, letters' case and "_" for "-" not counting. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_COMPARED + 1];
	size_t len = strnlen(b, NAME_MAX_COMPARED);

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i] && i < NAME_MAX_COMPARED; i++) {
		unsigned int diagonal = row[0];
		int ca = a[i] == '_' ? '-' : tolower((unsigned char)a[i]);

		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			int cb = b[j] == '_' ? '-' : tolower((unsigned char)b[j]);
			unsigned int best = diagonal + (ca != cb);

			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[j + 1] = best;
		}
	}
	return row[len];
}

struct near {
	char name[NAME_MAX_COMPARED + 1];
	unsigned int distance;
};

/* Keeps the NEAR_SHOWN nearest, sorted. */
static void near_add(struct near *list, const char *name, unsigned int d)
{
	size_t at = NEAR_SHOWN;

	for (size_t i = 0; i < NEAR_SHOWN; i++) {
		if (!strcasecmp(list[i].name, name))
			return;
	}
	while (at > 0 && d < list[at - 1].distance)
		at--;
	if (at == NEAR_SHOWN)
		return;
	memmove(&list[at + 1], &list[at], (NEAR_SHOWN - 1 - at) * sizeof(*list));
	snprintf(list[at].name, sizeof(list[at].name), "%s", name);
	list[at].distance = d;
}

/* Compares a name of the table, and the part of it that tells events apart, with what was asked. */
static void near_try(struct near *list, const char *asked, const char *name)
{
	static const char *const prefixes[] = { "PERF_COUNT_HW_", "PERF_COUNT_SW_" };
	unsigned int d = distance(asked, name);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);
		unsigned int rest = !strncmp(name, prefixes[i], len) ? distance(asked, name + len) : d;

		if (rest < d)
			d = rest;
	}
	/* More than a third of the letters wrong is another word. */
	if (d <= strlen(asked) / 3 + 1)
		near_add(list, name, d);
}

static bool pmu_counts(pfm_pmu_t pmu)
{
	pfm_pmu_info_t info;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	return pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.is_present;
}

static void find_near(struct near *list, const char *asked)
{
	pfm_event_info_t info;
	pfm_pmu_t pmu;

	for (size_t i = 0; i < NEAR_SHOWN; i++)
		list[i] = (struct near){ "", ~0U };
	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t pinfo = { .size = sizeof(pinfo) };

		if (!pmu_counts(pmu) || pfm_get_pmu_info(pmu, &pinfo) != PFM_SUCCESS)
			continue;
		for (int i = pinfo.first_event; i != -1; i = pfm_get_event_next(i)) {
			memset(&info, 0, sizeof(info));
			info.size = sizeof(info);
			if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &info) == PFM_SUCCESS)
				near_try(list, asked, info.name);
			if (info.equiv)
				near_try(list, asked, info.equiv);
		}
	}
}

static void explain_unknown(const char *name, char *err, size_t errlen)
{
	struct near list[NEAR_SHOWN];
	char asked[NAME_MAX_COMPARED + 1];
	const char *event = strstr(name, "::") ? strstr(name, "::") + 2 : name;
	int used;

	/* Only the event itself: what follows a ':' are its parts. */
	snprintf(asked, sizeof(asked), "%.*s", (int)strcspn(event, ":"), event);
	find_near(list, asked);
	used = snprintf(err, errlen, "no such perf event: %s", name);
	for (size_t i = 0; i < NEAR_SHOWN && list[i].name[0]; i++) {
		if (used < 0 || (size_t)used >= errlen)
			return;
		used += snprintf(err + used, errlen - used, "%s%s", i ? ", " : "; did you mean ", list[i].name);
	}
}

static int explain(int pfm, const char *name, char *err, size_t errlen)
{
	switch (pfm) {
	case PFM_ERR_NOTFOUND:
		explain_unknown(name, err, errlen);
		return -ENOENT;
	case PFM_ERR_NOMEM:
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	default:
		snprintf(err, errlen, "perf event %s: %s", name, pfm_strerror(pfm));
		return pfm == PFM_ERR_NOTSUPP ? -EOPNOTSUPP : -EINVAL;
	}
}

int cozk_event_parse(const char *name, struct perf_event_attr *attr, char *err, size_t errlen)
{
	pfm_perf_encode_arg_t arg;
	int pfm = pfm_initialize();

	if (pfm != PFM_SUCCESS) {
		snprintf(err, errlen, "libpfm4 does not start: %s", pfm_strerror(pfm));
		return -EOPNOTSUPP;
	}
	memset(attr, 0, sizeof(*attr));
	memset(&arg, 0, sizeof(arg));
	attr->size = sizeof(*attr);
	arg.attr = attr;
	arg.size = sizeof(arg);
	pfm = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	return pfm == PFM_SUCCESS ? 0 : explain(pfm, name, err, errlen);
}
