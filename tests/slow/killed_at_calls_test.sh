#!/usr/bin/env bash
# A process that drains files and evicts them is killed at every system call it makes, when the call
# begins and when it ends; what is in the pool and in lower is compared byte by byte each time.
set -euo pipefail
CAIRN_KILL_STRIDE=1 "$CAIRN_TEST_DIR/tier/drain_and_evict_test" \
  --gtest_filter='*KilledAtAnySystemCall*'
