#!/usr/bin/env bash
# Signal handlers that act on covered files, at any moment: nothing waits for itself, nothing is lost.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
program=$CAIRN_TEST_DIR/adapter/signals_program
both "$program 3 2> $scratch/figures && cat $scratch/figures >> $scratch/all; rm -f log main alarm user shared other"
cat "$scratch/all"
