#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `cozk list sessions` and `cozk check` against the loaded module. Runs inside the lab, as root:
#   lab/boot -- tests/lab/guest/list_check.sh
set -u

tree=$(cd -- "$(dirname -- "$0")/../../.." && pwd)
cozk=$tree/build/bin/cozk
. "$tree/tests/tap.sh"
[ -c /dev/cozk ] || { echo "Bail out! no /dev/cozk: run this inside the lab"; exit 1; }
[ -x "$cozk" ] || { echo "Bail out! $cozk is not built"; exit 1; }

# The lab's own session would be in every list.
kill "$(cat /run/cozk/hold)" && sleep 0.5
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"

# as_nobody CMD...: without any capability.
as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# field NAME JSON: the first value of a key.
field()
{
	printf '%s\n' "$2" | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2- | tr -d '"'
}

# A session with one busy thread and one window behind it; says "up" then, and ends with its input.
cat >"$tmp/holder.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "cozk.h"

int main(void)
{
	static struct cozk_count counts[COZK_MAX_POINTS];
	struct cozk_sampling sampling = { .period_ns = 1000000 };
	struct cozk_window window = { .duration_ns = 300000000, .counts = (__u64)counts,
				      .counts_max = COZK_MAX_POINTS };
	int fd = open("/dev/cozk", O_RDWR);
	pid_t child = fork();
	struct cozk_adopt adopt = { .pid = child };

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	if (fd < 0 || ioctl(fd, COZK_IOC_ADOPT, &adopt) || ioctl(fd, COZK_IOC_SAMPLING, &sampling) ||
	    ioctl(fd, COZK_IOC_WINDOW, &window)) {
		perror("holder");
		return 1;
	}
	puts("up");
	fflush(stdout);
	getchar();
	return 0;
}
END
${CC:-gcc} -I"$tree/include/uapi" -o "$tmp/holder" "$tmp/holder.c" ||
	{ echo "Bail out! no C compiler"; exit 1; }

out=$("$cozk" list sessions)
is "without a session there is none" "$? $out" "0 No session is open that you may see."
is "and in JSON" "$("$cozk" list sessions --json)" "[]"

bash -c 'exec 9<>/dev/cozk; echo up; exec sleep 600' >"$tmp/idle.out" &
idle=$!
mkfifo "$tmp/in"
"$tmp/holder" <"$tmp/in" >"$tmp/busy.out" 2>&1 &
busy=$!
exec 8>"$tmp/in"
for ((i = 0; i < 200; i++)); do
	grep -qs up "$tmp/idle.out" && grep -qs . "$tmp/busy.out" && break
	sleep 0.1
done
is "the busy session is up" "$(cat "$tmp/busy.out")" up

out=$("$cozk" list sessions)
status=$?
is "two sessions are two lines under a heading" "$status $(printf '%s\n' "$out" | wc -l)" "0 3"
like "with headings" "$out" "SESSION +PID +USER +COMMAND +AGE +THREADS +WINDOWS +SAMPLES +PAUSED"
like "the idle one has no thread, window or sample" "$out" " $idle +root +bash +[0-9.]+ s +0 +0 +0 +0\.0 %"
like "the busy one has" "$out" " $busy +root +holder +[0-9.]+ s +1 +1 +[1-9][0-9]* +[0-9.]+ %"

out=$("$cozk" list sessions --json)
is "JSON has both" "$(printf '%s\n' "$out" | grep -c '"session":')" 2
line=$(printf '%s\n' "$out" | grep "\"pid\":$busy,")
is "JSON has the user" "$(field uid "$line") $(field user "$line")" "0 root"
is "JSON has the command" "$(field command "$line")" holder
is "JSON has threads and windows" "$(field threads "$line") $(field windows "$line")" "1 1"
ok "JSON has the samples" test "$(field samples "$line")" -gt 50
ok "JSON has the age" test "$(field age_ns "$line")" -gt 300000000

out=$(as_nobody "$cozk" list sessions)
is "others do not see root's sessions" "$? $out" "0 No session is open that you may see."
err=$(unshare -n "$cozk" list sessions 2>&1)
is "in another network namespace the status is 69" "$?" 69
like "and the message says why" "$err" "network namespace"

kill -9 "$idle"
wait "$idle" 2>/dev/null
is "a killed owner's session is gone" "$("$cozk" list sessions --json | grep -c '"session":')" 1
echo >&8
exec 8>&-
wait "$busy"
is "and so is one that has ended" "$("$cozk" list sessions --json)" "[]"

out=$("$cozk" check)
is "check: \`cozk run\` works here" "$?" 0
like "check: the device" "$out" "^ok +device +/dev/cozk opens: cozk [0-9.]+, interface 1"
like "check: the verdict" "$out" "works here"
out=$("$cozk" check --json)
like "check: JSON says so, too" "$out" '"here": true'
out=$(as_nobody "$cozk" check)
is "check: without permission it does not" "$?" 1
like "check: the device is not permitted" "$out" "^missing +device +cannot open /dev/cozk: Permission denied"
like "check: the group is the way" "$out" "usermod -aG cozk"

rmmod cozk
err=$("$cozk" list sessions 2>&1)
is "without the module the status is 69" "$?" 69
like "and the message says so" "$err" "module cozk is not loaded"
like "and what to do" "$err" "insmod"
is "and JSON has no answer at all" "$("$cozk" list sessions --json 2>/dev/null)" ""
out=$("$cozk" check)
is "check: without the module it does not work" "$?" 1
ok "check: insmod is the way" grep -qF -- "-> insmod $tree/build/module/$(uname -r)/cozk.ko" <<<"$out"

done_testing
