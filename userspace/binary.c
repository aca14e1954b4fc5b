// SPDX-License-Identifier: GPL-2.0-or-later
#include "binary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugfile.h"
#include "symbols.h"
#include "units.h"

static int read_segments(struct cozk_binary *binary)
{
	size_t n;

	if (elf_getphdrnum(binary->elf, &n))
		return -ENOEXEC;
	for (size_t i = 0; i < n; i++) {
		struct cozk_segment *v;
		GElf_Phdr phdr;

		if (!gelf_getphdr(binary->elf, i, &phdr))
			return -ENOEXEC;
		if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) || !phdr.p_filesz)
			continue;
		v = reallocarray(binary->segments, binary->nsegments + 1, sizeof(*v));
		if (!v)
			return -ENOMEM;
		binary->segments = v;
		v[binary->nsegments++] = (struct cozk_segment){
			.vaddr = phdr.p_vaddr,
			.offset = phdr.p_offset,
			.size = phdr.p_filesz,
		};
	}
	return binary->nsegments ? 0 : -ENOEXEC;
}

int cozk_binary_open(int fd, const char *path, struct cozk_binary **ret)
{
	struct cozk_binary *binary;
	GElf_Ehdr ehdr;
	int rc = -ENOMEM;

	elf_version(EV_CURRENT);
	binary = calloc(1, sizeof(*binary));
	if (!binary)
		return -ENOMEM;
	binary->fd = -1;
	binary->debug_fd = -1;
	binary->path = strdup(path);
	if (!binary->path)
		goto fail;
	rc = -ENOEXEC;
	binary->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!binary->elf || elf_kind(binary->elf) != ELF_K_ELF || !gelf_getehdr(binary->elf, &ehdr) ||
	    (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN))
		goto fail;
	rc = read_segments(binary);
	if (rc)
		goto fail;
	cozk_build_id(binary->elf, binary->build_id, sizeof(binary->build_id));
	binary->fd = fd;
	*ret = binary;
	return 0;
fail:
	cozk_binary_close(binary);
	return rc;
}

int cozk_binary_open_path(const char *path, struct cozk_binary **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = cozk_binary_open(fd, path, ret);
	if (rc)
		close(fd);
	return rc;
}

void cozk_binary_close(struct cozk_binary *binary)
{
	if (!binary)
		return;
	cozk_symbols_free(binary->symbols);
	cozk_units_free(binary->units);
	dwarf_end(binary->dwarf);
	if (binary->debug_elf != binary->elf)
		elf_end(binary->debug_elf);
	elf_end(binary->elf);
	if (binary->debug_fd >= 0)
		close(binary->debug_fd);
	if (binary->fd >= 0)
		close(binary->fd);
	free(binary->segments);
	free(binary->path);
	free(binary);
}

bool cozk_binary_vaddr(const struct cozk_binary *binary, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < binary->nsegments; i++) {
		const struct cozk_segment *seg = &binary->segments[i];

		if (offset - seg->offset < seg->size) {
			*ret = offset - seg->offset + seg->vaddr;
			return true;
		}
	}
	return false;
}

bool cozk_binary_offset(const struct cozk_binary *binary, uint64_t vaddr, uint64_t *ret, uint64_t *left)
{
	for (size_t i = 0; i < binary->nsegments; i++) {
		const struct cozk_segment *seg = &binary->segments[i];

		if (vaddr - seg->vaddr < seg->size) {
			*ret = vaddr - seg->vaddr + seg->offset;
			*left = seg->vaddr + seg->size - vaddr;
			return true;
		}
	}
	return false;
}

bool cozk_binary_is_code(const struct cozk_binary *binary, uint64_t vaddr)
{
	uint64_t offset, left;

	/*
	 * An old-style text segment begins with the ELF header, so that address 0 would be in it.
	 */
	return cozk_binary_offset(binary, vaddr, &offset, &left) && offset >= sizeof(Elf32_Ehdr);
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *got = gelf_getshdr(scn, shdr) ? elf_strptr(elf, names, shdr->sh_name) : NULL;

		if (!got)
			continue;
		/* .zdebug_x is an older way to write a compressed .debug_x. */
		if (!strcmp(got, name) || (got[0] == '.' && got[1] == 'z' && !strcmp(got + 2, name + 1)))
			return scn;
	}
	return NULL;
}

Elf_Data *cozk_elf_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	GElf_Shdr own;
	Elf_Scn *scn;
	Elf_Data *data;

	if (!shdr)
		shdr = &own;
	scn = find_section(elf, name, shdr);
	if (!scn || shdr->sh_type == SHT_NOBITS)
		return NULL;
	if ((shdr->sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

static bool has_debug_info(Elf *elf)
{
	GElf_Shdr shdr;

	return find_section(elf, ".debug_info", &shdr) && shdr.sh_type != SHT_NOBITS;
}

Dwarf *cozk_binary_dwarf(struct cozk_binary *binary)
{
	if (binary->debug_tried)
		return binary->dwarf;
	binary->debug_tried = true;
	if (has_debug_info(binary->elf)) {
		binary->debug_elf = binary->elf;
	} else {
		binary->debug_fd = cozk_debugfile_open(binary->elf, binary->path, binary->build_id);
		if (binary->debug_fd < 0)
			return NULL;
		binary->debug_elf = elf_begin(binary->debug_fd, ELF_C_READ_MMAP, NULL);
		if (!binary->debug_elf)
			return NULL;
	}
	binary->dwarf = dwarf_begin_elf(binary->debug_elf, DWARF_C_READ, NULL);
	return binary->dwarf;
}
