#!/usr/bin/env bash
# The crash histories with many images of each crash point, more than a million in all, and the
# mutation test: each flush and fence taken out in turn must make a history fail.
set -euo pipefail
CAIRN_CRASH_IMAGES=${CAIRN_CRASH_IMAGES:-1500} "$CAIRN_TEST_DIR/crash/crash_test"
CAIRN_CRASH_IMAGES=${CAIRN_MUTATION_IMAGES:-300} "$CAIRN_TEST_DIR/crash/mutation_program"
