// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check.h"
#include "device.h"

static const char lab_instead[] = "use the lab: cozk lab -- cozk run PROG";

/* The first line of a small file, without its end; "" if it cannot be read. */
static const char *read_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (f) {
		if (!fgets(buf, (int)len, f))
			buf[0] = '\0';
		fclose(f);
	}
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

static void check_release(struct cozk_check *check)
{
	unsigned int major = 0, minor = 0;
	struct utsname uts;
	bool machine, version;

	if (uname(&uts))
		return;
	snprintf(check->release, sizeof(check->release), "%s", uts.release);
	machine = !strcmp(uts.machine, "x86_64");
	version = sscanf(uts.release, "%u.%u", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 1));
	cozk_check_add(check, "kernel", machine && version ? COZK_CHECK_OK : COZK_CHECK_MISSING, "%s on %s%s%s",
		       uts.release, uts.machine, version ? "" : ": too old, 6.1 is the oldest that works",
		       machine ? "" : ": the module is for x86_64 so far");
	if (!machine || !version)
		cozk_check_mend(check, "%s", version ? lab_instead : "boot a newer kernel, or use the lab");
}

static bool has_capability(unsigned int cap)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	return !syscall(SYS_capget, &header, data) && (data[cap / 32].effective >> (cap % 32) & 1);
}

/* Root of a user namespace has every capability, but none over the kernel. */
static bool in_user_namespace(void)
{
	char line[64];
	unsigned long long first, outside, count;

	if (sscanf(read_line("/proc/self/uid_map", line, sizeof(line)), "%llu %llu %llu", &first, &outside, &count) !=
	    3)
		return false;
	return first != 0 || outside != 0 || count < UINT32_MAX;
}

/* Why no module can be loaded here, or NULL. */
static const char *no_modules(char *lockdown, size_t len)
{
	char line[64];

	*lockdown = '\0';
	if (access("/proc/modules", F_OK))
		return "this kernel is built without loadable modules (no /proc/modules)";
	if (!strcmp(read_line("/proc/sys/kernel/modules_disabled", line, sizeof(line)), "1"))
		return "loading modules is switched off until the next boot (kernel.modules_disabled)";
	if (in_user_namespace())
		return "this is a user namespace (a rootless container): it cannot load modules";
	if (prctl(PR_CAPBSET_READ, CAP_SYS_MODULE) != 1)
		return "this container may not load modules (no CAP_SYS_MODULE, also for root)";
	read_line("/sys/kernel/security/lockdown", lockdown, len);
	if (*lockdown && !strstr(lockdown, "[none]"))
		return "the kernel is locked down (Secure Boot?): it takes signed modules only";
	if (!strcmp(read_line("/sys/module/module/parameters/sig_enforce", line, sizeof(line)), "Y"))
		return "the kernel takes signed modules only (module.sig_enforce)";
	return NULL;
}

static void check_device(struct cozk_check *check)
{
	struct cozk_device device;
	char err[256];
	int error = cozk_device_open(&device, err, sizeof(err));

	if (error) {
		cozk_check_add(check, "device", COZK_CHECK_MISSING, "%s", err);
		if (error == -ENOENT && !check->loadable)
			cozk_check_mend(check, "%s", lab_instead);
		else if (error == -ENOENT && check->module[0])
			cozk_check_mend(check, "insmod %s", check->module);
		else if (error == -ENOENT)
			cozk_check_mend(check, "make module && insmod build/module/%s/cozk.ko", check->release);
		else
			cozk_check_mend(check, "%s", cozk_device_hint(error));
		return;
	}
	check->device_ok = true;
	cozk_check_add(check, "device", COZK_CHECK_OK, "/dev/cozk opens: cozk %.31s, interface %u", device.info.version,
		       device.info.abi_version);
	if (device.info.features & COZK_FEATURE_KERNEL_IP)
		cozk_check_add(check, "kernel code", COZK_CHECK_OK, "can be seen (CAP_PERFMON)");
	else {
		cozk_check_add(check, "kernel code", COZK_CHECK_NOTE,
			       "kernel addresses are hidden without CAP_PERFMON");
		cozk_check_mend(check, "run cozk as root if kernel code matters");
	}
	cozk_device_close(&device);
}

static void check_modules(struct cozk_check *check)
{
	char lockdown[128];
	const char *why = no_modules(lockdown, sizeof(lockdown));

	if (!why) {
		cozk_check_add(check, "modules", COZK_CHECK_OK, "can be loaded here%s",
			       has_capability(CAP_SYS_MODULE) ? "" : ", by root");
		return;
	}
	/* With the module there, this is only of interest for the next boot. */
	cozk_check_add(check, "modules", check->device_ok ? COZK_CHECK_NOTE : COZK_CHECK_MISSING, "%s", why);
	if (*lockdown && !strstr(lockdown, "[none]"))
		cozk_check_mend(check, "sign cozk.ko with a key enrolled by mokutil, switch Secure Boot off, or %s",
				lab_instead);
	else if (strstr(why, "container"))
		cozk_check_mend(check, "load cozk.ko on the host, or %s", lab_instead);
	else
		cozk_check_mend(check, "%s", lab_instead);
}

static void check_headers(struct cozk_check *check)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/include/generated/utsrelease.h", check->release);
	check->headers_ok = !access(path, R_OK);
	path[strlen(path) - strlen("/include/generated/utsrelease.h")] = '\0';
	if (check->headers_ok) {
		cozk_check_add(check, "headers", COZK_CHECK_OK, "%s", path);
	} else if (!check->loadable || check->module[0]) {
		cozk_check_add(check, "headers", COZK_CHECK_NOTE, "of the running kernel are not here (%s), nor needed",
			       path);
	} else {
		cozk_check_add(check, "headers", COZK_CHECK_MISSING, "of the running kernel are not here (%s)", path);
		cozk_check_mend(check, "apt install linux-headers-%s", check->release);
	}
}

/* Functions that a kernel may have been built without exporting. */
static void check_exports(struct cozk_check *check)
{
	static const char *const needed[] = {
		"task_work_add",	  "tracepoint_probe_register", "for_each_kernel_tracepoint",
		"copy_from_user_nofault", "schedule_hrtimeout_range",  "perf_event_create_kernel_counter",
	};
	bool found[sizeof(needed) / sizeof(needed[0])] = { false };
	char path[PATH_MAX], line[512], name[256], missing[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/build/Module.symvers", check->release);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %255s", name) != 1)
			continue;
		for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
			found[i] |= !strcmp(name, needed[i]);
	}
	fclose(f);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		size_t used = strlen(missing);

		if (!found[i])
			snprintf(missing + used, sizeof(missing) - used, " %s", needed[i]);
	}
	if (!*missing) {
		cozk_check_add(check, "exports", COZK_CHECK_OK, "the kernel exports what the module needs");
		return;
	}
	cozk_check_add(check, "exports", COZK_CHECK_MISSING, "the kernel does not export to modules:%s", missing);
	cozk_check_mend(check, "boot a Debian kernel, or %s", lab_instead);
}

/* Where a module for the running kernel may be: in the source tree of this binary, or installed. */
static void find_module(struct cozk_check *check)
{
	static const char *const formats[] = {
		"%s/../module/%s/cozk.ko",
		"/lib/modules/%2$s/updates/dkms/cozk.ko",
		"/lib/modules/%2$s/extra/cozk.ko",
		"/lib/modules/%2$s/updates/cozk.ko",
	};
	char self[PATH_MAX], path[2 * PATH_MAX], *real;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (n > 0)
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]) && !check->module[0]; i++) {
		snprintf(path, sizeof(path), formats[i], self, check->release);
		real = realpath(path, NULL);
		if (real)
			snprintf(check->module, sizeof(check->module), "%s", real);
		free(real);
	}
}

static void check_module_file(struct cozk_check *check)
{
	if (check->module[0]) {
		cozk_check_add(check, "module", COZK_CHECK_OK, "%.480s", check->module);
		return;
	}
	if (check->device_ok || !check->loadable)
		return;
	cozk_check_add(check, "module", COZK_CHECK_MISSING, "cozk.ko is not built for %s", check->release);
	cozk_check_mend(check, "make module");
}

static bool is_member(const struct group *group)
{
	gid_t groups[NGROUPS_MAX];
	int n = getgroups(NGROUPS_MAX, groups);

	for (int i = 0; i < n; i++) {
		if (groups[i] == group->gr_gid)
			return true;
	}
	return getegid() == group->gr_gid;
}

static void check_group(struct cozk_check *check)
{
	const struct group *group = getgrnam("cozk");

	if (group && is_member(group)) {
		cozk_check_add(check, "group", COZK_CHECK_OK, "you are a member of cozk");
	} else if (!geteuid()) {
		cozk_check_add(check, "group", COZK_CHECK_OK, "%s; you are root, so it does not matter",
			       group ? "cozk exists" : "there is no group cozk");
	} else {
		cozk_check_add(check, "group", check->device_ok ? COZK_CHECK_NOTE : COZK_CHECK_MISSING,
			       group ? "you are no member of cozk, who may use /dev/cozk"
				     : "there is no group cozk, whose members may use /dev/cozk");
		cozk_check_mend(check, "%susermod -aG cozk $USER; then log in again",
				group ? "" : "groupadd --system cozk; ");
	}
}

void cozk_check_kernel(struct cozk_check *check)
{
	char lockdown[128];

	check_release(check);
	find_module(check);
	check->loadable = !no_modules(lockdown, sizeof(lockdown));
	check_device(check);
	check_group(check);
	check_modules(check);
	check_module_file(check);
	check_headers(check);
	check_exports(check);
}
