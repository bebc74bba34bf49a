#!/usr/bin/env bash
# make demo: SQLite, git and fio, unchanged, on Cairn, plain tmpfs and plain disk.
#
#   scripts/demo.sh [--rounds N] [--scale X]     CAIRN_BIN_DIR: where the built command lies
#
# Each program runs in each place in turn, N times; the table shows medians. What Cairn wrote back must be
# byte for byte what the plain runs wrote.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/demo.py" "$@"
