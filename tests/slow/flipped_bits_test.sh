#!/usr/bin/env bash
# 20,000 flipped bits (CAIRN_FLIPS), in one process: at most 20 minutes.
set -euo pipefail
export CAIRN_FLIPS=${CAIRN_FLIPS:-20000}
"$CAIRN_TEST_DIR/damage/flipped_bits_test"
