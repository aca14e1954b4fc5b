# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests here, after tests/tap.sh, with $here and $top set.

driver_units="ranges scope maps debugfile binary ehframe symname symbols linetab linepath units
	lines inlines linesearch funcsearch htab resolve resolve_place resolve_ranges"

# build_driver OUTPUT: compiles the test driver with sanitizers; on failure ends the test.
build_driver()
{
	local unit sources=$here/addr.c

	for unit in $driver_units; do
		sources+=" $top/userspace/$unit.c"
	done
	# shellcheck disable=SC2086
	gcc -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -fsanitize=address,undefined \
		-fno-sanitize-recover=all -o "$1" $sources -ldw -lelf -lz -liberty -ldl && return 0
	ok "the test driver compiles" false
	done_testing
	return 1
}
