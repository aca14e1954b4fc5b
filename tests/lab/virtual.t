#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Predictions on one processor whose clock counts instructions, so that no load of this machine can
# disturb them: the rules of virtual time must give the known answers almost exactly. Programs and
# their truth: tests/workloads. On one processor the threads of G1 take turns, and the truth is that
# of a program without parallel parts.
set -u

top=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$top" || exit 1
out=$top/build/tests/virtual
rm -rf "$out"
mkdir -p "$out"
# Files are read in real time, during which virtual time races: everything is copied to memory first.
lab/boot --virtual-time --strict --no-stdin --timeout 300 --share "$out" -- tests/lab/guest/virtual.sh "$out" \
	>"$out/log" 2>&1
lab_status=$?
. tests/tap.sh
is "the guest runs them all" "$lab_status" 0
[ "$lab_status" = 0 ] || tap_note "$(tail -n 20 "$out/log")"

# near NAME PROFILE TARGET SPEEDUP TRUTH: the predicted program speedup is within 2 points of it.
near()
{
	local got

	got=$(build/bin/cozk report -i "$out/$2" --all --format csv |
		python3 tests/lab/predicted.py "$3" "$4")
	ok "$1: $3 by $4 %: $5 % (got ${got:-nothing})" \
		awk -v got="${got:-nan}" -v want="$5" 'BEGIN { exit !(got > want - 2 && got < want + 2) }'
}

near "hand-off by condition variable" g7.jsonl part_a 25 16.7
near "hand-off by condition variable" g7.jsonl part_a 50 33.3
near "hand-off by condition variable" g7.jsonl part_a 100 66.7
near "hand-off by condition variable" g7.jsonl part_b 50 16.7
near "hand-off by condition variable" g7.jsonl part_b 100 33.3
near "hand-off by raw futex, static" g10.jsonl part_a 50 33.3
near "hand-off by raw futex, static" g10.jsonl part_a 100 66.7
near "hand-off by raw futex, static" g10.jsonl part_b 100 33.3
near "two threads on one processor" g1.jsonl part_a 50 33.3
near "two threads on one processor" g1.jsonl part_a 100 66.7
near "two threads on one processor" g1.jsonl part_b 50 16.7
near "two threads on one processor" g1.jsonl part_b 100 33.3
near "code that never runs" g1.jsonl never_run 100 0
near "one thread" multi.jsonl parse 50 35
near "one thread" multi.jsonl render 100 30
done_testing
