#!/usr/bin/env bash
# make demo: a parallel program with checkpoints, then fio, git and SQLite, unchanged, with and
# without Cairn.
#
#   scripts/demo.sh [--rounds N] [--scale X] [--page FILE]
#
# CAIRN_BIN_DIR: where the built command lies.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/demo" "$@"
