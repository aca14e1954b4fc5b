// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks where lab/boot and lab/paths.sh look. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "program.h"

#ifndef COZK_LIBDIR
#define COZK_LIBDIR "/usr/local/lib/cozk"
#endif

struct lab {
	char root[PATH_MAX];	   /* holds lab/ and scripts/ */
	char state[PATH_MAX + 32]; /* kernels */
	char modules[PATH_MAX + 32];
};

/* Is the folder's lab/boot there? Then it is the root. */
static bool take_root(struct lab *lab, const char *root)
{
	char boot[PATH_MAX], *real;

	if (snprintf(boot, sizeof(boot), "%s/lab/boot", root) >= (int)sizeof(boot) || access(boot, X_OK))
		return false;
	real = realpath(root, NULL);
	snprintf(lab->root, sizeof(lab->root), "%s", real ? real : root);
	free(real);
	return true;
}

static bool find_root(struct lab *lab)
{
	const char *dir = getenv("COZK_LABDIR");
	char self[PATH_MAX], path[PATH_MAX + 8];
	ssize_t n;

	if (dir) {
		snprintf(path, sizeof(path), "%s/..", dir);
		return take_root(lab, path);
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		snprintf(path, sizeof(path), "%s/../..", self);
		if (take_root(lab, path))
			return true;
	}
	return take_root(lab, COZK_LIBDIR);
}

/* The variable of the environment, else @root/@rest, into @buf of PATH_MAX + 32 bytes. */
static void set_path(char *buf, const char *environment, const char *root, const char *rest)
{
	const char *value = getenv(environment);

	if (value && *value)
		snprintf(buf, PATH_MAX + 32, "%s", value);
	else
		snprintf(buf, PATH_MAX + 32, "%s/%s", root, rest);
}

static void find_places(struct lab *lab)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[PATH_MAX + 16], base[PATH_MAX - 16];

	snprintf(path, sizeof(path), "%s/include/uapi", lab->root);
	if (!access(path, F_OK)) {
		set_path(lab->state, "COZK_LAB_STATE", lab->root, "build/lab");
		set_path(lab->modules, "COZK_MODULE_DIR", lab->root, "build/module");
		return;
	}
	if (cache && *cache)
		snprintf(base, sizeof(base), "%s", cache);
	else
		snprintf(base, sizeof(base), "%s/.cache", home && *home ? home : "/var/cache");
	set_path(lab->state, "COZK_LAB_STATE", base, "cozk/lab");
	set_path(lab->modules, "COZK_MODULE_DIR", lab->root, "module");
}

/* A program that the lab needs. Returns whether it is there. */
static bool check_tool(struct cozk_check *check, const char *name, const char *const *paths, const char *package)
{
	char path[PATH_MAX], why[PATH_MAX + 128];

	for (; *paths; paths++) {
		if (!cozk_program_find(*paths, path, sizeof(path), why, sizeof(why))) {
			cozk_check_add(check, name, COZK_CHECK_OK, "%.480s", path);
			return true;
		}
	}
	cozk_check_add(check, name, COZK_CHECK_MISSING, "not installed; the lab needs it");
	cozk_check_mend(check, "apt install %s", package);
	return false;
}

static bool check_tools(struct cozk_check *check)
{
	static const char *const qemu[] = { "qemu-system-x86_64", NULL };
	static const char *const virtiofsd[] = { "/usr/lib/qemu/virtiofsd", "/usr/libexec/virtiofsd", NULL };
	static const char *const busybox[] = { "/usr/bin/busybox", "/bin/busybox", NULL };
	bool ok = check_tool(check, "lab: QEMU", qemu, "qemu-system-x86");

	ok &= check_tool(check, "lab: virtiofsd", virtiofsd, "qemu-system-common (Debian 13: virtiofsd)");
	ok &= check_tool(check, "lab: busybox", busybox, "busybox-static");
	return ok;
}

/* Reads RELEASE of a kernel's .env file; "" if there is none. */
static void read_release(const char *path, char *buf, size_t len)
{
	char line[512];
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "RELEASE=", 8))
			snprintf(buf, len, "%.*s", (int)len - 1, line + 8);
	}
	if (f)
		fclose(f);
}

/* One fetched kernel. Returns whether the lab can use it. */
static bool check_lab_kernel(struct cozk_check *check, const struct lab *lab, const char *file)
{
	char path[2 * PATH_MAX], release[128];
	bool built;

	snprintf(path, sizeof(path), "%s/kernels/%s", lab->state, file);
	read_release(path, release, sizeof(release));
	if (!*release)
		return false;
	snprintf(path, sizeof(path), "%s/%s/cozk.ko", lab->modules, release);
	built = !access(path, R_OK);
	cozk_check_add(check, "lab: kernel", built ? COZK_CHECK_OK : COZK_CHECK_MISSING, "%.*s (%s)%s",
		       (int)strlen(file) - 4, file, release, built ? "" : ", but cozk.ko is not built for it");
	if (!built)
		cozk_check_mend(check, ". %.200s/kernels/%s; make module KDIR=$KDIR", lab->state, file);
	return built;
}

static int is_env(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 4 && !strcmp(entry->d_name + len - 4, ".env");
}

static bool check_kernels(struct cozk_check *check, const struct lab *lab)
{
	struct dirent **files;
	char dir[PATH_MAX + 64];
	bool ok = false;
	int n;

	snprintf(dir, sizeof(dir), "%s/kernels", lab->state);
	n = scandir(dir, &files, is_env, versionsort);
	for (int i = 0; i < n; i++) {
		ok |= check_lab_kernel(check, lab, files[i]->d_name);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	if (n > 0)
		return ok;
	cozk_check_add(check, "lab: kernel", COZK_CHECK_MISSING, "no kernel is fetched for the lab");
	cozk_check_mend(check, "%.400s/scripts/kernels", lab->root);
	return false;
}

/* How often lab/boot has seen /dev/kvm fail since this host was booted; it believes two. */
static unsigned int known_failures(const struct lab *lab)
{
	char id[64] = "", path[PATH_MAX + 64], line[256];
	unsigned int n = 0;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f) {
		if (fgets(id, sizeof(id), f))
			id[strcspn(id, "\n")] = '\0';
		fclose(f);
	}
	snprintf(path, sizeof(path), "%s/cache/kvm-failures", lab->state);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		n += !strncmp(line, id, strlen(id)) && !strcmp(line + strlen(id), " /dev/kvm");
	}
	if (f)
		fclose(f);
	return n;
}

/* Can a virtual machine be made? That it runs, only a try tells. Returns 0 or -errno. */
static int try_kvm(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, error = 0;

	if (kvm < 0)
		return -errno;
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0 || ioctl(vm, KVM_CREATE_VCPU, 0) < 0)
		error = -errno;
	if (vm >= 0)
		close(vm);
	close(kvm);
	return error;
}

static void check_kvm(struct cozk_check *check, const struct lab *lab)
{
	int error = try_kvm();

	if (!error && known_failures(lab) < 2) {
		cozk_check_add(check, "lab: KVM", COZK_CHECK_OK, "/dev/kvm makes virtual machines");
		return;
	}
	if (!error) {
		cozk_check_add(check, "lab: KVM", COZK_CHECK_NOTE,
			       "/dev/kvm has failed here: the lab emulates, which is slow");
		cozk_check_mend(check, "rm %.400s/cache/kvm-failures makes it try again", lab->state);
		return;
	}
	cozk_check_add(check, "lab: KVM", COZK_CHECK_NOTE,
		       "/dev/kvm cannot be used (%s): the lab emulates, which is slow", strerror(-error));
	if (error == -EACCES)
		cozk_check_mend(check, "usermod -aG kvm $USER; then log in again");
}

void cozk_check_lab(struct cozk_check *check)
{
	struct lab lab;
	bool ok;

	if (getenv("COZK_LAB")) {
		cozk_check_add(check, "lab", COZK_CHECK_OK, "this is the lab, kernel %s", check->release);
		return;
	}
	if (!find_root(&lab)) {
		cozk_check_add(check, "lab", COZK_CHECK_MISSING, "its scripts are not here");
		cozk_check_mend(check, "set COZK_LABDIR to the folder lab/ of cozk's sources");
		return;
	}
	find_places(&lab);
	ok = check_tools(check);
	ok &= check_kernels(check, &lab);
	check_kvm(check, &lab);
	check->lab_ok = ok;
}
