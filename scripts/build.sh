#!/usr/bin/env bash
# scripts/build.sh [--brief] [--target NAME] PRESET JOBS [CMAKE-OPTION...]: configures build/PRESET,
# so that it sees what is installed now, and builds it, or one target of it. What configuring said
# is shown only if it failed. --brief: one line for each tenth of the work instead of one for each
# file; errors and warnings are shown as ever.
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
# `sudo make install`: the build stays its owner's. Root's PATH may lack the MPIs that it has found,
# and root's files in it would stop the owner's next `make`.
if [ "$(id -u)" = 0 ] && [ -f "$directory/build.ninja" ] && [ ! -O "$directory" ]; then
  owner=$(stat -c %u "$directory")
  as_owner=(env "HOME=$(getent passwd "$owner" | cut -d: -f6)"
    setpriv "--reuid=$owner" "--regid=$(stat -c %g "$directory")" --clear-groups)
else
  as_owner=()
  mkdir -p "$directory"
  if ! cmake --preset "$preset" "$@" > "$directory/configure.log" 2>&1; then
    cat "$directory/configure.log" >&2
    exit 1
  fi
fi
"${as_owner[@]}" cmake --build "$directory" --parallel "$jobs" "${target[@]}" | "${show[@]}"
