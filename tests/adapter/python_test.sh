#!/usr/bin/env bash
# Python's own tests of files, run in a covered directory: each passes that passes on a plain one.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
python=$(python3 -c 'import sys; print(sys.executable)')
"$python" -c 'import test.test_fileio' 2> /dev/null || { echo "Python without its tests"; exit 77; }

# What failed, and how many ran and were skipped.
results() {
  grep -aE '^(FAIL|ERROR): |^Ran |^Total tests' "$1" | sed -E 's/ in [0-9.]+s$//' | sort
}

run() {
  for way in plain covered; do
    rm -rf "$scratch/work" && mkdir "$scratch/work"
    command=("$python" -m test -v --tempdir="$scratch/work" "$@")
    [ $way = plain ] || command=("$covered" "$scratch/pool" 5000 "$scratch/work" "${command[@]}")
    # Some tests fail on a plain directory too: what counts is that both say the same, to the last
    # line.
    (cd "$scratch/work" && TMPDIR=$scratch/work timeout "$patience_s" "${command[@]}") \
      > "$scratch/$way.log" 2>&1 < /dev/null || true
    results "$scratch/$way.log" > "$scratch/$way.results"
  done
  grep -qE 'run=[1-9]' "$scratch/plain.results" ||
    { tail -5 "$scratch/plain.log"; echo "$*: did not run"; exit 1; }
  diff "$scratch/plain.results" "$scratch/covered.results" ||
    { echo "$*: differs from a plain directory"; exit 1; }
}

patience_s=100
modules=(test_fileio test_mmap test_fcntl test_tempfile test_shutil test_os)
if [ -n "${CAIRN_SANITIZE:-}" ]; then  # some ten times slower: the short ones
  patience_s=250
  modules=(test_fileio test_fcntl test_tempfile)
fi
for module in "${modules[@]}"; do
  run "$module"
done
[ -z "${CAIRN_SANITIZE:-}" ] ||
  { echo "Python's short file tests: as on a plain directory"; exit 0; }
# The whole of test_io takes long; most of it is the same for files of any kind.
run test_io -m '*IOTest*' -m '*TextIOWrapperTest*' -m '*BufferedRandomTest*'
echo "Python's file tests: as on a plain directory"
