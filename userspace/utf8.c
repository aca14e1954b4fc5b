// SPDX-License-Identifier: GPL-2.0-or-later
#include "utf8.h"

static size_t length_by_first(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if ((first & 0xe0) == 0xc0)
		return 2;
	if ((first & 0xf0) == 0xe0)
		return 3;
	return (first & 0xf8) == 0xf0 ? 4 : 0;
}

size_t cozk_utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = length_by_first(u[0]);

	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	}
	/* longer forms than needed, surrogates, beyond U+10FFFF */
	if ((n == 2 && u[0] < 0xc2) || (n == 3 && u[0] == 0xe0 && u[1] < 0xa0) ||
	    (n == 3 && u[0] == 0xed && u[1] > 0x9f) || (n == 4 && u[0] == 0xf0 && u[1] < 0x90) ||
	    (n == 4 && (u[0] > 0xf4 || (u[0] == 0xf4 && u[1] > 0x8f))))
		return 0;
	return n;
}
