// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the shape's code in a thread, prints its marks, says "ready" and waits for the end of its
 * input. With PLUGIN, from a dlopened file.
 */
#include "shape.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static unsigned int (*run)(unsigned int);

static void *thread_main(void *arg)
{
	static unsigned int result;

	(void)arg;
	result = run(1000);
	return &result;
}

int main(int argc, char **argv)
{
	void (*print)(void);
	pthread_t thread;

#ifdef PLUGIN
	void *plugin;

	puts("early");
	fflush(stdout);
	/* Wait until the test has looked at the mappings: the plugin is not yet among them. */
	if (argc < 2 || getchar() == EOF)
		return 1;
	plugin = dlopen(argv[1], RTLD_NOW);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	run = (unsigned int (*)(unsigned int))dlsym(plugin, "shape_run");
	print = (void (*)(void))dlsym(plugin, "shape_print");
#else
	(void)argc;
	(void)argv;
	run = shape_run;
	print = shape_print;
#endif
	if (!run || !print || pthread_create(&thread, NULL, thread_main, NULL) || pthread_join(thread, NULL))
		return 1;
	print();
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
