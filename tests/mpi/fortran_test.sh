#!/usr/bin/env bash
# MPI-IO from Fortran on covered files, through mpif.h, mpi and mpi_f08, with every MPI that was
# found: its names end in the C ones, some in PMPI_'s.
set -euo pipefail
cairn=${CAIRN_BIN_DIR:-}/cairn
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
memory=$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)
scratch=$(mktemp -d "$memory/cairn-fortran-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# USE, INCLUDE, FILE, REQUEST and STATUS are what the three differ in.
cat > "$scratch/program.in" <<'F'
program everybody
  USE
  implicit none
  INCLUDE
  integer, parameter :: length = 1000
  FILE :: file
  REQUEST :: request
  STATUS
  integer :: rank, ranks, error, i, wrong, all, count
  integer :: mine(length), got(length)
  integer(kind=MPI_OFFSET_KIND) :: at, bytes
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = [(1000 * rank + i, i = 1, length)]
  wrong = 0
  ! What cannot be opened leaves no handle. Open MPI's own Fortran leaves what was there before.
  file = MPI_FILE_NULL
  call MPI_File_open(MPI_COMM_WORLD, 'cairn:absent', MPI_MODE_RDONLY, MPI_INFO_NULL, file, error)
  if (error == MPI_SUCCESS .or. file /= MPI_FILE_NULL) wrong = wrong + 1
  call MPI_File_open(MPI_COMM_WORLD, 'cairn:file', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                     MPI_INFO_NULL, file, error)
  if (error /= MPI_SUCCESS) then
    print *, 'not opened'
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end if
  at = int(rank, MPI_OFFSET_KIND) * 4 * length
  call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
  if (error /= MPI_SUCCESS) wrong = wrong + 1
  call MPI_File_write_all(file, mine, length, MPI_INTEGER, status, error)
  call MPI_Get_count(status, MPI_INTEGER, count, error)
  if (count /= length) wrong = wrong + 1
  call MPI_File_sync(file, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  at = int(mod(rank + 1, ranks), MPI_OFFSET_KIND) * 4 * length
  call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
  at = 0
  call MPI_File_iread_at(file, at, got, length, MPI_INTEGER, request, error)
  call MPI_Wait(request, status, error)
  call MPI_Get_count(status, MPI_INTEGER, count, error)
  if (count /= length) wrong = wrong + 1
  if (any(got /= mine - 1000 * rank + 1000 * mod(rank + 1, ranks))) wrong = wrong + 1
  call MPI_File_get_size(file, bytes, error)
  if (bytes /= int(ranks, MPI_OFFSET_KIND) * 4 * length) wrong = wrong + 1
  call MPI_File_close(file, error)
  call MPI_Allreduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print *, all, 'wrong'
  call MPI_Finalize(error)
  if (all /= 0) stop 1
end program
F

write() { # INTERFACE
  local handle=integer status='integer :: status(MPI_STATUS_SIZE)' file=integer
  if [ "$1" = mpi_f08 ]; then
    handle='type(MPI_Request)' status='type(MPI_Status) :: status' file='type(MPI_File)'
  fi
  local use="use $1" include=''
  if [ "$1" = mpif.h ]; then use='' include="include 'mpif.h'"; fi
  sed -e "s/^  USE/  $use/" -e "s/^  INCLUDE/  $include/" -e "s/^  FILE/  $file/" \
    -e "s/^  REQUEST/  $handle/" -e "s/^  STATUS/  $status/" \
    "$scratch/program.in" > "$scratch/program.f90"
}

tried=0
for mpi in openmpi mpich; do
  if ! { command -v gfortran && command -v "mpifort.$mpi" && command -v "mpirun.$mpi"; } \
    > /dev/null; then
    continue
  fi
  for interface in mpif.h mpi mpi_f08; do
    write $interface
    "mpifort.$mpi" -J "$scratch" -o "$scratch/program" "$scratch/program.f90" \
      > "$scratch/said" 2>&1 ||
      { echo "$mpi, $interface: not compiled"; cat "$scratch/said"; exit 1; }
    for ranks in 1 3; do
      mkdir "$scratch/work"
      (cd "$scratch/work" && CAIRN_POOL_DIR=$scratch/pools timeout 120 \
        "$cairn" run --at . --pool-size 64MiB -- "mpirun.$mpi" -n $ranks "$scratch/program") \
        > "$scratch/said" 2>&1 || { cat "$scratch/said"; exit 1; }
      grep -q '^ *0 wrong' "$scratch/said" ||
        { echo "$mpi, $interface, $ranks ranks:"; cat "$scratch/said"; exit 1; }
      [ "$(stat -c %s "$scratch/work/file")" = $((4000 * ranks)) ] ||
        { echo "$mpi, $interface: the file below"; exit 1; }
      rm -rf "$scratch/work"
    done
    echo "$mpi, $interface: ok"
    tried=$((tried + 1))
  done
done
[ $tried -gt 0 ] || { echo "no gfortran with an MPI is here"; exit 77; }
