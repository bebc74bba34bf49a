#!/usr/bin/env bash
# Crashes in depth: the short histories with many images of each crash point, overlapping calls
# switched at many more places, and a million images of long random histories. As many processes
# share this as there are processors; CAIRN_JOBS says another number.
set -euo pipefail
jobs=${CAIRN_JOBS:-$(nproc)}
seed=${CAIRN_SEED:-$(date +%s)}
cd "$CAIRN_TEST_DIR/crash"

# dealt|repeated COMMAND...: each process runs its share of the command's tests, or all of them;
# each has its own seed.
side_by_side() {
  local how=$1 i pids=() failed=0
  shift
  for ((i = 0; i < jobs; ++i)); do
    (
      export CAIRN_SEED=$((seed + i))
      [ "$how" = repeated ] || export GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$i
      exec "$@" --gtest_brief=1
    ) &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || failed=1; done
  return "$failed"
}
dealt() { side_by_side dealt "$@"; }
repeated() { side_by_side repeated "$@"; }

# A second kill at each event of many recoveries; which ones depends on the seed.
CAIRN_RECOVERY_STRIDE=27 CAIRN_RECOVERY_KILLS=1000000 dealt ./crash_test --gtest_filter='*Kill*'
CAIRN_CRASH_IMAGES=${CAIRN_CRASH_IMAGES:-200} \
  CAIRN_RECOVERY_STRIDE=${CAIRN_RECOVERY_STRIDE:-200} dealt ./crash_test
CAIRN_INTERLEAVINGS=${CAIRN_INTERLEAVINGS:-30} dealt ./interleaved_test
# A drain and an eviction, killed at every event of theirs and of the call that meets them.
CAIRN_INTERLEAVINGS=${CAIRN_INTERLEAVINGS:-30} CAIRN_CRASH_KILLS=1 dealt ./drain_and_evict_test
CAIRN_LONG_IMAGES=$((${CAIRN_LONG_IMAGES:-1000000} / jobs + 1)) repeated ./long_history_test
