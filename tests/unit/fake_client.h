/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session for libcoz-lite without a module: a memfd for the counter pages and the ioctls of a
 * client fd.  Forked children share it.  Works with coz_lite.c built with -DCOZK_TEST.
 */
#ifndef FAKE_CLIENT_H
#define FAKE_CLIENT_H

#include <stdint.h>

/* Makes the session and sets COZK_CLIENT_FD.  Returns the fd; exits on failure. */
int fake_client_start(void);

/* At most this many lanes are given away; FAKE_CLIENT_STRANGER makes every LANE fail with ESRCH. */
#define FAKE_CLIENT_STRANGER (-1)
void fake_client_limit_lanes(int lanes);

/* What INFO claims as the ABI version. */
void fake_client_set_abi(uint32_t version);

/* At most this many points. */
void fake_client_limit_points(int points);

/* From now on every call fails with ENODEV, as when the session has ended. */
void fake_client_end(void);

/* Visits of a point: of all lanes, and of the shared one alone.  -1: no such point. */
int64_t fake_client_total(int type, const char *name);
int64_t fake_client_shared(int type, const char *name);

/* Numbers since the start. */
int fake_client_points(void);
int fake_client_lanes(void);
int fake_client_lane_calls(void);

#endif
