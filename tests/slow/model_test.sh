#!/usr/bin/env bash
# The exercisers for five minutes (CAIRN_MODEL_SECONDS).
set -euo pipefail
export CAIRN_MODEL_SECONDS=${CAIRN_MODEL_SECONDS:-300}
"$CAIRN_TEST_DIR/model/exerciser_test"
