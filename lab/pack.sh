# SPDX-License-Identifier: GPL-2.0-or-later
# What the lab guest starts from; sourced by boot. Two cpio archives, which the kernel unpacks one
# over the other: the base (busybox, modules, init), kept in the cache, and the job of this run.

# lab_base RELEASE MODULES: prints the path of the base archive, made first if it is missing or old.
lab_base()
{
	local release=$1 modules=$2 dir=$cozk_lab_state/cache file root busybox tool
	file=$dir/base-$release.cpio
	busybox=$(lab_busybox) || exit
	if [ "$file" -nt "$labdir/init" ] && [ "$file" -nt "$labdir/pack.sh" ] &&
		[ "$file" -nt "$modules/modules.dep" ] && [ "$file" -nt "$busybox" ]; then
		echo "$file"
		return
	fi
	for tool in cpio:cpio modprobe:kmod xz:xz-utils; do
		PATH=$PATH:/sbin:/usr/sbin command -v "${tool%:*}" >/dev/null ||
			die "${tool%:*} is missing: apt install ${tool#*:} (or scripts/deps lab)"
	done
	mkdir -p "$dir"
	root=$work/base
	mkdir -p "$root/bin" "$root/modules"
	cp "$busybox" "$root/bin/busybox"
	install -m 755 "$labdir/init" "$root/init"
	lab_modules "$release" "$modules" "$root/modules"
	(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/base.cpio" ||
		die "cannot pack what the guest starts from"
	# Renamed into place, so that a lab that starts at this moment reads a whole one.
	mv "$work/base.cpio" "$file.$$" && mv "$file.$$" "$file"
	rm -rf "$root"
	echo "$file"
}

# A busybox with shared libraries would find none of them in the initial file system.
lab_busybox()
{
	local file
	for file in /usr/bin/busybox /bin/busybox; do
		if [ -x "$file" ] && ! head -c 4096 "$file" | grep -aq /ld-linux; then
			echo "$file"
			return
		fi
	done
	die "no static busybox: apt install busybox-static"
}

# lab_modules RELEASE MODULES DIR: unpacks the modules that the guest needs before it sees the
# host's files, and writes their load order. What is built in or missing is left out.
lab_modules()
{
	local release=$1 base=${2%/lib/modules/*} dir=$3 name path file
	for name in virtio_pci virtio_console virtiofs 9p 9pnet_virtio overlay; do
		PATH=$PATH:/sbin:/usr/sbin modprobe -d "$base" -S "$release" --show-depends "$name" \
			2>/dev/null || :
	done | sed -n 's/^insmod //p' | awk '!seen[$1]++ { print $1 }' | while read -r path; do
		file=${path##*/}
		case $file in
		*.ko) cp "$path" "$dir/$file" ;;
		*.ko.xz) file=${file%.xz}; xz -dc "$path" >"$dir/$file" ;;
		*.ko.zst) file=${file%.zst}; zstd -qdc "$path" >"$dir/$file" ;;
		*.ko.gz) file=${file%.gz}; gzip -dc "$path" >"$dir/$file" ;;
		esac
		echo "$file"
	done >"$dir/order"
}

# lab_environment: the caller's variables, each ended by NUL, without those that name something
# which the guest does not have: sockets, sessions, file descriptors, temporary places.
lab_environment()
{
	local entry
	env -0 | while IFS= read -r -d '' entry; do
		case ${entry%%=*} in
		DISPLAY | WAYLAND_DISPLAY | XAUTHORITY | XDG_RUNTIME_DIR | XDG_S[EV]* | DBUS_*) ;;
		SSH_* | GPG_AGENT_INFO | TMUX* | STY | NOTIFY_SOCKET | LISTEN_* | INVOCATION_ID) ;;
		MAKEFLAGS | MFLAGS | MAKELEVEL | BASH_ENV | ENV | TMPDIR | SHLVL | OLDPWD | _) ;;
		COZK_LAB) ;;
		*) printf '%s\0' "$entry" ;;
		esac
	done
	printf 'COZK_LAB=%s\0' "$RELEASE"
}

# lab_job STDIN PANIC_ON_WARN MODULE COMMAND...: writes $work/initrd. STDIN is the guest's file to
# read from, MODULE may be empty.
lab_job()
{
	local dir=$work/job/job stdin=$1 panic_on_warn=$2 module=$3 base
	shift 3
	mkdir -p "$dir"
	printf '%s\0' "$@" >"$dir/argv"
	printf '%s' "$PWD" >"$dir/cwd"
	lab_environment >"$dir/env"
	if [ ${#shares[@]} -gt 0 ]; then
		printf '%s\n' "${shares[@]}"
	fi >"$dir/shares"
	printf 'stdin=%q\npanic_on_warn=%q\n' "$stdin" "$panic_on_warn" >"$dir/settings"
	cp "$labdir/run" "$dir/run"
	[ -z "$module" ] || cp "$module" "$dir/cozk.ko"
	base=$(lab_base "$RELEASE" "$MODULES") || exit 125
	(cd "$work/job" && find job | cpio --quiet -o -H newc -R 0:0) >"$work/job.cpio"
	cat "$base" "$work/job.cpio" >"$work/initrd"
}
