#!/usr/bin/env bash
# tests/adapter/exerciser_test.sh for five minutes.
# shellcheck source=tests/adapter/exercise.sh
source "$(dirname "$0")/../adapter/exercise.sh"
exercise 300
