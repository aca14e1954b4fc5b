#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [NAME...]: runs the built tests (all) in the lab guest, as root, with the module loaded,
# and prints one stream of TAP.  A test that ends without its plan, or with a status that its lines
# do not explain, is a failure of its own.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$top/build/tests/uapi
module=$top/build/module/$(uname -r)/cozk.ko
log=$(mktemp)
count=0
failed=0

# merge LABEL STATUS: the TAP in $log, renumbered and labelled.
merge()
{
	local line planned='' seen=0 bad=0 word rest
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			word=${line%%ok *}ok
			rest=${line#* - }
			count=$((count + 1)) seen=$((seen + 1))
			[ "$word" = ok ] || bad=$((bad + 1))
			printf '%s %d - %s: %s\n' "$word" "$count" "$1" "$rest"
			;;
		1..*) planned=${line#1..} ;;
		'Bail out!'*) printf '# %s: %s\n' "$1" "$line" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$log"
	failed=$((failed + bad))
	if [ "$planned" != "$seen" ] || { [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		count=$((count + 1)) failed=$((failed + 1))
		printf 'not ok %d - %s: ran to its end (status %d, %d of %s tests)\n' \
			"$count" "$1" "$2" "$seen" "${planned:-unknown}"
	fi
}

# run LABEL CMD...
run()
{
	local label=$1 start=$SECONDS
	shift
	timeout -k 5 60 "$@" >"$log" 2>&1 8<&-
	merge "$label" $?
	printf '# %s: %d s\n' "$label" $((SECONDS - start))
}

# As nobody, from where nobody may read, with the device open to all.
run_user()
{
	local dir
	dir=$(mktemp -d)
	chmod 755 "$dir"
	cp "$bin/$1" "$dir"
	chmod 666 /dev/cozk
	run "$1 as nobody" setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all "$dir/$1"
	chmod 660 /dev/cozk
	rm -r "$dir"
}

one()
{
	case $1 in
	reload)
		exec 8<&-
		run reload "$bin/reload" "$module"
		;;
	user)
		run user "$bin/user"
		run_user user
		;;
	netlink)
		# A session of root for the others to see or not.
		exec 9<>/dev/cozk
		run netlink "$bin/netlink"
		run_user netlink
		exec 9<&-
		;;
	*) run "$1" "$bin/$1" ;;
	esac
}

# The first session puts the hooks into the kernel's code and the last takes them out.  Emulators
# do not survive too many of that (tests/lab/uapi.t): hold one, until the module's own test.
exec 8<>/dev/cozk
# The lab's own session is not ours to count.
[ ! -e /run/cozk/hold ] || kill "$(cat /run/cozk/hold)"
[ $# -gt 0 ] || set -- info control maps lanes follow limit user netlink ends windows churn reload
for name; do
	one "$name"
done
printf '1..%d\n' "$count"
rm -f "$log"
[ "$failed" -eq 0 ]
