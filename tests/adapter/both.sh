# shellcheck shell=bash
# For tests that do the same in a plain directory and in a covered one, and compare.
#
#   both SCRIPT [MIB]   runs the bash SCRIPT in DIRECTORY/work twice. What it prints, and the files
#                       that are there afterwards (the covered ones drained), must be the same.
#
# DIRECTORY is the same path both times, so that no difference comes from names.
set -euo pipefail

memory=$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)
scratch=$(mktemp -d "$memory/cairn-adapter-XXXXXX")
trap 'chmod -R u+rwX "$scratch" 2> /dev/null; rm -rf "$scratch"' EXIT
covered=${CAIRN_TEST_DIR:-}/adapter/covered_program
for needed in "$covered" "${CAIRN_LIB_DIR:-}/libcairn_posix.so"; do
  [ -e "$needed" ] || { echo "$needed is not built"; exit 77; }
done
export HOME=$scratch/home LC_ALL=C.UTF-8 TZ=UTC GIT_CONFIG_NOSYSTEM=1
mkdir "$HOME"

# Names, types, modes, sizes, link targets and contents below a directory.
inventory() {
  (cd "$1" && find . -printf '%p %y %m %l\n' | sort &&
    find . -type f -print0 | sort -z | xargs -0 -r sha256sum)
}

both() {
  local script=$1 mib=${2:-256} way status
  for way in plain covered; do
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    status=0
    if [ $way = plain ]; then
      (cd "$scratch/work" && bash -c "$script") \
        > "$scratch/$way.out" 2> "$scratch/$way.err" < /dev/null || status=$?
    else
      (cd "$scratch/work" && "$covered" "$scratch/pool" "$mib" "$scratch/work" bash -c "$script") \
        > "$scratch/$way.out" 2> "$scratch/$way.err" < /dev/null || status=$?
    fi
    echo "exit status $status" >> "$scratch/$way.out"
    inventory "$scratch/work" > "$scratch/$way.files"
  done
  local bad=0
  diff -u "$scratch/plain.out" "$scratch/covered.out" || bad=1
  diff -u "$scratch/plain.err" "$scratch/covered.err" || bad=1
  diff -u "$scratch/plain.files" "$scratch/covered.files" || bad=1
  [ $bad = 0 ] || { echo "differs from a plain directory: $script"; exit 1; }
}
