#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One program, built in every shape a compiler and linker offer: its addresses must resolve to the
# right line and function, and back.

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/tap.sh"
. "$here/driver.sh"

out=$top/build/tests/dwarf
rm -rf "$out/shapes"
mkdir -p "$out/shapes"
cd "$out/shapes" || exit 1
unset DEBUGINFOD_URLS

build_driver addr || exit 1

src="$here/shape.c $here/shape_main.c"
mix=$(grep -n 'MARK(1);' "$here/shape.c" | cut -d: -f1)
hot=$(grep -n 'MARK(2);' "$here/shape.c" | cut -d: -f1)
cool=$(grep -n 'MARK(3);' "$here/shape.c" | cut -d: -f1)
header=$(grep -n '__asm__' "$here/shape.h" | cut -d: -f1)
call=$(grep -n 'return from_header' "$here/shape.c" | cut -d: -f1)
nocode=$(grep -n 'NO CODE' "$here/shape.c" | cut -d: -f1)

want_lines="mark 1 mix shape.c:$mix in cool > mix
mark 1 mix shape.c:$mix in hot > mix
mark 2 hot shape.c:$hot in hot
mark 3 cool shape.c:$cool in cool
mark 4 from_header shape.h:$header in cool > from_header
target a/shape.c:$mix ENOENT no code from a file a/shape.c in the binaries in scope (-b)
target dwarf/shape.c:$mix 1=2/2 2=0/1 3=0/1 4=0/1
target hot 1=1/2 2=1/1 3=0/1 4=0/1
target mix 1=2/2 2=0/1 3=0/1 4=0/1
target shape.c:$hot 1=0/2 2=1/1 3=0/1 4=0/1
target shape.c:$cool 1=0/2 2=0/1 3=1/1 4=0/1"
want_lines=$(LC_ALL=C sort <<<"$want_lines")

only_hot='^mark 2\|^target'
want_hot="mark 2 hot shape.c:$hot in hot
target shape.c:$hot 1=0/2 2=1/1 3=0/1 4=0/1"

# What every shape with debug information must answer.
lines_right()
{
	local name=$1 near="[0-9]+, [0-9]+" got
	shift
	is "$name: lines, functions, inline chains, and back" "$(
		./addr -l "dwarf/shape.c:$mix" -l "shape.c:$hot" -l "shape.c:$cool" \
			-l "a/shape.c:$mix" -f hot -f mix "$@" 2>&1 | LC_ALL=C sort)" "$want_lines"
	like "$name: a line without code" "$(./addr -l "shape.c:$nocode" "$@" 2>&1)" \
		"^target shape.c:$nocode ENOENT no code at shape.c:$nocode; nearest lines with code: $near$"
	got=$(./addr -s '%.c' -l "shape.c:$call" "$@" 2>&1)
	like "$name: a header out of scope counts to its call site" "$got" \
		"mark 4 cool shape.c:$call in cool > from_header"
	like "$name: and that line's ranges hold it" "$got" \
		"^target shape.c:$call 1=0/2 2=0/1 3=0/1 4=1/1$"
}

# build NAME COMPILER FLAGS...: builds the program, or says why not.
build()
{
	local name=$1 cc=$2 log
	shift 2
	if ! command -v "$cc" >/dev/null; then
		skip "$name" "$cc is not installed"
		return 1
	fi
	# shellcheck disable=SC2086
	log=$($cc -O2 "$@" -o "$name" $src -pthread -ldl 2>&1) && return 0
	ok "$name compiles" false
	tap_note "$log"
	return 1
}

shape()
{
	build "$@" && lines_right "$1" "./$1"
}

shape gcc-pie-dwarf5 gcc -g -fPIE -pie
shape gcc-nopie-dwarf4 gcc -gdwarf-4 -no-pie
shape gcc-dwarf4-g3 gcc -g3 -gdwarf-4
shape gcc-static gcc -g -static
shape gcc-static-pie gcc -g -static-pie
shape gcc-split5 gcc -g -gsplit-dwarf
shape gcc-split4 gcc -gdwarf-4 -gsplit-dwarf
shape gcc-gz gcc -g -gz
shape gcc-sections gcc -g -ffunction-sections -Wl,--gc-sections
shape gcc-one-segment gcc -g -Wl,-z,noseparate-code
shape gcc-lto gcc -g -flto
shape clang-dwarf5 clang -gdwarf-5
shape clang-dwarf4 clang -gdwarf-4
shape clang-split clang -gdwarf-5 -gsplit-dwarf
if command -v ld.lld >/dev/null; then
	shape clang-lld clang -gdwarf-5 -fuse-ld=lld
	shape clang-lld-nopie clang -gdwarf-5 -fuse-ld=lld -no-pie -ffunction-sections \
		-Wl,--gc-sections,-z,nostart-stop-gc
	shape clang-thinlto clang -gdwarf-5 -flto=thin -fuse-ld=lld
else
	skip "clang-lld" "lld is not installed"
fi

# Separate debug files, with and without a build-id to check by.
for id in sha1 none; do
	name=gcc-debuglink-$id
	build "$name" gcc -g -Wl,--build-id=$id || continue
	objcopy --only-keep-debug "$name" "$name.debug"
	strip --strip-all "$name"
	mkdir -p .debug
	objcopy --add-gnu-debuglink="$name.debug" "$name"
	lines_right "$name" "./$name"
	mv "$name.debug" .debug/
	like "$name: in .debug" "$(./addr "./$name" 2>&1)" "mark 2 hot shape.c:$hot in hot"
	cp /bin/true ".debug/$name.debug"
	like "$name: another program's debug file is not used" "$(./addr "./$name" 2>&1)" \
		"mark 2 $name\+0x[0-9a-f]+ \?:0 in"
done

# With a missing .dwo file the lines are still there, in the binary itself.
build gcc-split-lost gcc -g -gsplit-dwarf && rm -f gcc-split-lost-*.dwo ./*split-lost*.dwo &&
	like "gcc-split-lost: lines without the .dwo file" "$(./addr ./gcc-split-lost 2>&1)" \
		"mark 2 hot shape.c:$hot in hot"

# Stripped: never silent, and one name for one function.
build gcc-stripped gcc -s && {
	got=$(./addr -l "shape.c:$hot" ./gcc-stripped 2>&1)
	like "gcc-stripped: a name by address" "$got" \
		'mark 2 gcc-stripped\+0x[0-9a-f]+ \?:0 in gcc-stripped\+0x[0-9a-f]+$'
	# The marks 1 and 2 in hot, and 1 in cool.
	is "gcc-stripped: one name for a function" "$(grep -E '^mark [12] ' <<<"$got" |
		cut -d' ' -f3 | sort | uniq -c | sort -n | awk '{ print $1 }' | tr '\n' ' ')" "1 2 "
	like "gcc-stripped: says why there are no lines" "$got" \
		'ENOENT no line information in .*/gcc-stripped: build with -g'
	piece=$(awk '/^mark 2/ { print $3 }' <<<"$got")
	like "gcc-stripped: the name by address is a target" "$(./addr -f "$piece" ./gcc-stripped)" \
		"^target ${piece/+/\\+} 1=1/2 2=1/1 3=0/1 4=0/1$"
}
build gcc-static-stripped gcc -s -static &&
	like "gcc-static-stripped: a name by address" "$(./addr ./gcc-static-stripped 2>&1)" \
		'mark 2 gcc-static-stripped\+0x[0-9a-f]+ \?:0 in'
build gcc-nog gcc &&
	like "gcc without -g: functions" "$(./addr -f hot ./gcc-nog 2>&1 | tr '\n' ';')" \
		'mark 2 hot \?:0 in hot;target hot 1=1/2 2=1/1 3=0/1 4=0/1'
build gcc-dynsym gcc -rdynamic -s &&
	like "stripped, with dynamic symbols: functions" "$(./addr ./gcc-dynsym 2>&1)" \
		'mark 2 hot \?:0 in hot'

# Code that comes later, in a file that is not the main executable.
gcc -O2 -g -shared -fPIC -o plugin.so "$here/shape.c" &&
	gcc -O2 -g -DPLUGIN -o plugged "$here/shape_main.c" "$here/shape.c" -pthread -ldl && {
	lines_right "dlopen" -b '%/plugin.so' ./plugged ./plugin.so
	got=$(./addr -l "shape.c:$hot" ./plugged ./plugin.so 2>&1)
	like "dlopen: not in the default scope" "$got" "mark 2 hot shape.c:$hot out hot"
	like "dlopen: and so no target" "$got" "target shape.c:$hot 1=0/2 2=0/1"
	is "dlopen, after the process has ended" "$(
		./addr -e -b '%/plugin.so' -l "shape.c:$hot" ./plugged ./plugin.so 2>&1 | grep "$only_hot")" \
		"$want_hot"
}

# A program whose file was deleted while it runs.
build gcc-deleted gcc -g &&
	is "deleted while it runs" \
		"$(./addr -d -l "shape.c:$hot" ./gcc-deleted 2>&1 | grep "$only_hot")" "$want_hot"

done_testing
