# SPDX-License-Identifier: GPL-2.0-or-later
# The virtual machine and its file daemons; sourced by boot. Each process gets a session of its own,
# so that a Ctrl-C on the terminal reaches boot alone, and dies with boot whatever ends it.

# lab_virtiofsd: prints the path of the daemon, or nothing.
lab_virtiofsd()
{
	local file
	for file in /usr/lib/qemu/virtiofsd /usr/libexec/virtiofsd; do
		if [ -x "$file" ]; then
			echo "$file"
			return
		fi
	done
}

# lab_detach CMD...: becomes CMD in a session of its own that ends with this shell.
lab_detach()
{
	close_ours
	exec setsid setpriv --pdeathsig KILL "$@"
}

# lab_serve TAG DIR CACHE: starts a daemon for DIR and waits for its socket.
lab_serve()
{
	local tag=$1 dir=$2 cache=$3 socket=$work/$1.sock log=$work/$1.log i pid
	rm -f "$socket"
	case $virtiofsd in
	*/qemu/*) # The C daemon of QEMU 7.2. Its default sandbox cannot have / as source.
		set -- --socket-path="$socket" -o "source=${dir//,/\\,}" -o "cache=$cache" \
			-o sandbox=chroot -f ;;
	*) # The Rust daemon. Announced submounts would be "remote" to overlayfs.
		set -- --socket-path="$socket" --shared-dir "$dir" --cache="$cache" \
			--sandbox=chroot --no-announce-submounts ;;
	esac
	set -- "$virtiofsd" "$@"
	# Without root, the daemon is root in a user namespace of its own, with a /run for its pid file.
	# Files of other users show up as nobody's, and are as readable as they are to the caller.
	[ "$(id -u)" -eq 0 ] || set -- unshare --map-root-user --mount sh -c \
		'mount -t tmpfs tmpfs /run && exec "$@"' sh "$@" "--rlimit-nofile=$(ulimit -Hn)"
	(lab_detach "$@") </dev/null >"$log" 2>&1 &
	pid=$!
	daemons+=("$pid")
	for ((i = 0; i < 250; i++)); do
		[ -S "$socket" ] && return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.02
	done
	die "virtiofsd does not serve $dir:" "$(tail -n 3 "$log")"
}

# lab_files: fills the array `files` with QEMU's arguments for the host's directories.
lab_files()
{
	local i
	if [ -z "$virtiofsd" ]; then
		files=(-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
			-device virtio-9p-pci,fsdev=root,mount_tag=root)
		for i in "${!shares[@]}"; do
			files+=(-fsdev "local,id=share$i,path=${shares[i]//,/,,},security_model=none,multidevs=remap"
				-device "virtio-9p-pci,fsdev=share$i,mount_tag=share$i")
		done
		return
	fi
	# The host's root does not change under a run, as far as the guest must know; a share may.
	lab_serve root / always
	files=(-object "memory-backend-memfd,id=mem,size=$mem,share=on" -machine memory-backend=mem
		-chardev "socket,id=root,path=$work/root.sock"
		-device vhost-user-fs-pci,chardev=root,tag=root)
	for i in "${!shares[@]}"; do
		lab_serve "share$i" "${shares[i]}" auto
		files+=(-chardev "socket,id=share$i,path=$work/share$i.sock"
			-device "vhost-user-fs-pci,chardev=share$i,tag=share$i")
	done
}

# lab_accel NAME: fills the array `accel`.
lab_accel()
{
	case $1 in
	kvm) accel=(-accel kvm -cpu host) ;;
	tcg) accel=(-accel tcg,thread=multi -cpu max) ;;
	# One host thread, time counted in instructions: 500 a microsecond.
	virtual) accel=(-accel tcg,thread=single -cpu max -icount shift=1,sleep=off
		-rtc base=2025-01-01T00:00:00,clock=vm -seed 1) ;;
	esac
}

# lab_port NAME CHARDEV...: appends one virtio-serial port to the array `ports`.
lab_port()
{
	ports+=(-chardev "$2,id=$1" -device "virtserialport,chardev=$1,name=cozk.$1")
}

# lab_start ACCEL: starts the machine; its process id is in `qemu`.
lab_start()
{
	local words fs=virtiofs
	local -a files=() accel=() ports=()
	[ -n "$virtiofsd" ] || fs=9p
	lab_accel "$1"
	lab_files
	lab_port ctl "file,path=$work/ctl"
	lab_port sig "pipe,path=$work/sig"
	lab_port out "file,path=$work/out"
	lab_port err "file,path=$work/err"
	[ -z "$stdin_end" ] || lab_port in stdio,signal=off
	words="console=ttyS0 panic=-1 oops=panic loglevel=4 watchdog_thresh=30 cryptomgr.notests"
	words+=" random.trust_cpu=on cozk.fs=$fs cozk.modules=$MODULES"
	case $1 in
	kvm) words+=" loglevel=7 earlyprintk=ttyS0" ;;
	*) words+=" nokaslr mitigations=off no_timer_check tsc=reliable" ;;
	esac
	[ "$1" != virtual ] || words+=" norandmaps"
	# overlayfs opens with O_NOATIME, which the host allows to a file's owner and to root only.
	[ "$(id -u)" -eq 0 ] || words+=" cozk.overlay=no"
	words+=" $append"
	set -- -M q35 "${accel[@]}" -m "$mem" -smp "$smp" -nodefaults -no-user-config -no-reboot \
		-display none -kernel "$VMLINUX" -initrd "$work/initrd" -append "$words" \
		-chardev "file,id=con,path=$work/console,append=on" -serial chardev:con \
		-chardev "pipe,id=mon,path=$work/mon" -mon chardev=mon,mode=readline \
		-device virtio-serial-pci,max_ports=8 "${ports[@]}" "${files[@]}"
	(
		exec </dev/null >"$work/qemu.log" 2>&1
		[ -z "$stdin_end" ] || exec <&"$stdin_end"
		lab_detach qemu-system-x86_64 "$@"
	) &
	qemu=$!
}
