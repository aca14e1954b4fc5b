/* SPDX-License-Identifier: GPL-2.0-only */
/* The client fd: what the profiled program itself may do, which is count. */
#ifndef COZK_CLIENT_H
#define COZK_CLIENT_H

#include <linux/types.h>

struct cozk_session;
struct vm_area_struct;

/* A new client fd of @s, or an error.  It pins memory, never the session's life. */
int cozk_client_fd(struct cozk_session *s, bool cloexec);

/* The mapping is not inherited by fork.  Context: in ->mmap. */
void cozk_vma_dont_copy(struct vm_area_struct *vma);

#endif
