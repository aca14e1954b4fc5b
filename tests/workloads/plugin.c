// SPDX-License-Identifier: GPL-2.0-or-later
/* What dlopenprog loads: all the work of the program, and its progress point "plugin-item". */
#include "common.h"
#include "cozk.h"

PART void plugin_work(void);
void plugin_item(void);

void plugin_work(void)
{
	WORK(600000);
}

void plugin_item(void)
{
	plugin_work();
	COZ_PROGRESS_NAMED("plugin-item");
}
