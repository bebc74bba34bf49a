#!/usr/bin/env bash
# Each flush and fence of the engine taken out in turn must make a history, or two calls that
# overlap, fail.
set -euo pipefail
CAIRN_CRASH_IMAGES=${CAIRN_CRASH_IMAGES:-60} "$CAIRN_TEST_DIR/crash/mutation_program"
