#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in the lab: what `cozk run` does, returns and says.
set -u

top=$(cd -- "$(dirname -- "$0")/../../.." && pwd)
. "$top/tests/tap.sh"
bin=$top/build/workloads
tmp=$(mktemp -d)
chmod 755 "$tmp"
cd "$tmp" || exit 1

# cozk ARGS: its output in $out, its status in $status.
cozk()
{
	status=0
	out=$("$top/build/bin/cozk" "$@" 2>&1 </dev/null) || status=$?
}

# count TYPE FILE: records of a type in a profile.
count()
{
	grep -c "\"type\":\"$1\"" "$2"
}

# fails NAME STATUS REGEX ARGS...: `cozk run ARGS` ends with that status and such a message.
fails()
{
	local name=$1 want=$2 regex=$3

	shift 3
	cozk run -o fails.jsonl "$@"
	is "$name: status" "$status" "$want"
	like "$name: message" "$out" "$regex"
	like "$name: says what to do" "$out" 'hint:|Try|--help'
}

# ---- the main job
cozk run --truncate -o main.jsonl --by function --speedups 0,50 --duration 12 -- "$bin/multi"
is "a program with a point: status 0 after --duration" "$status" 0
like "the table has the hot function" "$out" 'parse .*±'
like "the table has a slope with interval" "$out" '±'
is "a runtime record ends the profile" "$([ "$(count runtime main.jsonl)" -ge 1 ] && echo yes)" yes
cozk report -i main.jsonl
is "cozk report prints the same profile" "$status" 0

cozk run --truncate -o line.jsonl --speedups 0,50 --duration 8 -- "$bin/multi"
like "by default lines are targets" "$(grep '"type":"experiment"' line.jsonl | head -n 1)" '"selected":"[^"]*multi\.c:[0-9]+"'

cozk run --truncate -o sep.jsonl --speedups 0 --duration 2 --- "$bin/multi"
is "Coz's --- works" "$([ "$(count experiment sep.jsonl)" -ge 1 ] && echo yes)" yes

cozk run --truncate -o append.jsonl --speedups 0 --duration 2 -- "$bin/multi"
cozk run -o append.jsonl --speedups 0 --duration 2 -- "$bin/multi"
is "a second run is appended" "$(count startup append.jsonl)" 2

cozk run --truncate -o seed.jsonl --seed 7 --speedups 0,50,100 --fixed-function part_a --duration 6 -- "$bin/g1"
first=$(grep '"type":"experiment"' seed.jsonl | sed 's/.*"speedup":\([0-9.]*\).*/\1/' | head -n 6)
cozk run --truncate -o seed2.jsonl --seed 7 --speedups 0,50,100 --fixed-function part_a --duration 6 -- "$bin/g1"
is "the same seed gives the same order" \
	"$(grep '"type":"experiment"' seed2.jsonl | sed 's/.*"speedup":\([0-9.]*\).*/\1/' | head -n 6)" "$first"

cozk run --truncate -o nopoint.jsonl --by function --speedups 0,50 -- "$bin/nopoint"
is "without a point it answers end to end: status" "$status" 0
like "without a point it answers end to end: table" "$out" 'end.to.end'

cozk run --truncate -o coz.jsonl --by function --speedups 0,50 --duration 6 -- "$bin/coztoy"
like "an unchanged program with Coz's header counts" "$(grep throughput-point coz.jsonl | head -n 1)" '"delta":[1-9]'

cozk run --truncate -o static.jsonl --by function --speedups 0,50 --duration 6 -- "$bin/g10"
like "a static program counts" "$(grep throughput-point static.jsonl | head -n 1)" '"delta":[1-9]'

cp "$bin/multi" stripped && strip stripped
cozk run --truncate -o stripped.jsonl --speedups 0,50 --duration 6 -- ./stripped
like "a stripped program goes by offset" "$(grep '"type":"experiment"' stripped.jsonl | head -n 1)" '"selected":"stripped\+0x[0-9a-f]+"'

cozk run --truncate -o dl.jsonl -b MAIN -b %plugin% --by function --speedups 0,50 --duration 8 -- \
	"$bin/dlopenprog" "$bin/plugin.so"
like "code of a dlopened library is a target" "$(grep '"type":"experiment"' dl.jsonl)" '"binary":"[^"]*plugin\.so"'

cozk run --truncate -o forks.jsonl --by function --speedups 0,50 --duration 8 -- "$bin/g9"
like "forked children are in the profile" "$(grep '"type":"experiment"' forks.jsonl)" '"selected":"part_a"'

cozk run --truncate -o event.jsonl -e no_such_event_here --duration 2 -- "$bin/multi"
is "an unknown event: status" "$status" 2
cozk run --truncate -o event.jsonl -e PERF_COUNT_HW_CPU_CYCLES --speedups 0 --duration 3 -- "$bin/multi"
like "an event this machine lacks falls back to the clock" "$out" 'CPU clock'
is "… and still measures" "$([ "$(count experiment event.jsonl)" -ge 1 ] && echo yes)" yes

# ---- ends
# A shell that waits for its child does not pass a SIGTERM on.
started=$SECONDS
cozk run --truncate -o shell.jsonl --speedups 0 --duration 2 -- bash -c "'$bin/multi'; true"
is "--duration ends the whole tree: in time" "$([ $((SECONDS - started)) -le 6 ] && echo yes)" yes
is "--duration ends the whole tree: nobody is left" "$(pgrep -x multi)" ""

cozk run --truncate -o e.jsonl -- sh -c 'exit 7'
is "the program's own status" "$status" 7
cozk run --truncate -o e.jsonl -- sh -c 'kill -9 $$'
is "128+N for a signal" "$status" 137
cozk run --truncate -o short.jsonl -- "$bin/short" 0
is "too short to say anything: status" "$status" 3
like "too short to say anything: reason" "$out" 'ended before|[Nn]othing to report'

# interrupted NAME SIGNAL WHOM: run for a while, then end it by a signal; all finished windows are kept.
interrupted()
{
	local name=$1 signal=$2 whom=$3 want=$4 pid victim before

	"$top/build/bin/cozk" run --truncate -o int.jsonl --by function --speedups 0,50 --window 200 -- "$bin/multi" \
		>int.out 2>&1 </dev/null &
	pid=$!
	sleep 4
	before=$(count experiment int.jsonl)
	victim=$pid
	[ "$whom" = program ] && victim=$(pgrep -P "$pid" | head -n 1)
	kill -s "$signal" "$victim"
	wait "$pid"
	is "$name: status" "$?" "$want"
	is "$name: windows are kept" "$([ "$before" -gt 3 ] && [ "$(count experiment int.jsonl)" -ge "$before" ] && echo yes)" yes
	like "$name: the table is printed" "$(cat int.out)" 'windows'
}
interrupted "SIGTERM to cozk" TERM cozk 143
interrupted "SIGINT to cozk" INT cozk 130
interrupted "SIGTERM to the program" TERM program 143
interrupted "kill -9 of the program" KILL program 137

"$bin/multi" >/dev/null 2>&1 &
bystander=$!
"$top/build/bin/cozk" run --truncate -o kill.jsonl --by function --speedups 100 -- "$bin/multi" >/dev/null 2>&1 </dev/null &
pid=$!
sleep 3
program=$(pgrep -P "$pid" | head -n 1)
kill -9 "$pid"
sleep 1
before=$(awk '{print $14 + $15}' "/proc/$program/stat")
sleep 1
after=$(awk '{print $14 + $15}' "/proc/$program/stat")
is "kill -9 of cozk: the program runs on" "$([ $((after - before)) -ge 20 ] && echo yes)" yes
kill -9 "$program" "$bystander"
wait 2>/dev/null
is "… and its windows are kept" "$([ "$(count experiment kill.jsonl)" -ge 1 ] && echo yes)" yes

# ---- bad input, bad luck
fails "no such program" 127 'no such program' -- ./no-such-program
echo text >notexec
fails "not an executable" 126 'notexec' -- ./notexec
fails "FILE:LINE without code" 65 'no code at .*multi\.c:1' --fixed-line multi.c:1 -- "$bin/multi"
fails "an unknown function" 65 'no_such_function' --fixed-function no_such_function -- "$bin/multi"
fails "a speedup out of range" 2 'out of range' --speedups 0,150 -- "$bin/multi"
fails "a speedup that is none" 2 "no speedup" --speedups fast -- "$bin/multi"
fails "an unknown option" 2 'unrecognized|invalid' --no-such-option -- "$bin/multi"
fails "no program" 2 'which program' --speedups 0
cozk run -o /proc/no/such/file -- "$bin/multi"
is "output not writable: status" "$status" 73
mkdir full && mount -t tmpfs -o size=8k tmpfs full
cozk run --truncate -o full/p.jsonl --speedups 0 --window 50 --duration 5 -- "$bin/multi"
is "disk full: status" "$status" 74
like "disk full: message" "$out" 'No space left'
like "disk full: what was written is kept" "$(head -c 100 full/p.jsonl)" '"type":"startup"'
umount full
out=$(setpriv --reuid 12345 --regid 12345 --clear-groups "$top/build/bin/cozk" run -o no.jsonl -- "$bin/multi" 2>&1)
is "no permission: status" "$?" 77
like "no permission: remedy" "$out" 'usermod|sudo'

kill "$(cat /run/cozk/hold)"
exec 9<>/dev/cozk
rmmod cozk 2>rmmod.out
is "rmmod with an open session fails" "$?" 1
like "rmmod says busy" "$(cat rmmod.out)" 'in use|busy'
exec 9>&-
sleep 1
ok "rmmod without one works" rmmod cozk
fails "no module" 69 'not loaded' -- "$bin/multi"
ok "the module loads again" insmod "$top/build/module/$(uname -r)/cozk.ko"

done_testing
