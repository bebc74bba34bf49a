#!/usr/bin/env bash
# Strangers' programs that are large, rare or random: MPI in both orders, HDF5 and netCDF,
# exercisers and benchmarks of file systems. The same results as in a plain directory.
# `scripts/setup.sh slow` installs them; one that is missing is a failure, at the end.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/../adapter/both.sh"

missing=()
have() { command -v "$1" > /dev/null || { missing+=("$1"); return 1; }; }
cairn=${CAIRN_BIN_DIR:-}/cairn
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PATH=$PATH:/usr/sbin

# MPI: the runner inside a run, and a run inside each rank.
cat > "$scratch/ranks.c" <<'END'
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** arguments) {
  int rank, ranks, bad = 0, all;
  static char data[47008];
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int fd = open("shared", O_CREAT | O_RDWR, 0644);
  for (int s = 0; s < 20; ++s) {
    memset(data, 'a' + rank + s, sizeof data);
    bad += pwrite(fd, data, sizeof data, ((long)s * ranks + rank) * sizeof data) != sizeof data;
  }
  fsync(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  int other = (rank + 1) % ranks;
  for (int s = 0; s < 20; ++s) {
    bad += pread(fd, data, sizeof data, ((long)s * ranks + other) * sizeof data) != sizeof data;
    for (unsigned i = 0; i < sizeof data; ++i) bad += data[i] != (char)('a' + other + s);
  }
  close(fd);
  MPI_File file;
  MPI_Status status;
  MPI_File_open(MPI_COMM_WORLD, "mpiio", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  memset(data, 'A' + rank, sizeof data);
  for (int s = 0; s < 4; ++s)
    MPI_File_write_at_all(file, ((long)s * ranks + rank) * sizeof data, data, sizeof data,
                          MPI_BYTE, &status);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int s = 0; s < 4; ++s) {
    MPI_File_read_at_all(file, ((long)s * ranks + other) * sizeof data, data, sizeof data,
                         MPI_BYTE, &status);
    for (unsigned i = 0; i < sizeof data; ++i) bad += data[i] != (char)('A' + other);
  }
  MPI_File_close(&file);
  MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return bad != 0;
}
END
for mpi in mpich openmpi; do
  have "mpicc.$mpi" || continue
  have "mpirun.$mpi" || continue
  "mpicc.$mpi" -o "$scratch/ranks.$mpi" "$scratch/ranks.c"
  ranks=("mpirun.$mpi" -n 3)
  [ $mpi = openmpi ] && ranks+=(--oversubscribe)
  both "${ranks[*]} $scratch/ranks.$mpi 2>&1 | grep wrong"
  rm -rf "$scratch/work" "$scratch/each" && mkdir "$scratch/work" "$scratch/each"
  (cd "$scratch/work" && "${ranks[@]}" "$scratch/ranks.$mpi") > /dev/null 2>&1
  (cd "$scratch/each" &&
    "${ranks[@]}" "$cairn" run --at . --pool-size 256M -- "$scratch/ranks.$mpi") \
    > "$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
  grep -q "^0 wrong" "$scratch/out" || { cat "$scratch/out"; exit 1; }
  diff -r "$scratch/work" "$scratch/each"
  echo "$mpi: as on a plain directory, in both orders"
done

python=/usr/bin/python3
imports() { "$python" -c "import $1" 2> /dev/null || { missing+=("Python's $1"); return 1; }; }
imports h5py && both '
  '"$python"' -c "
import h5py, numpy, subprocess, sys
with h5py.File(\"a.h5\", \"w\") as f:
    f.create_dataset(\"x\", data=numpy.arange(100000).reshape(100, 1000), track_times=False)
    d = f.create_dataset(\"c\", (1000, 1000), chunks=(100, 100), compression=\"gzip\",
                         maxshape=(None, 1000), track_times=False)
    d[:] = 1; d.resize((2000, 1000)); d[1500] = 3
with h5py.File(\"a.h5\", \"r+\") as f:
    f[\"x\"][5] = 7; print(f[\"x\"][5].sum(), f[\"c\"][1500].sum(), list(f))
for driver in \"sec2\", \"stdio\", \"core\":
    with h5py.File(driver + \".h5\", \"w\", driver=driver) as f:
        f.create_dataset(\"x\", data=numpy.arange(1000), track_times=False)
    with h5py.File(driver + \".h5\", \"r\", driver=driver) as f: print(driver, f[\"x\"][:].sum())
held = h5py.File(\"a.h5\", \"r+\")
other = (\"import h5py\ntry: h5py.File(\\\"a.h5\\\", \\\"r+\\\")\n\"
         \"except OSError: print(\\\"locked\\\")\")
print(subprocess.run([sys.executable, \"-c\", other], capture_output=True, text=True).stdout)
"'
imports netCDF4 && both '
  '"$python"' -c "
import netCDF4
for kind in \"NETCDF4\", \"NETCDF3_CLASSIC\", \"NETCDF3_64BIT_OFFSET\", \"NETCDF3_64BIT_DATA\":
    with netCDF4.Dataset(kind, \"w\", format=kind) as d:
        d.createDimension(\"t\", None); d.createDimension(\"x\", 1000)
        v = d.createVariable(\"v\", \"f4\", (\"t\", \"x\"))
        for t in range(50): v[t] = t
    with netCDF4.Dataset(kind, \"a\") as d: d[\"v\"][50] = 5; d.title = \"x\"
    with netCDF4.Dataset(kind) as d: print(kind, d[\"v\"][:].sum(), d.title)
"'

# What stress-ng finds wrong with a file system it says in lines with "fail:".
stress() {
  local stressor=$1
  shift
  stress-ng --stressors | tr ' ' '\n' | grep -qx "$stressor" ||
    { echo "without stress-ng's $stressor"; return; }
  rm -rf "$scratch/work" && mkdir "$scratch/work"
  "$covered" "$scratch/pool" 300 "$scratch/work" \
    stress-ng --verify --oom-avoid --temp-path "$scratch/work" \
    --"$stressor" 2 -t 60 "$@" > "$scratch/out" 2>&1 ||
    { cat "$scratch/out"; echo "stress-ng $stressor"; exit 1; }
  if grep -E "fail:|prematurely" "$scratch/out"; then echo "stress-ng $stressor"; exit 1; fi
  [ -z "$(ls -A "$scratch/work")" ] ||
    { find "$scratch/work"; echo "stress-ng $stressor left these"; exit 1; }
}
if have stress-ng; then
  stress hdd --hdd-bytes 4m --hdd-ops 500
  stress hdd --hdd-bytes 2m --hdd-ops 300 --hdd-opts sync,rd-rnd,wr-rnd,fadv-willneed
  stress iomix --iomix-bytes 8m --iomix-ops 200
  stress seek --seek-size 4m --seek-punch --seek-ops 200
  stress sync-file --sync-file-bytes 2m --sync-file-ops 20
  stress dentry --dentries 200 --dentry-ops 500
  stress dir --dir-dirs 100 --dir-ops 300
  stress dirdeep --dirdeep-dirs 2 --dirdeep-inodes 500 --dirdeep-ops 500
  stress fallocate --fallocate-bytes 8m --fallocate-ops 20
  stress mmap --mmap-file --mmap-bytes 4m --mmap-ops 20
  stress readahead --readahead-bytes 4m --readahead-ops 300
  stress copy-file --copy-file-bytes 128m --copy-file-ops 30
  stress sendfile --sendfile-size 1m --sendfile-ops 50
  stress msync --msync-bytes 1m --msync-ops 50
  stress filename --filename-ops 500
  stress xattr --xattr-ops 50
  for stressor in access chdir chmod chown dup fcntl flock fstat getdent link locka lockf lockofd \
    mknod open rename splice symlink touch unlink utime aio aiol; do
    stress $stressor --$stressor-ops 300
  done
fi

# shellcheck disable=SC2016  # expanded where it runs
have dbench && both '
  loadfile=$(ls /usr/share/dbench/client.txt /usr/share/dbench/*.txt 2> /dev/null | head -1)
  dbench -c "$loadfile" -D . -t 5 2 > /dev/null 2>&1; echo $?; rm -rf clients'
have bonnie++ && both 'bonnie++ -q -d . -s 16:64k -r 8 -n 1 -u 0 > /dev/null 2>&1; echo $?'
have fs_mark && both '
  fs_mark -d t -n 300 -s 5000 -t 2 > /dev/null 2>&1; echo $?; rm -rf t fs_log.txt'
have ruby && both '
  ruby -e "require %q(fileutils); require %q(find); require %q(pstore)
    File.write(%q(a), %q(x) * 1000)
    File.open(%q(a), %q(r+)) { |f| f.seek(10); f.write(%q(Y)); f.flock(File::LOCK_EX) }
    puts IO.read(%q(a)).index(%q(Y)), File.stat(%q(a)).size
    FileUtils.mkdir_p(%q(d/e/f)); FileUtils.cp_r(%q(d), %q(g))
    Find.find(%q(.)).sort.each { |p| puts p }
    File.rename(%q(a), %q(d/b)); puts Dir[%q(**/*)].sort, Dir.exist?(%q(g/e))
    s = PStore.new(%q(store))
    s.transaction { s[:k] = [1, 2] }; s.transaction(true) { p s[:k] }
    FileUtils.rm_rf(%q(g)); File.delete(%q(store))"'
[ ${#missing[@]} -eq 0 ] || { echo "not tried, because they are missing: ${missing[*]}"; exit 1; }
echo "programs: as on a plain directory"
