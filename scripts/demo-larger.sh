#!/usr/bin/env bash
# make demo-larger: checkpoints in 1 MiB pieces on a slow parallel file system, with and without
# Cairn, and more data than the pool holds.
#
#   scripts/demo-larger.sh [--rounds N] [--scale X] [--page FILE]
#
# CAIRN_BIN_DIR: where the built command lies.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/demo/larger.py" "$@"
