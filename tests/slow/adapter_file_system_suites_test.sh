#!/usr/bin/env bash
# Test suites of file systems, in a covered directory: fsx (random reads, writes, mappings, holes
# and copies of one file, each read compared) and pjdfstest (what POSIX says of names, modes,
# owners, times and errors; as root all of it). `scripts/setup.sh slow` installs them where there is
# cargo.
home=$HOME
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/../adapter/both.sh"
PATH=$PATH:${CARGO_HOME:-$home/.cargo}/bin
for needed in fsx pjdfstest; do
  command -v $needed > /dev/null || { echo "$needed is not installed"; exit 77; }
done

place=$scratch/covered

# Each in a fresh directory, with the pool of this many MiB.
run_covered() {
  local mib=$1
  shift
  rm -rf "$place" && mkdir "$place" && chmod 755 "$scratch" "$place"
  "$covered" "$scratch/pool" "$mib" "$place" "$@" > "$scratch/out" 2>&1 ||
    { cat "$scratch/out"; echo "failed: $*"; exit 1; }
}

weights() {
  cat << END_OF_WEIGHTS
flen = $1
[opsize]
max = $2
[weights]
close_open = 3
read = 10
write = 10
$3
truncate = 8
fsync = 1
fdatasync = 1
posix_fallocate = 3
punch_hole = 6
sendfile = 5
posix_fadvise = 2
copy_file_range = 8
END_OF_WEIGHTS
}
mapped=$'mapread = 10\nmapwrite = 10\ninvalidate = 2'
unmapped=$'mapread = 0\nmapwrite = 0\ninvalidate = 0'
weights 1048576 150000 "$mapped" > "$scratch/small.toml"
weights 1048576 150000 "$unmapped" > "$scratch/unmapped.toml"
weights 20000000 5000000 "$mapped" > "$scratch/large.toml"
seed=${CAIRN_TEST_SEED:-$RANDOM}
echo "fsx: seed $seed"
for sizes in "small 5000" "unmapped 5000" "large 1000"; do
  run_covered 512 fsx -q -f "$scratch/${sizes% *}.toml" -N "${sizes#* }" -S "$seed" \
    -P "$scratch" "$place/fsx"
done

cat > "$scratch/pjdfstest.toml" << END
[features]
posix_fallocate = {}
rename_ctime = {}
utime_now = {}
utimensat = {}
stat_st_birthtime = {}
[settings]
naptime = 0.01
allow_remount = false
[dummy_auth]
entries = [["nobody", "$(id -gn nobody)"], ["daemon", "daemon"]]
END
# A plain run tells the names of the tests. Left out: device nodes, bad pointers, files that are
# being run, mounts (adapters/posix/README.md says why).
mkdir "$scratch/plain" && chmod 755 "$scratch" "$scratch/plain"
pjdfstest -c "$scratch/pjdfstest.toml" -p "$scratch/plain" > "$scratch/out" 2>&1 ||
  { cat "$scratch/out"; echo "plain pjdfstest"; exit 1; }
mapfile -t names < <(awk '/^[a-z]+::/ && $2 == "ok" { print $1 }' "$scratch/out" |
  grep -vE '::(char|block)$|::efault|::etxtbsy$|^rmdir::ebusy$')
[ "${#names[@]}" -gt 100 ] || [ "$(id -u)" != 0 ] || { echo "only ${#names[@]} tests"; exit 1; }
run_covered 256 pjdfstest -c "$scratch/pjdfstest.toml" -p "$place" "${names[@]}"
tail -n 2 "$scratch/out"
