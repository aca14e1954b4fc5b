#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules of the tree that a machine can check.
set -u

here=$(cd -- "$(dirname -- "$0")" && pwd)
. "$here/../tap.sh"
cd "$here/../.." || exit 1

# Without git (a source archive) every file below here counts, except what was built.
files()
{
	git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path './build/*' | sed 's|^\./||'
}

no_spdx=$(files | grep -E '\.(c|h|sh|t|py|js|mk)$|^(Makefile|Kbuild|scripts/|lab/)' | while read -r f; do
	[ -f "$f" ] && ! head -n 3 "$f" | grep -q SPDX-License-Identifier && echo "$f"
done)
is "every source has an SPDX line" "$no_spdx" ""

# A table of test cases may be longer than what it tests.
long=$(files | grep -E '\.(c|h|sh|t|py)$' | while read -r f; do
	case $f in tests/*) limit=900 ;; *) limit=500 ;; esac
	[ -f "$f" ] && n=$(wc -l <"$f") && [ "$n" -gt "$limit" ] && echo "$f: $n lines"
done)
is "no source file is longer than 500 lines, no test longer than 900" "$long" ""

functions=$(files | grep -E '\.c$' | xargs awk '
	FNR == 1   { start = 0 }
	/^\{/      { start = FNR }
	/^\}/      { if (start && FNR - start > 100) print FILENAME ":" start ": " FNR - start " lines"; start = 0 }')
is "no function is longer than 100 lines" "$functions" ""

wide=$(files | grep -E '^(module|include|libcoz-lite)/.*\.[ch]$' | xargs awk '
	{ line = $0; gsub(/\t/, "        ", line); if (length(line) > 100) print FILENAME ":" FNR }')
is "module, uapi and library lines are at most 100 columns wide" "$wide" ""

versions=$(grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION' -r module include)
is "no kernel version is tested" "$versions" ""

conditions=$(grep -lE 'COZK_HAVE_' -r module --include='*.[ch]' | grep -vE '^module/(compat\.h|probes/)')
is "kernel differences live in compat.h alone" "$conditions" ""

volatile=$(grep -nw volatile -r include)
is "no volatile in shared structs" "$volatile" ""

printk=$(grep -nE '\bprintk\(' -r module)
is "the module speaks through pr_*" "$printk" ""

spaces=$(files | grep -E '\.(c|h|sh|t|md|mk)$' | xargs grep -nE '[ 	]+$' | cut -d: -f1,2)
is "no line ends in white space" "$spaces" ""

if command -v clang-format >/dev/null; then
	unformatted=$(files | grep -E '\.[ch]$' | xargs clang-format --dry-run 2>&1 | grep -o '^[^ :]*:[0-9]*' | sort -u)
	is "clang-format has nothing to say" "$unformatted" ""
else
	skip "clang-format has nothing to say" "no clang-format (scripts/deps test)"
fi

done_testing
