// SPDX-License-Identifier: GPL-2.0-only
/* COZK_HAVE_EXIT_GROUP_DEAD: has sched_process_exit an argument group_dead?  (v6.16) */
#include <trace/events/sched.h>

void probe(void (*callback)(void *, struct task_struct *, bool));

void probe(void (*callback)(void *, struct task_struct *, bool))
{
	check_trace_callback_type_sched_process_exit(callback);
}
