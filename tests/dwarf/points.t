#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `cozk list points` finds the macros' places in whatever form compilers describe them, and neither
# crashes nor hangs on damaged debug information.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
cozk=$top/build/bin/cozk
. "$top/tests/tap.sh"
[ -x "$cozk" ] || { echo "Bail out! $cozk is not built"; exit 1; }

out=$top/build/tests/dwarf/points
rm -rf "$out"
mkdir -p "$out"
cd "$out" || exit 1

cat >cozk-h.c <<'END'
#include "cozk.h"
#define MY_POINT(name) COZ_PROGRESS_NAMED(name)
static inline void third(int i) { if (i % 3 == 0) COZ_PROGRESS_NAMED("third"); }
static long *_counter;
int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		third(i);
		COZ_BEGIN("request");
		COZ_PROGRESS;
		COZ_END("request");
		MY_POINT("mine");
	}
	return _counter && argv;
}
END
cat >want <<'END'
:3  throughput  COZ_PROGRESS_NAMED("third")
:9  begin  COZ_BEGIN("request")
:10  throughput  COZ_PROGRESS
:11  end  COZ_END("request")
:12  -  MY_POINT("mine");
END
# As Coz's own header does it.
mkdir coz
cat >coz/coz.h <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
typedef struct { unsigned long count, backoff; } coz_counter_t;
static coz_counter_t *call(int type, const char *name)
{
	coz_counter_t *(*get)(int, const char *) =
		(coz_counter_t *(*)(int, const char *))dlsym(RTLD_DEFAULT, "_coz_get_counter");
	return get ? get(type, name) : 0;
}
#define POINT(type, name) if (1) { \
	static unsigned char _initialized = 0; \
	static coz_counter_t *_counter = 0; \
	if (!_initialized) { _counter = call(type, name); _initialized = 1; } \
	if (_counter) __atomic_add_fetch(&_counter->count, 1, __ATOMIC_RELAXED); }
#define COZ_PROGRESS_NAMED(name) POINT(1, name)
#define COZ_PROGRESS POINT(1, __FILE__)
#define COZ_BEGIN(name) POINT(2, name)
#define COZ_END(name) POINT(3, name)
END
sed 's/cozk\.h/coz.h/' cozk-h.c >coz-h.c

# points FILE SOURCE: the table without its heading, each column by its own, paths cut.
points()
{
	"$cozk" list points "./$1" | sed "1d; s,^$out/$2,,; s/  */ /; s/ \([a-z-]*\)  */  \1  /"
}

for source in cozk-h coz-h; do
	for flags in "gcc -O0 -g" "gcc -O2 -g" "gcc -O2 -gdwarf-4" "gcc -O2 -g -gz" \
		"gcc -O2 -g -gsplit-dwarf" "gcc -O2 -gdwarf-4 -gsplit-dwarf" "g++ -O2 -g -x c++" \
		"clang -O0 -g" "clang -O2 -g" "clang -O2 -g -gsplit-dwarf"; do
		name=$source-${flags//[^a-z0-9A-Z+]/}
		if ! command -v "${flags%% *}" >/dev/null; then
			skip "$source, $flags" "no ${flags%% *}"
			continue
		fi
		$flags -w -Icoz -I"$top/libcoz-lite" -o "$name" $source.c
		is "$source, $flags" "$(points "$name" $source.c)" "$(cat want)"
	done
done

json=$("$cozk" list points --json ./cozk-h-gccO2g)
is "JSON has them all" "$(printf '%s\n' "$json" | grep -c '"line":')" 5
like "JSON has names" "$json" '"line":9,.*"type":"begin","name":"request"'
like "JSON has null for what is not known" "$json" '"line":12,.*"type":null,"name":null'

mv cozk-h.c away.c
like "without the source the places are still told" "$("$cozk" list points ./cozk-h-gccO2g)" \
	"cozk-h\.c:9 +- +\(the source is not here\)"
mv away.c cozk-h.c

gcc -O2 -w -I"$top/libcoz-lite" -o bare cozk-h.c
err=$("$cozk" list points ./bare 2>&1)
is "without debug information the status is 3" "$?" 3
like "but that there are points is said" "$err" "has progress points; without debug information"
echo 'int main(void) { return 0; }' | gcc -g -x c -o none -
err=$("$cozk" list points ./none 2>&1)
is "a program without points gives 3" "$?" 3
like "and the hint is the macro" "$err" "hint: put COZ_PROGRESS"

# Lines and functions, in scope.
like "lines are FILE:LINE" "$("$cozk" list lines ./cozk-h-gccO2g)" "^$out/cozk-h\.c:9$"
is "the profiler's own header is none of them" "$("$cozk" list lines ./cozk-h-gccO2g | grep -c 'cozk\.h:')" 0
"$cozk" list lines -s %/nowhere/% ./cozk-h-gccO2g 2>/dev/null
is "nothing in scope gives 3" "$?" 3
like "without lines the functions are listed" "$("$cozk" list lines ./bare 2>/dev/null)" "^main$"
is "each name once" "$("$cozk" list functions ./cozk-h-gccO2g | sort | uniq -d)" ""
sleep 60 &
for ((i = 0; i < 100; i++)); do
	grep -q sleep "/proc/$!/comm" && grep -q 'libc\.so' "/proc/$!/maps" && break
	sleep 0.05
done
like "a process's library can be listed" "$("$cozk" list functions -b %/libc% $!)" "^qsort"
kill $!

# crashed FILE: what no damage may lead to.
crashed()
{
	local status
	timeout 20 "$cozk" list points "./$1" >/dev/null 2>&1
	status=$?
	[ "$status" -ge 124 ] && [ "$status" -ne 126 ] && echo "$1: status $status"
}

# Some bytes of the debug information are changed; the same seed gives the same damage.
damage()
{
	python3 - "$@" <<-'END'
		import random, subprocess, sys
		path, section, seed = sys.argv[1:]
		for line in subprocess.check_output(["readelf", "-SW", path], text=True).splitlines():
		    words = line.replace("[ ", "[").split()
		    if len(words) > 5 and words[1] == section:
		        offset, size = int(words[4], 16), int(words[5], 16)
		rng = random.Random(section + seed)
		with open(path, "r+b") as f:
		    for _ in range(rng.choice([1, 2, 8, 32])):
		        f.seek(offset + rng.randrange(size))
		        f.write(bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])]))
	END
}

bad=
for section in .debug_info .debug_abbrev .debug_line .debug_str .dynamic .dynstr; do
	for seed in $(seq "${COZK_MUTANTS:-8}"); do
		for whole in cozk-h-gccO2g cozk-h-gccO2gdwarf4; do
			[ -e "$whole" ] || continue
			cp "$whole" damaged
			damage damaged "$section" "$seed"
			bad+=$(crashed damaged | sed "s/^damaged/$whole $section $seed/")
		done
	done
done
is "damaged files do no harm" "$bad" ""

done_testing
