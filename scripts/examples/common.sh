# SPDX-License-Identifier: GPL-2.0-or-later
# What the worked examples share: Debian's source packages, and a profiled run here or in the lab.
# Sourced by a script that has set `example` to its name. Everything lands in build/examples/NAME.

top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
out=$top/build/examples/$example
in_lab='' update='' seconds=''

die()
{
	printf '%s: %s\n' "$example" "$*" >&2
	exit 1
}

usage()
{
	cat <<-END
	Usage: scripts/examples/$example [--in-lab] [--duration SECONDS] [--update-docs]

	$1 The result is in build/examples/$example.

	  --in-lab            use the lab even where this kernel has the module
	  --duration SECONDS  of profiling (default $seconds)
	  --update-docs       put the output into docs/examples/$example.md
	END
}

# parse_options ABOUT ARGUMENTS...
parse_options()
{
	local about=$1
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--in-lab) in_lab=1 ;;
		--duration) [ $# -ge 2 ] || die "--duration needs a number of seconds"; seconds=$2; shift ;;
		--update-docs) update=1 ;;
		-h | --help) usage "$about"; exit 0 ;;
		*) usage "$about" >&2; exit 2 ;;
		esac
		shift
	done
	[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--duration '$seconds' is no number of seconds"
}

# need COMMAND=PACKAGE...: installs the packages whose commands are missing.
need()
{
	local pair missing=() sudo=()
	for pair; do
		command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" -eq 0 ] || sudo=(sudo)
	echo "$example: installing ${missing[*]}" >&2
	"${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
		die "apt-get could not install: ${missing[*]}"
}

# deb_src FILE: the source side of what FILE, of apt's own configuration, names.
deb_src()
{
	case $1 in
	*.sources) sed 's/^Types:.*/Types: deb-src/' "$1" ;;
	*) sed -n 's/^deb[[:space:]]/deb-src /p' "$1" ;;
	esac
}

# private_apt COMMAND...: apt-get with lists of its own, so that the system's stay as they are.
private_apt()
{
	apt-get -qq -o Dir::State::lists="$out/apt/lists" -o Dir::Cache="$out/apt/cache" \
		-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$out/apt/sources" \
		-o APT::Sandbox::User=root "$@"
}

prepare_apt()
{
	local file
	mkdir -p "$out/apt/lists/partial" "$out/apt/cache/archives/partial" "$out/apt/sources"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		if [ -s "$file" ]; then
			deb_src "$file" >"$out/apt/sources/${file##*/}"
		fi
	done
	# Archives of others may have no sources: whether ours came is seen by whoever needs them.
	private_apt update >"$out/apt/log" 2>&1 || :
}

# fetch PACKAGE: unpacks Debian's source package into $out/PACKAGE, patches applied.
fetch()
{
	[ -d "$out/$1" ] && return
	[ -d "$out/apt/sources" ] || prepare_apt
	echo "$example: fetching the source of $1" >&2
	rm -rf "$out/fetch"
	mkdir -p "$out/fetch"
	(cd "$out/fetch" && private_apt source "$1") >>"$out/apt/log" 2>&1 ||
		{ tail -n 5 "$out/apt/log" >&2; die "apt-get source $1 failed (build/examples/$example/apt/log)"; }
	mv "$out/fetch"/*/ "$out/$1"
	rm -rf "$out/fetch"
}

# replace_once FILE SED-SCRIPT TEXT: edits FILE, then insists that TEXT is in it exactly once.
replace_once()
{
	sed -i "$2" "$1"
	[ "$(grep -cF -- "$3" "$1")" -eq 1 ] ||
		die "${1##*/} is not as expected: the edit that brings '$3' did not apply once"
}

build_cozk()
{
	make -s -C "$top" userspace lib >&2
}

# shown WORDS...: as one would type them here; of many equal words at the end one is shown.
shown()
{
	local word last='' text=''
	for word; do
		if [ "$word" = "$last" ]; then
			text=${text%...}...
			continue
		fi
		last=$word
		case $word in
		*[!A-Za-z0-9_@%+=:,./-]*) text+=" '$word'" ;;
		*) text+=" $word" ;;
		esac
	done
	printf '%s' "$text" | sed "s|$top/build/examples/$example/||g"
}

# begin, profile..., finish: the output takes the place of the last one when all of it is there.
begin()
{
	: >"$out/output.new"
}

# profile OPTIONS-OF-COZK-RUN... -- PROGRAM...: the command and its table are added to the output, with paths
# shown from the top of the source tree. $ended_by_us is the program's status when --duration ends it; with
# $report_all the table has what is not told from noise, too.
ended_by_us=0 report_all=''
profile()
{
	local run=(build/bin/cozk run --quiet --truncate -o "build/examples/$example/profile.jsonl" "$@") status=0

	cd "$top"
	if [ -n "$in_lab" ] || [ ! -e /dev/cozk ]; then
		[ -e build/lab/kernels/6.12.env ] || scripts/kernels 6.12 >&2
		. build/lab/kernels/6.12.env
		scripts/build-module "$KDIR" >&2
		run=(lab/boot --no-stdin --share "$out" -- "${run[@]}")
	fi
	echo "$example: profiling" >&2
	"${run[@]}" >"$out/table" 2>"$out/errors" || status=$?
	if [ "$status" -ne 0 ] && [ "$status" -ne "$ended_by_us" ]; then
		cat "$out/errors" >&2
		die "the profiled run ended with status $status"
	fi
	{
		[ ! -s "$out/output.new" ] || echo
		printf '$ cozk run'
		shown "$@"
		printf '\n'
		if [ -n "$report_all" ]; then
			echo '$ cozk report --all'
			build/bin/cozk report --all -i "$out/profile.jsonl" >"$out/table"
		fi
		sed "s|$top/||g" "$out/table"
	} | tee -a "$out/output.new"
}

finish()
{
	mv "$out/output.new" "$out/output"
	[ -z "$update" ] || "$top/scripts/update-docs" "examples/$example"
}
