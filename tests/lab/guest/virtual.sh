#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# virtual.sh OUT: runs in the lab, profiles programs with known answers, profiles go to OUT.
set -eu

top=$(cd -- "$(dirname -- "$0")/../../.." && pwd)
out=$1
bin=/dev/shm
cp "$top"/build/workloads/{g1,g7,g10,multi} "$top/build/bin/cozk" "$top/build/lib/libcoz-lite.so.0" "$bin"
export COZK_LIBRARY=$bin/libcoz-lite.so.0

# profile PROGRAM SECONDS OPTIONS... -- ARGUMENTS...
profile()
{
	local program=$1 seconds=$2 options=()

	shift 2
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	"$bin/cozk" run -q --no-report --truncate -o "$bin/$program.jsonl" --duration "$seconds" --window-period 250 --window 500 \
		"${options[@]}" -- "$bin/$program" --unit-us 5000 "$@"
	cp "$bin/$program.jsonl" "$out"
}

profile g7 30 --speedups 0-100:25 --fixed-function part_a --fixed-function part_b --
profile g10 22 --speedups 0,50,100 --fixed-function part_a --fixed-function part_b --
profile g1 30 --speedups 0,50,100 --fixed-function part_a --fixed-function part_b --fixed-function never_run -- --any-cpus --never
profile multi 30 --speedups 0,50,100 --fixed-function parse --fixed-function render --
