/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COZK_CMD_REPORT_H
#define COZK_CMD_REPORT_H

/* cozk report; argv[0] is the command's name. Returns an exit status. */
int cmd_report(int argc, char **argv);

#endif
