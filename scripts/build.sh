#!/usr/bin/env bash
# scripts/build.sh [--brief] [--target NAME] PRESET JOBS [CMAKE-OPTION...]: configures build/PRESET
# when needed, and builds it, or one target of it. What configuring said is shown only if it failed.
# --brief: one line for each tenth of the work instead of one for each file; errors and warnings are
# shown as ever.
set -euo pipefail
cd "$(dirname "$0")/.."
show=(cat)
target=()
while [ $# -gt 0 ]; do
  case $1 in
    --brief) show=(awk -f scripts/brief.awk) ;;
    --target)
      target=(--target "$2")
      shift
      ;;
    *) break ;;
  esac
  shift
done
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
cmake --build "$directory" --parallel "$jobs" "${target[@]}" | "${show[@]}"
