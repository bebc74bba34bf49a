#!/usr/bin/env bash
# scripts/build.sh PRESET JOBS [CMAKE-OPTION...]: configures build/PRESET when needed, and builds it.
# Quiet when all is well: what configuring said is shown only if it failed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2

directory=build/$preset
if [ ! -f "$directory/build.ninja" ] || [ $# -gt 0 ]; then
  mkdir -p "$directory"
  if ! cmake --preset "$preset" "$@" > "$directory/configure.log" 2>&1; then
    cat "$directory/configure.log" >&2
    exit 1
  fi
fi
cmake --build "$directory" --parallel "$jobs"
