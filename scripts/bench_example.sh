#!/usr/bin/env bash
# Makes the example report of `cairn bench`: raw data, page, and a text that names machine and
# commit.
#
#   scripts/bench_example.sh [MATRIX]
#
# MATRIX is tokio-abc-small if it is not given. Results go to docs/results/example.
#
# The directory of the disk system is build/bench. Run it on a quiet machine, with everything
# committed.
set -euo pipefail
cd "$(dirname "$0")/.."
matrix=${1:-tokio-abc-small}
target=docs/results/example
most_bytes=$((2 << 20))
cairn=$PWD/build/release/bin/cairn

if [ -n "$(git status --porcelain -- . ":(exclude)$target")" ]; then
  echo "bench_example.sh: the tree has changes that are not committed;" \
    "the report could not name what ran" >&2
  exit 1
fi
commit=$(git rev-parse --short=12 HEAD)
mkdir -p build/bench
made=$(mktemp -d build/bench/example-XXXXXX)
trap 'rm -rf "$made"' EXIT
(cd build/bench && "$cairn" bench run "$matrix" --output "../../$made/run")
bytes=$(cat "$made"/run/* | wc -c)
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "bench_example.sh: the report has $bytes bytes, more than $most_bytes;" \
    "choose a smaller matrix" >&2
  exit 1
fi
mkdir -p "$target"
for file in results.jsonl report.html; do
  sed "s|$PWD|/home/user/cairn|g" "$made/run/$file" > "$target/$file"
done
machine=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
cat > "$target/README.md" << TEXT
# An example report of \`cairn bench\`

\`make bench-example\` made this from commit $commit, on $(date -u +%Y-%m-%d). Open
[report.html](report.html) in a browser; it needs no network. [results.jsonl](results.jsonl) has
every repetition ([format](../../user/bench-results.md)).

- Machine: ${machine:-unknown processor}, $(nproc) processors, Linux $(uname -r).
- Matrix: \`$matrix\`; the page says its rounds and sizes.
- The directory of the checkout is written as \`/home/user/cairn\`.
- To repeat it: \`cairn bench run $matrix\`; the page has the command of each cell.
TEXT
echo "$target: $bytes bytes of results and page"
