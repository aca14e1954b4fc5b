// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code whose addresses the test knows: every MARK leaves its own run-time address in a table,
 * one for each copy that the compiler makes of it. True lines: a mark of kind N is on the line that
 * says MARK(N).
 */
#include "shape.h"

#include <stdint.h>
#include <stdio.h>

/* clang-format off */
#define MARK(kind)								\
	__asm__ volatile("1:\tnop\n\tnop\n\tnop\n"				\
			 "\t.pushsection marks, \"aw\"\n"			\
			 "\t.quad 1b\n\t.quad " #kind "\n"			\
			 "\t.popsection" ::: "memory")
/* clang-format on */

struct mark {
	uint64_t addr;
	uint64_t kind;
};

extern struct mark __start_marks[] __attribute__((visibility("hidden")));
extern struct mark __stop_marks[] __attribute__((visibility("hidden")));

static inline __attribute__((always_inline)) unsigned int mix(unsigned int x)
{
	x ^= x << 13;
	MARK(1);
	x ^= x >> 17;
	return x ^ x << 5;
}

/* Not static, so that it is in .dynsym when linked so. */
__attribute__((noinline)) unsigned int hot(unsigned int rounds)
{
	unsigned int x = 1;

	for (unsigned int i = 0; i < rounds; i++) {
		x = mix(x);
		MARK(2);
	}
	return x;
}

static __attribute__((noinline)) unsigned int cool(unsigned int x)
{
	x = mix(x);
	MARK(3);
	return from_header(x);
}

/* Room for a line that has no code, between lines that have. */
unsigned int shape_run(unsigned int rounds)
{
	unsigned int x = hot(rounds);

	/* NO CODE */

	return x + cool(x);
}

void shape_print(void)
{
	for (const struct mark *mark = __start_marks; mark < __stop_marks; mark++)
		printf("mark %d %#llx\n", (int)mark->kind, (unsigned long long)mark->addr);
}
