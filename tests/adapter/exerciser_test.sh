#!/usr/bin/env bash
# The same random calls in a covered directory and in a plain one. CAIRN_TEST_SEED repeats a run.
# shellcheck source=tests/adapter/exercise.sh
source "$(dirname "$0")/exercise.sh"
exercise 20
