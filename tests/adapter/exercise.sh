# shellcheck shell=bash
# exercise SECONDS: half with one process, half with three.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "${BASH_SOURCE[0]}")/both.sh"

exercise() {
  local seed=${CAIRN_TEST_SEED:-$(date +%s)} seconds=$1 processes
  local program=$CAIRN_TEST_DIR/adapter/exerciser/exerciser_program
  for processes in 1 3; do
    rm -rf "$scratch/work" "$scratch/plain"
    mkdir "$scratch/work" "$scratch/plain"
    echo "$processes process(es), CAIRN_TEST_SEED=$seed"
    "$covered" "$scratch/pool" 256 "$scratch/work" \
      "$program" "$scratch/work" "$scratch/plain" $((seconds / 2)) "$seed" "$processes"
    # Drained, it is the same tree.
    diff -r --no-dereference "$scratch/work" "$scratch/plain"
  done
}
