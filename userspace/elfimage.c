// SPDX-License-Identifier: GPL-2.0-or-later
#include "elfimage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int cozk_elfimage_open(const char *path, struct cozk_elfimage *ret)
{
	/* Non-blocking, because opening a FIFO would wait for its other end. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc = -ENOEXEC;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	*ret = (struct cozk_elfimage){ .fd = fd };
	ret->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!ret->elf || elf_kind(ret->elf) != ELF_K_ELF || !gelf_getehdr(ret->elf, &ret->ehdr))
		goto fail;
	ret->bytes = elf_rawfile(ret->elf, &ret->size);
	if (ret->bytes)
		return 0;
	rc = -EIO;
fail:
	cozk_elfimage_close(ret);
	return rc;
}

void cozk_elfimage_close(struct cozk_elfimage *image)
{
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	*image = (struct cozk_elfimage){ .fd = -1 };
}

/* The next program header of @type from *@index on, whose content is all in the file. */
static bool next_segment(const struct cozk_elfimage *image, unsigned int type, size_t *index, GElf_Phdr *ret)
{
	size_t n;

	if (elf_getphdrnum(image->elf, &n))
		return false;
	for (; *index < n; (*index)++) {
		if (gelf_getphdr(image->elf, *index, ret) && ret->p_type == type && ret->p_offset <= image->size &&
		    ret->p_filesz <= image->size - ret->p_offset) {
			(*index)++;
			return true;
		}
	}
	return false;
}

bool cozk_elfimage_contains(const struct cozk_elfimage *image, const char *text)
{
	GElf_Phdr phdr;
	size_t index = 0;

	while (next_segment(image, PT_LOAD, &index, &phdr)) {
		if (memmem(image->bytes + phdr.p_offset, phdr.p_filesz, text, strlen(text)))
			return true;
	}
	return false;
}

/* A string in the file, if it ends there. */
static const char *string_at(const struct cozk_elfimage *image, uint64_t offset)
{
	if (offset >= image->size || !memchr(image->bytes + offset, '\0', image->size - offset))
		return NULL;
	return image->bytes + offset;
}

const char *cozk_elfimage_interpreter(const struct cozk_elfimage *image)
{
	GElf_Phdr phdr;
	size_t index = 0;

	if (!next_segment(image, PT_INTERP, &index, &phdr))
		return NULL;
	return string_at(image, phdr.p_offset);
}

static bool offset_of(const struct cozk_elfimage *image, uint64_t vaddr, uint64_t *ret)
{
	GElf_Phdr phdr;
	size_t index = 0;

	while (next_segment(image, PT_LOAD, &index, &phdr)) {
		if (vaddr - phdr.p_vaddr < phdr.p_filesz) {
			*ret = vaddr - phdr.p_vaddr + phdr.p_offset;
			return true;
		}
	}
	return false;
}

/* The entries of the dynamic section, from the segment: section headers may be stripped. */
static Elf_Data *dynamic_data(const struct cozk_elfimage *image)
{
	GElf_Phdr phdr;
	size_t index = 0;

	if (!next_segment(image, PT_DYNAMIC, &index, &phdr) || !phdr.p_filesz)
		return NULL;
	return elf_getdata_rawchunk(image->elf, phdr.p_offset, phdr.p_filesz, ELF_T_DYN);
}

static const char *dynamic_string(const struct cozk_elfimage *image, uint64_t strtab, uint64_t at)
{
	return at < image->size ? string_at(image, strtab + at) : NULL;
}

bool cozk_elfimage_dynamic(const struct cozk_elfimage *image, struct cozk_elf_dynamic *ret)
{
	Elf_Data *data = dynamic_data(image);
	const char *rpath = NULL, *runpath = NULL;
	uint64_t strtab = 0;
	GElf_Dyn dyn;

	memset(ret, 0, sizeof(*ret));
	if (!data)
		return false;
	for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_STRTAB && !offset_of(image, dyn.d_un.d_ptr, &strtab))
			strtab = 0;
		if (dyn.d_tag == DT_FLAGS_1)
			ret->pie = dyn.d_un.d_val & DF_1_PIE;
	}
	/* The string table's own entry comes behind those that use it. */
	for (int i = 0; strtab && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		const char *text = dynamic_string(image, strtab, dyn.d_un.d_val);

		if (dyn.d_tag == DT_NEEDED && text && ret->needed_len < COZK_ELF_NEEDED_MAX)
			ret->needed[ret->needed_len++] = text;
		else if (dyn.d_tag == DT_RUNPATH)
			runpath = text;
		else if (dyn.d_tag == DT_RPATH)
			rpath = text;
	}
	ret->rpath = runpath ? runpath : rpath;
	return true;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (!strcmp(name, *names))
			return true;
	}
	return false;
}

bool cozk_elfimage_symbol(const struct cozk_elfimage *image, const char *const *names, bool defined)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(image->elf, scn))) {
		Elf_Data *data;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNSYM)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(image->elf, shdr.sh_link, sym.st_name);

			if (name && (sym.st_shndx != SHN_UNDEF) == defined && is_one_of(name, names))
				return true;
		}
	}
	return false;
}
