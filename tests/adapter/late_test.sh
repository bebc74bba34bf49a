#!/usr/bin/env bash
# Who looks at a covered directory when the run is over, and its pool gone, finds an ordinary
# directory; a claim says that it is not over, and then nothing is read past the pool.
set -euo pipefail
library=${CAIRN_LIB_DIR:-}/libcairn_posix.so
[ -e "$library" ] || { echo "$library is not built"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/dir"
echo drained > "$scratch/dir/file"

late() { LD_PRELOAD=$library CAIRN_COVER=$scratch/dir CAIRN_POOL=$scratch/no-pool "$@"; }

[ "$(late cat "$scratch/dir/file")" = drained ]
late sh -c "echo late > '$scratch/dir/new'
  cd '$scratch/dir' && echo more >> new && ls && mv new newer"
[ "$(cat "$scratch/dir/newer")" = $'late\nmore' ]
[ "$(cd "$scratch/dir" && late cat newer)" = $'late\nmore' ]
[ "$(late realpath "$scratch/dir/../dir/newer")" = "$scratch/dir/newer" ]

echo claimed > "$scratch/dir/.cairn-claim"
if late cat "$scratch/dir/file" 2> "$scratch/error"; then
  echo "read past the pool of a claimed directory"
  exit 1
fi
grep -q "covered files cannot be reached" "$scratch/error" || { cat "$scratch/error"; exit 1; }
echo "late processes find what is there"
