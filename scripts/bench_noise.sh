#!/usr/bin/env bash
# Measures how often `cairn bench` calls equal systems different, and writes docs/results/noise.md.
#
#   scripts/bench_noise.sh [RUNS]      default 2 runs of the matrix `noise`, some minutes each
#
# Run it on a quiet machine, with everything committed.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-2}
target=docs/results/noise.md
cairn=$PWD/build/release/bin/cairn

if [ -n "$(git status --porcelain -- . ":(exclude)$target")" ]; then
  echo "bench_noise.sh: the tree has changes that are not committed;" \
    "the page could not name what ran" >&2
  exit 1
fi
mkdir -p build/bench
made=$(mktemp -d build/bench/noise-XXXXXX)
trap 'rm -rf "$made"' EXIT
for ((run = 1; run <= runs; run++)); do
  "$cairn" bench run noise --output "$made/$run"
done
PYTHONPATH=bench/python python3 -B scripts/bench_noise.py \
  "$(git rev-parse --short=12 HEAD)" "$made"/[0-9]* > "$made/page"
mv "$made/page" "$target"
echo "$target"
