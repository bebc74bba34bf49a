#!/usr/bin/env bash
# libFuzzer with AddressSanitizer on pool images, structure-aware, for seven and a half minutes
# (CAIRN_FUZZ_SECONDS), and a third of that on records of checkpoints, in a build of its own:
# build/fuzz, as `make fuzz` makes it.
set -euo pipefail
command -v clang++ > /dev/null || { echo "no clang++ (scripts/setup.sh dev installs it)"; exit 77; }
build=${CAIRN_FUZZ_DIR:-$CAIRN_SOURCE_DIR/build/fuzz}
cd "$CAIRN_SOURCE_DIR"
if [ ! -f "$build/build.ninja" ]; then
  cmake --preset fuzz -B "$build" > /dev/null
fi
cmake --build "$build" --target fuzz_pool_image fuzz_checkpoint > "$build/fuzz-build.log" 2>&1 ||
  { cat "$build/fuzz-build.log"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/corpus"
# Scripts of one to three changes to begin with: an empty one finds its length slowly.
for i in $(seq 48); do head -c $((12 * (i % 3 + 1))) /dev/urandom > "$scratch/corpus/seed$i"; done
run() { # PROGRAM SECONDS OPTION...
  local program=$1 seconds=$2
  shift 2
  if ! "$build/fuzz/$program" -max_total_time="$seconds" -timeout=60 -len_control=0 \
    -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$build/" "$@" \
    > "$scratch/log" 2>&1; then
    tail -60 "$scratch/log"
    exit 1
  fi
  grep -E '^stat::|^Done|seed' "$scratch/log" | head -20
}
seconds=${CAIRN_FUZZ_SECONDS:-450}
run fuzz_pool_image "$seconds" -max_len=192 "$scratch/corpus"
mkdir "$scratch/records"
# One of each kind, and an empty one as it should be.
for kind in 0 1 2 3 4 5 6; do
  printf '%b' "\\x0$kind" > "$scratch/records/empty$kind"
  { printf '%b' "\\x0$kind"; head -c 30 /dev/urandom; } > "$scratch/records/seed$kind"
done
run fuzz_checkpoint "$((seconds / 3))" -max_len=1024 "$scratch/records"
