// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlopenprog PLUGIN [SECONDS]: does nothing for half a second, then loads PLUGIN (a path) and
 * calls its plugin_item for SECONDS (3).  All the code that matters appears at run time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"

int main(int argc, char **argv)
{
	struct timespec half = { .tv_nsec = 500000000 };
	void (*item)(void) = NULL;
	void *plugin, *symbol;
	double end;

	if (argc < 2) {
		fprintf(stderr, "usage: dlopenprog PLUGIN [SECONDS]\n");
		return 2;
	}
	nanosleep(&half, NULL);
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	symbol = plugin ? dlsym(plugin, "plugin_item") : NULL;
	if (!symbol) {
		fprintf(stderr, "dlopenprog: %s\n", dlerror());
		return 1;
	}
	memcpy(&item, &symbol, sizeof(item));
	end = wall_s() + argument(argc - 1, argv + 1, 3);
	while (wall_s() < end)
		item();
	return 0;
}
