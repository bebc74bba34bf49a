#!/usr/bin/env bash
# A program under Valgrind uses covered files, and Valgrind reports nothing of the library.
set -euo pipefail
command -v valgrind > /dev/null || { echo "Valgrind is not installed"; exit 77; }
[ -z "${CAIRN_SANITIZE:-}" ] || { echo "Valgrind runs no sanitized library"; exit 77; }
memory=$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)
scratch=$(mktemp -d "$memory/cairn-valgrind-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/work"
cd "$scratch/work"
"$CAIRN_TEST_DIR/adapter/covered_program" "$scratch/pool" 64 "$scratch/work" \
  valgrind --error-exitcode=9 --log-file="$scratch/log" \
  "$CAIRN_TEST_DIR/adapter/calls/data_program" data < /dev/null > "$scratch/out" || {
  cat "$scratch/log"
  exit 1
}
[ -s "$scratch/out" ]
grep 'sigprocmask' "$scratch/log" && exit 1
echo "valgrind: no report"
