#!/usr/bin/env bash
# The table in the documentation is the list of calls; the library exports what the lists say, no
# more.
set -euo pipefail
cd "${CAIRN_SOURCE_DIR:-$(dirname "$0")/../..}"
python3 -B adapters/posix/make_calls_table.py --check

library=${CAIRN_LIB_DIR:-}/libcairn_posix.so
[ -e "$library" ] || { echo "$library is not built"; exit 77; }
listed=$(sed -nE -e 's/^(SERVED|ALIAS|REFUSED)\([^(]*[ ,*]([A-Za-z_0-9]+), \(.*/\2/p' \
  -e 's/^VARIADIC\([a-z]+, (\w+)\).*/\1/p' adapters/posix/*/calls.def)
# MPI-IO's names are in a list of their own, each with and without the P of the profiling interface.
listed+=$'\n'$(sed -nE -e 's/^(PLAIN|CALL|SMALL)\((\w+),.*/MPI_\2\nPMPI_\2/p' \
  -e 's/^LARGE\((\w+),.*/MPI_\1_c\nPMPI_\1_c/p' adapters/mpiio/calls.def)
listed=$(LC_ALL=C sort <<< "$listed")
exported=$(nm -D --defined-only --format=posix "$library" | awk '$2 != "A" { print $1 }' |
  LC_ALL=C sort)
diff <(echo "$listed") <(echo "$exported") || { echo "exports differ from the lists"; exit 1; }
echo "$(echo "$listed" | wc -l) calls"
