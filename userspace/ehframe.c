// SPDX-License-Identifier: GPL-2.0-or-later
#include "ehframe.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

enum {
	/* What every linker writes: pairs of 32-bit offsets from the start of the index. */
	TABLE_ENC = DW_EH_PE_datarel | DW_EH_PE_sdata4,
	FDE_ENC = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	HDR_SIZE = 12,
	ENTRY_SIZE = 8,
};

struct frame_hdr {
	const uint8_t *table;
	uint64_t vaddr;
	uint32_t count;
};

static int32_t get_s32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int frame_hdr_read(struct cozk_binary *binary, struct frame_hdr *ret)
{
	GElf_Shdr shdr;
	Elf_Data *data = cozk_elf_section(binary->elf, ".eh_frame_hdr", &shdr);
	const uint8_t *p = data ? data->d_buf : NULL;

	if (!p || data->d_size < HDR_SIZE || p[0] != 1 || (p[1] & 0x0f) != DW_EH_PE_sdata4 || p[2] != DW_EH_PE_udata4 ||
	    p[3] != TABLE_ENC)
		return -ENOENT;
	ret->count = get_s32(p + 8);
	if (!ret->count || ret->count > (data->d_size - HDR_SIZE) / ENTRY_SIZE)
		return -ENOENT;
	ret->table = p + HDR_SIZE;
	ret->vaddr = shdr.sh_addr;
	return 0;
}

static uint64_t entry_start(const struct frame_hdr *hdr, uint32_t i)
{
	return hdr->vaddr + (int64_t)get_s32(hdr->table + (size_t)i * ENTRY_SIZE);
}

/* The size of the code that the entry at @fde covers, 0 if it is written in an unusual way. */
static uint64_t fde_size(struct cozk_binary *binary, uint64_t fde)
{
	static const char augmentation[] = "zR";
	GElf_Shdr shdr;
	Elf_Data *data = cozk_elf_section(binary->elf, ".eh_frame", &shdr);
	const uint8_t *base, *cie, *p, *end;
	uint64_t off, cie_off;

	if (!data || data->d_size < 16)
		return 0;
	base = data->d_buf;
	off = fde - shdr.sh_addr;
	if (off > data->d_size - 16)
		return 0;
	cie_off = off + 4 - (uint32_t)get_s32(base + off + 4);
	if (cie_off > data->d_size - 16)
		return 0;
	cie = base + cie_off;
	end = base + data->d_size;
	/*
	 * length, id, version 1, then the augmentation; "zPLR" (C++) has more before the encoding,
	 * which is the same in practice.
	 */
	if (cie[8] != 1 || cie[9] != 'z')
		return 0;
	if (!strncmp((const char *)cie + 9, augmentation, sizeof(augmentation))) {
		p = cie + 12;
		for (int leb = 0; leb < 4; leb++) {
			while (p < end && (*p & 0x80))
				p++;
			p++;
		}
		if (p >= end || *p != FDE_ENC)
			return 0;
	}
	return (uint32_t)get_s32(base + off + 12);
}

int cozk_ehframe_find(struct cozk_binary *binary, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	struct frame_hdr hdr;
	uint32_t lo = 0, hi;
	uint64_t start, size;

	if (frame_hdr_read(binary, &hdr))
		return -ENOENT;
	hi = hdr.count;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (entry_start(&hdr, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return -ENOENT;
	start = entry_start(&hdr, lo - 1);
	size = fde_size(binary, hdr.vaddr + (int64_t)get_s32(hdr.table + (size_t)(lo - 1) * ENTRY_SIZE + 4));
	if (!size && lo < hdr.count)
		size = entry_start(&hdr, lo) - start;
	if (vaddr - start >= size)
		return -ENOENT;
	*ret_start = start;
	*ret_end = start + size;
	return 0;
}
