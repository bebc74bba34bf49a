#!/usr/bin/env bash
# The table in the documentation is the list of calls; the library exports what the list says, no more.
set -euo pipefail
cd "${CAIRN_SOURCE_DIR:-$(dirname "$0")/../..}"
python3 -B adapters/posix/make_calls_table.py --check

library=${CAIRN_LIB_DIR:-}/libcairn_posix.so
[ -e "$library" ] || { echo "$library is not built"; exit 77; }
listed=$(sed -nE 's/^(SERVED|ALIAS|REFUSED)\([^(]*[ ,*]([A-Za-z_0-9]+), \(.*/\2/p; s/^VARIADIC\([a-z]+, (\w+)\).*/\1/p' \
  adapters/posix/calls.def | LC_ALL=C sort)
exported=$(nm -D --defined-only --format=posix "$library" | awk '$2 != "A" { print $1 }' | LC_ALL=C sort)
diff <(echo "$listed") <(echo "$exported") || { echo "exports differ from calls.def"; exit 1; }
echo "$(echo "$listed" | wc -l) calls"
