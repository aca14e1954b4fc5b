#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Coz's viewer reads our profiles unchanged and sees the numbers that cozk report sees: first by the published rules, and, where
# Debian's coz-profiler (whose `coz plot` opens that viewer) and node are installed, by the viewer's own code.
set -u

here=$(cd -- "$(dirname -- "$0")" && pwd)
. "$here/../tap.sh"
cozk=${COZK:-$here/../../build/bin/cozk}
viewer=${COZ_VIEWER:-/usr/share/coz-profiler/viewer/js/profile.js}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# What cozk report says, in the form of coz_viewer.py. The viewer compares each target with its own windows at speedup 0,
# draws that speedup too (always 0), and turns the sign of latencies.
ours()
{
	"$cozk" report -i "$1" --all --keep-all-windows --baseline own --format csv | python3 -c '
import csv, sys
zero = set()
for row in csv.DictReader(sys.stdin):
    sign = -1 if row["point"] == "request" else 1
    if (row["target"], row["point"]) not in zero:
        zero.add((row["target"], row["point"]))
        print(row["target"], row["point"], "0.000000", "%.9f" % (0 * sign), sep="\t")
    print(row["target"], row["point"], "%.6f" % float(row["speedup"]),
          "%.9f" % (sign * float(row["program_speedup"])), sep="\t")
' | sort
}

# same NAME FILE FILE: equal to within the digits of the CSV form, and not empty.
same()
{
	ok "$1" python3 - "$2" "$3" <<'PY'
import sys
a, b = ([line.rstrip("\n").split("\t") for line in open(name)] for name in sys.argv[1:])
key = lambda row: row[:3]
a, b = sorted(a, key=key), sorted(b, key=key)
assert len(a) > 20, "only %d values" % len(a)
assert len(a) == len(b), (len(a), len(b))
for x, y in zip(a, b):
    assert x[:3] == y[:3], (x, y)
    assert abs(float(x[3]) - float(y[3])) < 2e-8, (x, y)
PY
}

check()
{
	ours "$tmp/$1" >"$tmp/ours"
	ok "$1: the published rules accept every record" "$here/coz_viewer.py" "$tmp/$1"
	"$here/coz_viewer.py" "$tmp/$1" >"$tmp/rules"
	same "$1: cozk report and the published rules agree" "$tmp/ours" "$tmp/rules"
	if [ -r "$viewer" ] && command -v node >/dev/null; then
		ok "$1: the installed viewer has no complaint" node "$here/coz_viewer.js" "$viewer" "$tmp/$1"
		node "$here/coz_viewer.js" "$viewer" "$tmp/$1" >"$tmp/installed"
		same "$1: cozk report and the installed viewer agree" "$tmp/ours" "$tmp/installed"
	else
		skip "$1: the installed viewer has no complaint" "needs coz-profiler and node"
		skip "$1: cozk report and the installed viewer agree" "needs coz-profiler and node"
	fi
}

"$here/synthetic_profile.py" >"$tmp/ours.jsonl"
"$here/synthetic_profile.py" --coz --seed 2 --noise 0.05 >"$tmp/coz.jsonl"
check ours.jsonl
check coz.jsonl

# The test of the test: a record type of our own would be an error to the viewer.
echo '{"type":"cozk-extra"}' | cat "$tmp/ours.jsonl" - >"$tmp/extra.jsonl"
"$here/coz_viewer.py" "$tmp/extra.jsonl" >/dev/null 2>&1
is "the published rules refuse a record type of our own" $? 1

done_testing
