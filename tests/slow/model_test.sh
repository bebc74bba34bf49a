#!/usr/bin/env bash
# The exercisers for five minutes (CAIRN_MODEL_SECONDS): one process, then several processes and
# threads, then a keeper.
set -euo pipefail
seconds=${CAIRN_MODEL_SECONDS:-300}
CAIRN_MODEL_SECONDS=$seconds "$CAIRN_TEST_DIR/model/exerciser_test"
CAIRN_MODEL_SECONDS=$((seconds / 5)) "$CAIRN_TEST_DIR/model/together_test"
CAIRN_MODEL_SECONDS=$((seconds / 5)) "$CAIRN_TEST_DIR/model/drained_meanwhile_test"
