#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the documentation names exists, and what must be documented is.
set -u

here=$(cd -- "$(dirname -- "$0")" && pwd)
. "$here/../tap.sh"
cd "$here/../.." || exit 1
shopt -s nullglob

pages=(README.md CONTRIBUTING.md docs/*.md docs/*/*.md)

# paths_in FILE: words that begin with a folder of this tree, without what is not a path any more.
paths_in()
{
	grep -oE '(^|[^A-Za-z0-9_./-])(userspace|module|include|libcoz-lite|lab|tests|scripts|docs|udev|LICENSES)/[A-Za-z0-9_.*/-]*' "$1" |
		sed -E 's/^[^a-zL]//; s/[.]+$//' | sort -u
}

# Links are relative to the page that they are in.
links_in()
{
	grep -oE '\]\([^)#]+' "$1" | sed 's/^](//' | grep -v '://' | sort -u
}

missing_paths()
{
	local path found
	while read -r path; do
		# shellcheck disable=SC2206
		found=($path)
		[ ${#found[@]} -gt 0 ] && [ -e "${found[0]}" ] || echo "$path"
	done < <(paths_in "$1")
}

missing_links()
{
	local link
	while read -r link; do
		[ -e "$(dirname "$1")/$link" ] || echo "$link"
	done < <(links_in "$1")
}

total=0
for page in "${pages[@]}"; do
	is "every path in $page exists" "$(missing_paths "$page")" ""
	is "every link in $page leads somewhere" "$(missing_links "$page")" ""
	total=$((total + $(paths_in "$page" | wc -l)))
done
ok "the pages name paths" [ "$total" -gt 100 ]

# undocumented FILE WORD...: words that FILE does not hold.
undocumented()
{
	local file=$1 word
	shift
	for word; do
		grep -qwF -- "$word" "$file" || echo "$word"
	done
}

# shellcheck disable=SC2046
{
	names=$(grep -ohE '\b(COZK_IOC_[A-Z]+|COZK_RECORD_[A-Z]+|COZK_SAMPLE_[A-Z]+|COZK_END_[A-Z]+|COZK_POINT_(THROUGHPUT|BEGIN|END)|COZK_(CMD|ATTR)_[A-Z_]+|COZK_FEATURE_[A-Z_]+|COZK_(CLIENT|SAMPLING)_[A-Z]+|struct cozk_[a-z_]+)' include/uapi/*.h |
		sed 's/^struct //' | grep -vE '^(COZK_IOC_MAGIC|COZK_(CMD|ATTR)_MAX)$' | sort -u)
	ok "the headers hold ioctls, records and attributes" [ "$(printf '%s\n' $names | wc -l)" -gt 60 ]
	is "docs/uapi.md has every ioctl, struct, record, flag, command and attribute" \
		"$(undocumented docs/uapi.md $names)" ""

	keys=$(grep -ohE 'put_(text|uint|int)\(out, "[a-z_]+"|\\"[a-z_]+\\":' userspace/profile_write.c |
		grep -oE '"[a-z_]+' | tr -d '"' | sort -u)
	types=$(grep -ohE 'begin_record\(out, "[a-z-]+"' userspace/profile_write.c | grep -oE '"[a-z-]+' | tr -d '"' | sort -u)
	ok "the writer of profiles has keys" [ "$(printf '%s\n' $keys | wc -l)" -gt 40 ]
	is "docs/profile-format.md has every record type and key" \
		"$(undocumented docs/profile-format.md $types $keys)" ""
}

statuses=$(sed -nE 's/^\tCOZK_EXIT_[A-Z_]+ = ([0-9]+),.*/\1/p' userspace/diag.h | sort -n)
documented=$(sed -n '/^\.SH EXIT STATUS/,/^\.SH FILES/p' docs/man/cozk.1 | sed -nE 's/^\.B ([0-9]+)$/\1/p' | sort -n)
is "cozk(1) has the exit statuses of userspace/diag.h" "$documented" "$statuses"

is "README.md begins with the two commands" "$(head -n 2 README.md | grep -oE '^    scripts/[a-z]+' | xargs)" \
	"scripts/demo scripts/check"

machine=$(grep -nE '(^|[^A-Za-z])/(home|root|work)/' "${pages[@]}" docs/man/*)
is "no page holds a path of the machine it was written on" "$machine" ""

unlicensed=$(git ls-files 2>/dev/null | grep -E '\.(c|h|sh|t|py)$' | xargs grep -ohE 'SPDX-License-Identifier: [A-Za-z0-9. -]+' |
	sed -E 's/.*: //; s/ +$//; s/ WITH /\n/' | sort -u | while read -r id; do
	# The kernel's short name for GPL-2.0-only.
	[ "$id" = GPL-2.0 ] && id=GPL-2.0-only
	[ -s "LICENSES/$id.txt" ] || echo "$id"
done)
is "LICENSES/ has the text of every licence that is named" "$unlicensed" ""

done_testing
