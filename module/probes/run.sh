#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh KDIR OUT: asks the kernel at KDIR each question in probes/*.c by compiling it, all in one
# kernel build, and writes the answers as OUT (a header of COZK_HAVE_* defines).
set -eu

kdir=$1
out=$2
probes=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$probes"/*.c "$work"
objects=$(cd "$work" && ls *.c | sed 's/\.c$/.o/' | tr '\n' ' ')
echo "obj-m := $objects" >"$work/Kbuild"
# -k: a probe that does not compile is an answer.
make -k -C "$kdir" M="$work" $objects >"$work/log" 2>&1 || true

if [ ! -e "$work/sanity.o" ]; then
	echo "cozk: nothing compiles against $kdir; kbuild says:" >&2
	tail -n 20 "$work/log" >&2
	exit 1
fi
{
	echo "/* Answers of module/probes for $(basename "$kdir"). */"
	for source in "$work"/*.c; do
		name=$(sed -n 's|^/\* \(COZK_HAVE_[A-Z_0-9]*\):.*|\1|p' "$source")
		if [ -e "${source%.c}.o" ]; then echo "#define $name 1"; else echo "/* no $name */"; fi
	done
} >"$out.new"
mv "$out.new" "$out"
