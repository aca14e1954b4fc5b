# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a program with about a given number of megabytes of debug information.

One generated C file is compiled once; the linker then gets as many copies of its object as it
takes, each with a prefix to all of its symbols. So the program has hundreds of compilation
units with code, lines, types and inlined calls of their own, as a large program has, at the
cost of compiling one of them.
"""
import os
import re

import benchlib as bench

FUNCTIONS = 1500
CFLAGS = ["-std=gnu11", "-g", "-fno-stack-protector", "-fno-omit-frame-pointer"]

HOT = '''
#include <stdint.h>
#include <time.h>
#include "cozk.h"

static volatile uint64_t sink;

__attribute__((noipa)) void hot_loop(void)
{
	uint64_t x = 88172645463325252ULL;

	for (int i = 0; i < 300000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
}

int main(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (time_t end = t.tv_sec + 30; t.tv_sec < end; clock_gettime(CLOCK_MONOTONIC, &t)) {
		hot_loop();
		COZ_PROGRESS_NAMED("item");
	}
	return 0;
}
'''


def unit_source():
    """A C file with many small functions, types of their own, blocks, and inlined calls."""
    parts = ["static inline int twist(int a, int b) { int mixed = a * 31 + b; "
             "{ int turned = mixed << 3 | mixed >> 5; mixed ^= turned; } return mixed; }\n"]
    for i in range(FUNCTIONS):
        members = "".join(f" int member_{i}_{m};" for m in range(24))
        parts.append(f'''
struct record_{i} {{{members} struct record_{i} *next; }};

int function_{i}(struct record_{i} *record, int seed)
{{
	int first = twist(seed, record->member_{i}_0);
	long sum = 0;

	for (int index = 0; index < first; index++) {{
		int inner = twist(index, first);
		struct record_{i} *walk = record->next;

		sum += twist(inner, walk ? walk->member_{i}_1 : seed);
		record->member_{i}_2 = (int)sum;
	}}
	return (int)sum;
}}
''')
    return "".join(parts)


def debug_bytes(path):
    """Bytes of all debug sections of a file."""
    listing = bench.run(["readelf", "-SW", path])
    return sum(int(size, 16) for size in
               re.findall(r"\.debug_\w+\s+PROGBITS\s+\w+\s+\w+\s+(\w+)", listing))


def copies(directory, unit, count):
    names = []
    for number in range(count):
        name = os.path.join(directory, f"unit{number}.o")
        bench.run(["objcopy", f"--prefix-symbols=copy{number}_", unit, name])
        names.append(name)
    return names


def link(directory, program, objects):
    response = os.path.join(directory, "objects")
    with open(response, "w", encoding="utf-8") as file:
        file.write("\n".join(objects))
    bench.run(["gcc", "-o", program, os.path.join(directory, "hot.o"), "@" + response, "-pthread"])


def compile_object(directory, name, source, level):
    path = os.path.join(directory, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    bench.run(["gcc", *CFLAGS, level, "-I", os.path.join(bench.ROOT, "libcoz-lite"), "-c", "-o",
               path + ".o", path + ".c"])
    return path + ".o"


def make(megabytes):
    """Path of the program; an earlier one is used again."""
    directory = os.path.join(bench.BENCH_DIR, f"start-{megabytes}")
    program = os.path.join(directory, "big")
    stamp = os.path.join(directory, "made")
    made = f"{FUNCTIONS} {unit_source()} {HOT}"
    if os.path.exists(stamp) and os.path.exists(program):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == made:
                return program
    os.makedirs(directory, exist_ok=True)
    bench.say(f"start: making a program with {megabytes} MB of debug information, once")
    compile_object(directory, "hot", HOT, "-O2")
    unit = compile_object(directory, "unit", unit_source(), "-O1")
    # One copy tells what each adds: strings are merged, and relocations are gone.
    objects = copies(directory, unit, 2)
    link(directory, program, objects[:1])
    one = debug_bytes(program)
    link(directory, program, objects)
    each = debug_bytes(program) - one
    objects = copies(directory, unit, -(-(megabytes * 1000000 - one) // each) + 1)
    link(directory, program, objects)
    for name in objects:
        os.unlink(name)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(made)
    return program


def check(program):
    """Whether another reader of debug information finds the function of a copy near the end."""
    symbols = bench.run(["nm", program])
    address = max(re.findall(r"^(\w+) T copy\d+_function_7$", symbols, re.M))
    found = bench.run(["addr2line", "-f", "-e", program, address])
    return found.startswith("function_7\n") and "unit.c:" in found
