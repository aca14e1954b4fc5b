# SPDX-License-Identifier: GPL-2.0-or-later
# Test Anything Protocol for shell tests: source this, call ok/is/like/skip, end with done_testing.

tap_count=0
tap_failed=0

# tap_result STATUS NAME: prints one result line; STATUS 0 is a pass.
tap_result()
{
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_count" "$2"
	else
		tap_failed=$((tap_failed + 1))
		printf 'not ok %d - %s\n' "$tap_count" "$2"
	fi
}

# tap_note TEXT: text as TAP comments.
tap_note()
{
	printf '%s\n' "$1" | sed 's/^/# /'
}

# ok NAME CMD...: passes if CMD exits 0; its output is shown as comments when it fails.
ok()
{
	local name=$1 out status=0
	shift
	out=$("$@" 2>&1) || status=$?
	tap_result "$status" "$name"
	[ "$status" -eq 0 ] || tap_note "exit status $status: $out"
}

# is NAME GOT WANT: passes if the two texts are equal.
is()
{
	if [ "$2" = "$3" ]; then
		tap_result 0 "$1"
	else
		tap_result 1 "$1"
		tap_note "got:  $2"
		tap_note "want: $3"
	fi
}

# like NAME TEXT REGEX: passes if the extended regular expression matches somewhere in the text.
like()
{
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		tap_result 0 "$1"
	else
		tap_result 1 "$1"
		tap_note "no match for /$3/ in:"
		tap_note "$2"
	fi
}

# skip NAME WHY: a visible skip.
skip()
{
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# done_testing: prints the plan and returns non-zero if a test failed.
done_testing()
{
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
}
