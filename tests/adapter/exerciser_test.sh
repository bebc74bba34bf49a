#!/usr/bin/env bash
# The same random calls in a covered directory and in a plain one: always the same here, others each
# time in tests/slow/adapter_exerciser_test.sh. CAIRN_TEST_SEED takes another sequence.
# shellcheck source=tests/adapter/exercise.sh
source "$(dirname "$0")/exercise.sh"
export CAIRN_TEST_SEED=${CAIRN_TEST_SEED:-11}
exercise 20
