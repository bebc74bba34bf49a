#!/usr/bin/env bash
# Calls of every kind, one after the other: the same results as in a plain directory.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
program=$CAIRN_TEST_DIR/adapter/calls_program
for part in data opening duplicates names attributes directories mappings locking waiting streams standard \
  processes; do
  both "$program $part"
done
echo "calls: as on a plain directory"
