#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged debug information must not crash or hang the look-up (built with sanitizers), and the
# addresses still get a name.

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/tap.sh"
. "$here/driver.sh"

out=$top/build/tests/dwarf/corrupt
rm -rf "$out"
mkdir -p "$out"
cd "$out" || exit 1
build_driver addr || exit 1

hot=$(grep -n 'MARK(2);' "$here/shape.c" | cut -d: -f1)
call=$(grep -n 'return from_header' "$here/shape.c" | cut -d: -f1)
mutants=${COZK_MUTANTS:-12}

# Every question there is, so that every reader meets the damage; what is damaged is never loaded,
# so the program itself runs.
ask()
{
	timeout 20 ./addr -s '%.c' -l "shape.c:$hot" -l "shape.c:$call" -l nope.c:1 \
		-f hot -f mix -f nope "./$1" >answer 2>errors || {
		cat answer errors
		return 1
	}
	[ "$(grep -c '^mark ' answer)" -ge 5 ] && ! grep -q '\[unmapped\]' answer
}

# damage FILE SECTION SEED: overwrites bytes of a section. The same seed gives the same damage.
damage()
{
	python3 - "$@" <<-'EOS'
		import random, subprocess, sys

		path, section, seed = sys.argv[1:]
		headers = subprocess.check_output(["readelf", "-SW", path], text=True)
		for line in headers.splitlines():
		    words = line.replace("[ ", "[").split()
		    if len(words) > 5 and words[1] == section:
		        offset, size = int(words[4], 16), int(words[5], 16)
		rng = random.Random(f"{section}{seed}")
		with open(path, "r+b") as f:
		    for _ in range(rng.choice([1, 2, 8, 32])):
		        f.seek(offset + rng.randrange(size))
		        f.write(bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])]))
	EOS
}

for flags in "-gdwarf-5" "-gdwarf-4"; do
	name=shape$flags
	gcc -O2 "$flags" -o "$name" "$here/shape.c" "$here/shape_main.c" -pthread || exit 1
	ok "$name undamaged" ask "$name"
	for section in .debug_info .debug_abbrev .debug_line .debug_str .symtab; do
		objcopy -O binary --only-section="$section" --set-section-flags "$section=alloc" \
			"$name" section.bin
		size=$(stat -c %s section.bin)
		for keep in 0 1 11 $((size / 3)) $((size - 1)); do
			[ "$section" = .symtab ] && break
			head -c "$keep" section.bin >short.bin
			cp "$name" short &&
				objcopy --update-section "$section=short.bin" short 2>/dev/null &&
				ok "$name: $section cut to $keep bytes" ask short
		done
		bad=
		for seed in $(seq "$mutants"); do
			cp "$name" mutant
			damage mutant "$section" "$seed"
			ask mutant >log || {
				bad+=" $seed"
				head -n 5 log >&2
			}
		done
		is "$name: $section with random damage, seeds that fail" "$bad" ""
	done
done

done_testing
