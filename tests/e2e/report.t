#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cozk report on profiles whose truth is known, and on all that is wrong with profiles.
set -u

here=$(cd -- "$(dirname -- "$0")" && pwd)
. "$here/../tap.sh"
cozk=${COZK:-$here/../../build/bin/cozk}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# report ARGS...: leaves status, out and err.
report()
{
	"$cozk" report "$@" >out 2>err
	status=$?
	out=$(cat out)
	err=$(cat err)
}

# lines TYPE...: records of these types from the synthetic profile
records()
{
	local pattern
	pattern=$(printf '%s\n' "$@" | paste -sd '|')
	grep -E "\"type\":\"($pattern)\"" synthetic.jsonl
}

"$here/synthetic_profile.py" >synthetic.jsonl

# ---- numbers

report -i synthetic.jsonl --all --format csv
is "csv: exit status" "$status" 0
ok "csv: every interval is near its truth, and nearly all hold it" python3 - <<'PY'
import csv
truth = {
    "/src/prog/hot.c:10": lambda s: 0.6 * s, "/src/prog/plateau.c:20": lambda s: 0.5 * min(s, 0.4),
    "/src/prog/lock.c:30": lambda s: -0.3 * s, "/src/prog/cold.c:40": lambda s: 0, "/src/prog/rare.c:50": lambda s: 0,
}
rows = list(csv.DictReader(open("out")))
assert len(rows) == 2 * 5 * 5, len(rows)
held = 0
for row in rows:
    want = truth[row["target"]](float(row["speedup"]))
    lo, hi = float(row["lo"]), float(row["hi"])
    assert lo < float(row["program_speedup"]) < hi, row
    assert abs(float(row["program_speedup"]) - want) < (0.015 if row["point"] == "item-done" else 0.08), row
    assert hi - lo < (0.05 if row["point"] == "item-done" else 0.3), row
    held += lo <= want <= hi
assert held >= 45, held
PY
ok "csv: shapes and verdicts" python3 - <<'PY'
import csv
rows = {r["target"]: r for r in csv.DictReader(open("out")) if r["point"] == "item-done"}
shapes = {t.split("/")[-1]: (r["shape"], r["significant"]) for t, r in rows.items()}
assert shapes == {
    "hot.c:10": ("linear", "1"), "plateau.c:20": ("plateau at 40 %", "1"),
    "lock.c:30": ("contention: getting slower", "1"), "cold.c:40": ("no effect", "0"), "rare.c:50": ("no effect", "0"),
}, shapes
assert abs(float(rows["/src/prog/hot.c:10"]["samples_share"]) - 0.55) < 1e-9
PY

report -i synthetic.jsonl --format json --point item-done
is "json: exit status" "$status" 0
ok "json: one point, its findings and what they stand on" python3 - <<'PY'
import json
report = json.load(open("out"))
assert [p["name"] for p in report["points"]] == ["item-done"]
point = report["points"][0]
assert point["targets"] == 5 and point["windows"] == 150 and point["baseline"]["windows"] == 25
assert [f["target"].split("/")[-1] for f in point["findings"]] == ["hot.c:10", "plateau.c:20", "lock.c:30"]
assert report["samples"] == {"in_scope": 9100, "out_of_scope": 900, "unresolved": 7, "lost": 3}
best = point["findings"][0]["effects"][-1]
assert abs(best["throughput"] - best["program_speedup"]["value"] / (1 - best["program_speedup"]["value"])) < 1e-9
PY

# ---- the table

report -i synthetic.jsonl
is "table: exit status" "$status" 0
is "table: nothing on stderr" "$err" ""
like "table: the linear target, with an interval and what stands behind it" "$out" \
	'^hot\.c:10 work +55\.0 % +100 % +\+(59|60)\.[0-9] ±0\.[0-9] % +0\.60 ±0\.0[0-9]+ +linear +36 +79k +11k$'
like "table: the plateau" "$out" 'plateau at 40 %'
like "table: both numbers" "$out" '^First row: time a visit -60 %, which is throughput \+1[45][0-9] %\. ±: 95 % interval\.$'
like "table: noise is held back, and said to be" "$out" '^2 targets held back: 2 not told from noise'
like "table: what the point saw" "$out" \
	'^Progress point item-done: 10 ms a visit at speedup 0; [0-9]+ visits in 150 windows \(25 at speedup 0\)$'
like "table: the samples" "$out" '^samples: 9100 in scope, 900 out of scope, 7 unresolved, 3 lost$'
like "table: the windows" "$out" '^windows: 150; run time 315\.0 s; exit 0$'
is "table: no colour outside a terminal" "$(grep -c $'\033' out)" 0
is "table: no line is wider than 100 columns" "$(LC_ALL=C.UTF-8 grep -cE '^.{101}' out)" 0
report -i synthetic.jsonl --all --sort name
is "table: --all and --sort name" "$(sed -n '3,7s/ .*//p' out | paste -sd ' ')" \
	"cold.c:40 hot.c:10 lock.c:30 plateau.c:20 rare.c:50"
report -i - <synthetic.jsonl
is "standard input" "$status" 0

# ---- runs

cat synthetic.jsonl synthetic.jsonl >twice.jsonl
report -i twice.jsonl
like "two runs: the last by default" "$out" '^Run 2 of 2'
report -i twice.jsonl --run all
like "two runs: all" "$out" '^windows: 300;'
report -i twice.jsonl --run 3
is "two runs: there is no third" "$status" 2
like "two runs: how many there are" "$err" 'the profile holds 2'

# ---- nothing to say

# nothing NAME REGEX: the profile in empty.jsonl has nothing, for this reason
nothing()
{
	report -i empty.jsonl
	is "$1: exit status" "$status" 3
	like "$1: the reason" "$out" "^Nothing to report: .*$2"
	like "$1: what to do" "$out" '^  hint: '
}

records startup >empty.jsonl
echo '{"type":"runtime","time":20000000,"status":"exit 0","samples":0}' >>empty.jsonl
nothing "no sample" 'ran for 0\.02 s'
{ records startup runtime; records samples | sed 's/"in_scope":true/"in_scope":false/'; } >empty.jsonl
nothing "nothing in scope" 'none of 10000 samples is in scope'
like "nothing in scope: where the time goes" "$out" '55\.0 % +work +/src/prog/hot\.c:10 +prog +out$'
records startup runtime samples >empty.jsonl
nothing "no window" 'before the first window'
sed 's/"delta":[0-9]*/"delta":0/; /latency-point/d' synthetic.jsonl >empty.jsonl
nothing "no visit" 'no progress point was visited in 150 windows'
grep -A 2 '"speedup":0.00,' synthetic.jsonl | grep -v '^--' >empty.jsonl
nothing "only speedup 0" 'speedup 0 only'
sed 's/"end_reason":"duration"/"end_reason":"exit"/' synthetic.jsonl >empty.jsonl
nothing "only windows cut short" 'all 150 windows were unusable, most of them cut short'

# One window a speedup: numbers without intervals are no findings.
sed -n '/"type":"startup"/p; /"block":0,/,/latency-point/p' synthetic.jsonl >few.jsonl
report -i few.jsonl --point item-done
is "few windows: exit status" "$status" 0
like "few windows: held back" "$out" '1 with too few windows to know the noise'
report -i few.jsonl --point item-done --all
like "few windows: no interval is made up" "$out" '\+[0-9]+ ±\? %'

# ---- bad input

report -i nowhere.jsonl
is "no such file: exit status" "$status" 66
like "no such file: message and hint" "$(tr '\n' ' ' <err)" 'nowhere\.jsonl: No such file or directory +hint: '
echo "hello" >text
report -i text
is "not a profile: exit status" "$status" 65
: >nothing.jsonl
report -i nothing.jsonl
is "empty file: exit status" "$status" 65
report -i .
is "a folder: exit status" "$status" 66
report -i synthetic.jsonl --point nosuch
is "unknown point: exit status" "$status" 2
like "unknown point: those it has" "$err" 'it holds: item-done, request'
report --format xml
is "unknown format: exit status" "$status" 2
report --nosuch
is "unknown option: exit status" "$status" 2
report -i synthetic.jsonl extra
is "an argument: exit status" "$status" 2
{ cat synthetic.jsonl; printf '{"type":"experiment","sel'; } >half.jsonl
report -i half.jsonl
is "half a record at the end: exit status" "$status" 0
like "half a record at the end: warning" "$err" 'half\.jsonl: line [0-9]+: half a record, left by a crash; skipped'
"$cozk" report -i synthetic.jsonl >/dev/full 2>err
is "output full: exit status" $? 74
like "output full: message" "$(cat err)" 'standard output: No space left on device'

done_testing
