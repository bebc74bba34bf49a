#!/usr/bin/env bash
# fio writes and verifies through system calls, vectors, mappings and both asynchronous interfaces.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
command -v fio > /dev/null || { echo "no fio"; exit 77; }

verify() {
  "$covered" "$scratch/pool" 256 "$scratch/work" \
    fio --minimal --directory="$scratch/work" --size=4m --bs=4k \
    --verify=crc32c --do_verify=1 --verify_fatal=1 --name=t "$@" > "$scratch/out" 2>&1 ||
    { cat "$scratch/out"; echo "fio $*"; exit 1; }
  rm -rf "$scratch/work"
  mkdir "$scratch/work"
}

mkdir "$scratch/work"
cd "$scratch"  # fio leaves its verify state where it stands
for engine in psync sync pvsync pvsync2 mmap posixaio libaio; do
  verify --ioengine=$engine --rw=randwrite
done
verify --ioengine=psync --rw=rw --bs=64k --numjobs=2 --thread --fsync=8
verify --ioengine=mmap --rw=randwrite --numjobs=2
verify --ioengine=libaio --iodepth=16 --rw=randrw --bs=16k
verify --ioengine=psync --rw=write --fallocate=native --fadvise_hint=1
echo "fio verifies what it wrote"
