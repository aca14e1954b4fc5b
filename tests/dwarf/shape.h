/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHAPE_H
#define SHAPE_H

unsigned int shape_run(unsigned int rounds);
void shape_print(void);

/* Code from a header, to be left out by a source scope, so that it counts to its call site. */
static inline __attribute__((always_inline)) unsigned int from_header(unsigned int x)
{
	/* clang-format off */
	__asm__ volatile("1:\tnop\n\tnop\n\tnop\n\t.pushsection marks, \"aw\"\n"
			 "\t.quad 1b\n\t.quad 4\n\t.popsection"
			 ::: "memory");
	/* clang-format on */
	return x + 1;
}

#endif
