// SPDX-License-Identifier: GPL-2.0-only
/* COZK_HAVE_VM_FLAGS_SET: is there vm_flags_set()?  (v6.3) */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);

void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTCOPY);
}
