# SPDX-License-Identifier: GPL-2.0-or-later
# Where the lab keeps its files; sourced. Sets cozk_lab_state (kernels, initrds) and
# cozk_module_dir (built modules, one folder per kernel release).

cozk_lab_root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
if [ -d "$cozk_lab_root/include/uapi" ]; then
	cozk_lab_state=${COZK_LAB_STATE:-$cozk_lab_root/build/lab}
	cozk_module_dir=${COZK_MODULE_DIR:-$cozk_lab_root/build/module}
else
	cozk_lab_state=${COZK_LAB_STATE:-${XDG_CACHE_HOME:-${HOME:-/var/cache}/.cache}/cozk/lab}
	cozk_module_dir=${COZK_MODULE_DIR:-$cozk_lab_root/module}
fi
