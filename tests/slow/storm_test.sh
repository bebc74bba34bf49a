#!/usr/bin/env bash
# The storm of killed processes for ten minutes (CAIRN_STORM_SECONDS).
set -euo pipefail
export CAIRN_STORM_SECONDS=${CAIRN_STORM_SECONDS:-600}
"$CAIRN_TEST_DIR/stress/storm_test"
