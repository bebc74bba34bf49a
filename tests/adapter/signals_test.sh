#!/usr/bin/env bash
# Signal handlers that act on covered files, at any moment: nothing waits for itself, nothing is
# lost.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
# Its memory functions wait for themselves in a handler; in other builds the adapter brings its own.
[[ "${CAIRN_SANITIZE:-}" != *address* ]] ||
  { echo "AddressSanitizer's allocator is not for handlers"; exit 77; }
for program in signals forks; do
  both "$CAIRN_TEST_DIR/adapter/${program}_program 3 2> $scratch/figures &&
      cat $scratch/figures >> $scratch/all
    rm -f log main alarm user shared other handled kept child"
done
cat "$scratch/all"
both "for i in \$(seq 30); do
    timeout 20 $CAIRN_TEST_DIR/adapter/first_call_program || echo \$?
  done; cat first"
