// SPDX-License-Identifier: BSD-2-Clause
/*
 * A throughput point: lines are read, looked at and counted; one unit of work is a line.
 *
 *   cc -g -O2 throughput.c -o throughput
 *   yes 'some text' | head -n 20000000 > text
 *   cozk run ./throughput text
 */
#include <stdio.h>
#include <string.h>

#include <cozk.h>

static unsigned long hash_line(const char *line)
{
	unsigned long hash = 5381;

	for (; *line; line++)
		hash = hash * 33 + (unsigned char)*line;
	return hash;
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	unsigned long lines = 0, mix = 0;
	char line[4096];

	if (!in) {
		perror(argv[1]);
		return 1;
	}
	while (fgets(line, sizeof(line), in)) {
		mix ^= hash_line(line);
		lines++;
		COZ_PROGRESS_NAMED("line");
	}
	printf("%lu lines, %lx\n", lines, mix);
	return 0;
}
