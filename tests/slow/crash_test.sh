#!/usr/bin/env bash
# Crashes in depth: the short histories with many images of each crash point, overlapping calls switched
# at many more places, and a million images of long random histories.
set -euo pipefail
# A second kill at each event of many recoveries.
CAIRN_RECOVERY_STRIDE=9 CAIRN_RECOVERY_KILLS=1000000 "$CAIRN_TEST_DIR/crash/crash_test" --gtest_filter='*Kill*' --gtest_brief=1
CAIRN_CRASH_IMAGES=${CAIRN_CRASH_IMAGES:-400} CAIRN_RECOVERY_STRIDE=${CAIRN_RECOVERY_STRIDE:-200} \
  "$CAIRN_TEST_DIR/crash/crash_test" --gtest_brief=1
CAIRN_INTERLEAVINGS=${CAIRN_INTERLEAVINGS:-30} "$CAIRN_TEST_DIR/crash/interleaved_test" --gtest_brief=1
CAIRN_LONG_IMAGES=${CAIRN_LONG_IMAGES:-1000000} "$CAIRN_TEST_DIR/crash/long_history_test" --gtest_brief=1
