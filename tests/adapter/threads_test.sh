#!/usr/bin/env bash
# Threads that open and close files while others start programs: each program starts, and no file is
# lost. Files that others are renamed over all the time are always there.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
both "$CAIRN_TEST_DIR/adapter/threads_program 4; rm -f file? signal"
both "$CAIRN_TEST_DIR/adapter/replaced_program; rm file"
echo "threads: as on a plain directory"
