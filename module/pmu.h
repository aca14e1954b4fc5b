/* SPDX-License-Identifier: GPL-2.0-only */
/* Sampling on a perf event instead of the clock, one counter per CPU. */
#ifndef COZK_PMU_H
#define COZK_PMU_H

struct cozk_session;
struct perf_event_attr;

/*
 * Starts sampling @s on the event.  Context: process, may sleep, under session->control.
 * Errors: what the perf subsystem says (-ENOENT, -EOPNOTSUPP: no such event here), -EBUSY.
 */
int cozk_pmu_start(struct cozk_session *s, struct perf_event_attr *attr);

/* Safe to call when none was started.  Context: process, may sleep. */
void cozk_pmu_stop(struct cozk_session *s);

#endif
