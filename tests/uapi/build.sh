#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the tests of the kernel interface into build/tests/uapi.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
out=$top/build/tests/uapi
cd "$top/tests/uapi"
mkdir -p "$out"
read -r -a netlink <<<"$(pkg-config --cflags --libs libnl-genl-3.0)"

for source in *.c; do
	name=${source%.c}
	case $name in common | program) continue ;; esac
	newest=$(ls -t "$source" common.[ch] program.c ../../include/uapi/*.h | head -n 1)
	[ "$out/$name" -nt "$newest" ] && continue
	libs=()
	[ "$name" = netlink ] && libs=("${netlink[@]}")
	"${CC:-gcc}" -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE -o "$out/$name" \
		"$source" common.c program.c "${libs[@]}" -pthread
done
