#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `cozk list` and `cozk check` in the lab: one boot, the tests are tests/lab/guest/list_check.sh.
set -u

top=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$top" || exit 1
exec lab/boot --strict --no-stdin --timeout 200 -- tests/lab/guest/list_check.sh
