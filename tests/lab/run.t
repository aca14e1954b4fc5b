#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `cozk run` in the lab, good luck and bad: one boot, the tests are tests/lab/guest/run.sh.
set -u

top=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$top" || exit 1
exec lab/boot --strict --no-stdin --timeout 400 -- tests/lab/guest/run.sh
