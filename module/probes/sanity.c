// SPDX-License-Identifier: GPL-2.0-only
/* COZK_HAVE_SANITY: does anything compile?  If not, no other answer means anything. */
#include <linux/module.h>
#include <linux/sched.h>

int probe(struct task_struct *task);

int probe(struct task_struct *task)
{
	return task->pid;
}
