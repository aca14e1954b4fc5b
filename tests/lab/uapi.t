#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The module's interface, seen by programs in guests with 6.12 and 6.1: tests/uapi, a boot each.
# UAPI_KERNELS="6.12" tests/lab/uapi.t: only these.
set -u

tree=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$tree" || exit 1
log=$(mktemp -d "$tree/build/uapi.XXXXXX")
trap 'rm -rf "$log"' EXIT
count=0
failed=0

result()
{
	count=$((count + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	printf '%s %d - %s\n' "$1" "$count" "$2"
}

# relay KERNEL: the guest's TAP with our numbers.
relay()
{
	local line
	while IFS= read -r line; do
		case $line in
		'ok '*) result ok "$1: ${line#* - }" ;;
		'not ok '*) result "not ok" "$1: ${line#* - }" ;;
		1..* | '') ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done <"$log/out"
}

# A threaded QEMU 7.2 can run an int3 that the kernel, patching its own code, has replaced already;
# boot, a tracepoint's first user and its last make it do that.  The guest then dies of it with the
# right instruction in memory (0f before the 1f of a no-op, not cc), or waits for ever for the
# processor that did.
emulator_died()
{
	grep -qs 'Oops: int3' "$log/console" ||
		{ [ "$1" -eq 124 ] && grep -qs 'text_poke_bp' "$log/console"; }
}

# guest KERNEL PROCESSORS NAME...
guest()
{
	lab/boot --kernel "$1" --smp "$2" --strict --timeout 200 --no-stdin --console "$log/console" -- \
		tests/uapi/run.sh "${@:3}" >"$log/out" 2>"$log/err"
}

# part KERNEL PROCESSORS NAME...: these tests in one boot.
part()
{
	local status=0

	guest "$@" || status=$?
	if [ "$status" -ne 0 ] && emulator_died "$status"; then
		printf '# %s: the emulator killed the guest (%d), once more\n' "$1" "$status"
		status=0
		guest "$@" || status=$?
	fi
	relay "$1"
	# 1: a test failed and has said so above; without one, that status is a failure itself.
	if [ "$status" -gt 1 ] || ! grep -q '^1\.\.' "$log/out" ||
		{ [ "$status" -eq 1 ] && ! grep -q '^not ok' "$log/out"; }; then
		result "not ok" "$1: the guest runs all tests and logs no warning (status $status)"
		tail -n 30 "$log/err" | sed 's/^/# /'
	else
		result ok "$1: the guest runs all tests and logs no warning"
	fi
}

# One processor cannot run what another is just patching, and reload patches more than all others.
for kernel in ${UAPI_KERNELS:-6.12 6.1}; do
	part "$kernel" 2 info control maps lanes follow limit user netlink ends windows churn
	part "$kernel" 1 reload
done
printf '1..%d\n' "$count"
[ "$failed" -eq 0 ]
