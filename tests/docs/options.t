#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The OPTIONS of every man page are those of the command's --help, with the same arguments.
set -u

here=$(cd -- "$(dirname -- "$0")" && pwd)
. "$here/../tap.sh"
cd "$here/../.." || exit 1
cozk=build/bin/cozk

[ -x "$cozk" ] || { echo "1..0 # SKIP build/bin/cozk is not built"; exit 1; }

# Both give one option and argument a line, as in "--kernel=NAME", "-q" or "--help", sorted.
split()
{
	tr ',' '\n' | sed -E 's/^ +//; s/ +$//' | sed -nE '
		s/^(--[a-z-]+(=[^ ]+)?)$/\1/p
		s/^(-[A-Za-z?])( [A-Z:|]+)?$/\1/p' | sort -u
}

# argp sets an option off by two to six blanks, and its text by two or more or on the next line; long
# entries can begin again on the next line.
of_help()
{
	"$cozk" "$1" --help | sed -nE 's/^ {1,6}(-.*)$/\1/p' | sed -E 's/ {2,}.*//; s/^(--[^ ]+) [A-Z].*/\1/; s/(=[^ ,]+) [A-Z].*$/\1/' | split
}

# The line after every .TP that begins with an option, without its markup.
of_man()
{
	sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "docs/man/cozk-$1.1" |
		sed -nE '/^\.TP/{n; p}' | sed -E 's/\\f[BIR]//g; s/\\-/-/g' | grep '^-' | split
}

for command in $("$cozk" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
	if [ ! -e "docs/man/cozk-$command.1" ]; then
		is "cozk $command has a man page" "none" "docs/man/cozk-$command.1"
		continue
	fi
	is "cozk-$command(1) and --help have the same options" "$(of_man "$command")" "$(of_help "$command")"
	like "cozk $command has options at all" "$(of_help "$command")" '^--help$'
	ok "cozk(1) names the command $command" grep -q "^.fB$command.fR" docs/man/cozk.1
done

is "cozk(1) and cozk --help have no other commands" \
	"$(sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' docs/man/cozk.1 | sed -nE 's/^\\fB([a-z]+)\\fR$/\1/p' | sort)" \
	"$("$cozk" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | sort)"

if command -v groff >/dev/null; then
	for page in docs/man/*; do
		is "groff finds nothing wrong in ${page##*/}" "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)" ""
	done
else
	skip "man pages are well formed" "groff is not installed"
fi

done_testing
