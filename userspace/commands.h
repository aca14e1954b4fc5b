/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every command: main.c's table is made of these. Each takes its own argv and returns the exit status. */
#ifndef COZK_COMMANDS_H
#define COZK_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_lab(int argc, char **argv);

#endif
