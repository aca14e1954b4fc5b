#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The lab itself, seen from the host: what goes in, what comes out, how it ends. Needs QEMU and the
# 6.12 kernel; boots about a dozen guests without the module.
set -u

tree=$(cd -- "$(dirname -- "$0")/../.." && pwd)
boot=$tree/lab/boot
. "$tree/tests/tap.sh"
"$tree/scripts/kernels" 6.12 || { echo "Bail out! no kernel to boot"; exit 1; }

tmp=$(mktemp -d "$tree/build/smoke.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# lab ARGS...: runs the lab without the module; leaves status, out and err.
lab()
{
	"$boot" --no-module "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	out=$(tr -d "\0" <"$tmp/out")
	err=$(cat "$tmp/err")
}

# lab_background ARGS...: the same, but goes on once the command has printed "up". Job control gives
# it default signals, as a terminal would.
lab_background()
{
	set -m
	"$boot" --no-module "$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	set +m
	for ((i = 0; i < 300; i++)); do
		grep -qs up "$tmp/out" && return
		sleep 0.1
	done
}

lab_wait()
{
	wait "$pid" 2>/dev/null
	status=$?
	out=$(tr -d "\0" <"$tmp/out")
	err=$(cat "$tmp/err")
}

# leftovers PATTERN: what a run should have taken away with it.
leftovers()
{
	pgrep -f "$1" || :
	ls -d /tmp/cozk-lab.* 2>/dev/null
}

script='
printf "<%s>\n" "$@"
echo "$PWD|$COZK_LAB|$MARK"
cat
echo to-err >&2
exit 7'
MARK=$'two\nlines' lab -- sh -c "$script" sh 'a b' '' '*' "q'\"" $'new\nline' -n 'x=y' <<<"from stdin"
is "the exit status comes back" "$status" 7
release=$(sed -n 's/^RELEASE=//p' "$tree/build/lab/kernels/6.12.env")
is "arguments, directory, environment and input arrive unchanged" "$out" \
	$'<a b>\n<>\n<*>\n<q\'">\n<new\nline>\n<-n>\n<x=y>\n'"$tmp|$release|"$'two\nlines\nfrom stdin'
is "standard error is apart" "$err" "to-err"

head -c 2000000 /dev/urandom >"$tmp/data"
lab -- sh -c 'cat; kill -9 $$' <"$tmp/data"
is "a command killed by a signal gives 128+N" "$status" 137
ok "two megabytes pass through unchanged" cmp "$tmp/data" "$tmp/out"

mkdir "$tmp/share" "$tmp/share/in out"
lab --share "$tmp/share/in out" -- sh -c \
	'uname -r; echo back >"share/in out/file"; echo gone >lost; cat lost; (sleep 60; echo late) &'
is "the guest runs the kernel and its own files are writable" "$status $out" "0 $release"$'\ngone'
is "a shared directory keeps what was written" "$(cat "$tmp/share/in out/file")" back
ok "everything else is discarded" test ! -e "$tmp/lost"

lab -- sh -c 'for m in /proc /sys/kernel/debug /sys/kernel/tracing /dev /dev/shm /dev/pts /tmp /run; do
	mountpoint -q $m || echo no $m; done; hostname; ping -c 1 -W 5 127.0.0.1 >/dev/null 2>&1 ||
	grep -q 127.0.0.1 /proc/net/fib_trie || echo no lo; [ -w /dev/null ] || echo no null'
is "the usual file systems are there" "$status $out" "0 cozk-lab"

lab -- no-such-command
is "a command that does not exist gives 127" "$status" 127
like "and says so" "$err" "no-such-command"

lab_background -- bash -c 'trap "echo INT; exit 5" INT; echo up; while :; do sleep 0.2; done'
kill -INT "$pid"
lab_wait
is "SIGINT reaches the command" "$status $out" $'5 up\nINT'

lab_background -- bash -c 'trap "echo TERM" TERM; echo up; while :; do sleep 0.2; done'
kill -TERM "$pid"
sleep 1
kill -TERM "$pid"
lab_wait
is "a second SIGTERM ends the machine" "$status $out" $'143 up\nTERM'

lab_background --append "smoke=$$" -- sh -c 'echo up; sleep 600'
kill -KILL "$pid"
lab_wait
for ((i = 0; i < 50; i++)); do
	[ -z "$(leftovers "smoke=$$")" ] && break
	sleep 0.1
done
is "SIGKILL leaves no process and no file behind" "$(leftovers "smoke=$$")" ""

start=$SECONDS
lab --timeout 5 -- sleep 600
is "a timeout gives 124" "$status" 124
ok "and ends in time" test $((SECONDS - start)) -lt 30
like "and shows where the processors were" "$err" "(NMI|Call Trace|RIP)"

lab -- sh -c 'echo c >/proc/sysrq-trigger; sleep 60'
is "a dead kernel gives 125" "$status" 125
like "and shows its last words" "$err" "Kernel panic"

lab --strict -- sh -c 'echo "BUG: sleeping function called" >/dev/kmsg'
is "--strict turns a kernel report into 125" "$status" 125
like "and shows it" "$err" "BUG: sleeping function"

# A QEMU whose KVM hangs, as a nested one can; the real one does the rest.
mkdir "$tmp/bin"
qemu=$(command -v qemu-system-x86_64)
cat >"$tmp/bin/qemu-system-x86_64" <<END
#!/bin/sh
case " \$* " in
*" -accel kvm "*) echo kvm >>"$tmp/tried"; exec sleep 600 ;;
*) echo tcg >>"$tmp/tried"; exec $qemu "\$@" ;;
esac
END
chmod +x "$tmp/bin/qemu-system-x86_64"
ln -s /dev/zero "$tmp/kvm"
PATH=$tmp/bin:$PATH COZK_LAB_KVM=$tmp/kvm lab -- sh -c 'cat; echo ran' <<<"input"
is "a KVM that hangs is given up for emulation" "$status $out" $'0 input\nran'
is "after it was tried once" "$(cat "$tmp/tried")" $'kvm\ntcg'

# Every command but QEMU.
mkdir "$tmp/noqemu"
for dir in /usr/bin /usr/sbin /bin /sbin; do
	ln -s "$dir"/* "$tmp/noqemu/" 2>/dev/null
done
rm -f "$tmp"/noqemu/qemu-system-*
PATH=$tmp/noqemu lab -- true
is "without QEMU the status is 125" "$status" 125
like "and the message names the package" "$err" "apt install qemu-system-x86"

lab --kernel 4.4 -- true
is "a kernel that is not fetched gives 125" "$status" 125
like "and the message names the command that fetches it" "$err" "scripts/kernels 4.4"

COZK_MODULE_DIR=$tmp "$boot" -- true 2>"$tmp/err"
is "a missing module gives 125" "$?" 125
like "and the message names the way out" "$(cat "$tmp/err")" "scripts/build-module .*--no-module"

lab --smp many -- true
is "a bad option gives 125" "$status" 125

done_testing
