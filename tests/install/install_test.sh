#!/usr/bin/env bash
# The installed package is small, and serves a stranger's project: by pkg-config (shared and static)
# and by CMake.
set -euo pipefail
: "${CAIRN_SOURCE_DIR:?}" "${CAIRN_BUILD_DIR:?}"
[ -e "$CAIRN_SOURCE_DIR/include/cairn/cairn.h" ] || { echo "no public header yet"; exit 77; }
[ -z "${CAIRN_SANITIZE:-}" ] || { echo "a sanitized library serves no stranger"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
"$CAIRN_SOURCE_DIR/scripts/install.sh" "$prefix" "$CAIRN_BUILD_DIR" > "$scratch/install.log" 2>&1 ||
  { cat "$scratch/install.log"; exit 1; }

echo "== size"
tail -4 "$scratch/install.log"
# What counts lines is larger.
[ -n "${CAIRN_COVERAGE:-}" ] || [ "$(du -sk "$prefix" | cut -f1)" -le $((30 * 1024)) ] ||
  { du -ak "$prefix" | sort -n | tail -20; exit 1; }

cat > "$scratch/program.c" << 'END'
#include <cairn/cairn.h>
int main(void) { return 0; }
END
cat > "$scratch/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.25)
project(Stranger LANGUAGES C CXX)
find_package(Cairn RELEASE REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE cairn::cairn)
add_executable(archive program.c)
target_link_libraries(archive PRIVATE cairn::cairn_static)
set_target_properties(archive PROPERTIES LINKER_LANGUAGE CXX)
END
release=$(sed -nE 's/^project\(Cairn VERSION ([0-9]+\.[0-9]+).*/\1/p' \
  "$CAIRN_SOURCE_DIR/CMakeLists.txt")
sed -i "s/RELEASE/$release/" "$scratch/CMakeLists.txt"

echo "== pkg-config"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
pkg-config --exists "cairn >= $release"
cc=${CAIRN_CC:-cc}
# shellcheck disable=SC2046  # the flags are words
$cc "$scratch/program.c" -o "$scratch/shared" $(pkg-config --cflags --libs cairn) \
  -Wl,-rpath,"$prefix/lib"
"$scratch/shared"
# shellcheck disable=SC2046
$cc "$scratch/program.c" -o "$scratch/archive" $(pkg-config --cflags cairn) \
  "$prefix/lib/libcairn.a" $(pkg-config --static --libs-only-l cairn | sed 's/-lcairn//')
"$scratch/archive"

echo "== examples"
# shellcheck disable=SC2046
$cc "$prefix/share/cairn/examples/hello.c" -o "$scratch/hello" \
  $(pkg-config --cflags --libs cairn) -Wl,-rpath,"$prefix/lib"
"$scratch/hello" "$scratch/pool" | grep -qx "hello from a process"
if command -v mpicc > /dev/null; then
  mpicc "$prefix/share/cairn/examples/field.c" -o "$scratch/field" -lm
fi

if command -v gfortran > /dev/null; then
  echo "== Fortran"
  cat > "$scratch/program.f90" << 'END'
program program
  use cairn
  use cairn_palm, only: dt_block
  type(cairn_checkpoint) :: checkpoint
  integer, target :: answer = 42
  call cairn_init(checkpoint, 'fortran')
  call cairn_define(checkpoint, 'answer', answer)
  call cairn_write(checkpoint, dt_block)
  call cairn_finalize(checkpoint)
end program
END
  mkdir "$scratch/modules"
  # shellcheck disable=SC2046
  (cd "$scratch/modules" && gfortran $(pkg-config --variable=fortran_sources cairn) \
    ../program.f90 -o ../fortran $(pkg-config --cflags --libs cairn) -Wl,-rpath,"$prefix/lib")
  CAIRN_POOL_DIR=$scratch/pools CAIRN_POOL_SIZE=32MiB "$scratch/fortran"
  sed -i -e 's/LANGUAGES C CXX/LANGUAGES C CXX Fortran/' \
    -e 's/ REQUIRED/ REQUIRED COMPONENTS Fortran/' "$scratch/CMakeLists.txt"
  cat >> "$scratch/CMakeLists.txt" << 'END'
add_executable(fortran program.f90)
target_link_libraries(fortran PRIVATE cairn::fortran)
END
fi

echo "== Python"
CAIRN_POOL_DIR=$scratch/pools CAIRN_POOL_SIZE=32MiB PYTHONPATH=$prefix/lib/cairn/python \
  python3 -B -c 'import cairn; cairn.Checkpoint("python").close()'

echo "== CMake"
cmake -S "$scratch" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" > "$scratch/configure.log" ||
  { cat "$scratch/configure.log"; exit 1; }
cmake --build "$scratch/build" > "$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
"$scratch/build/shared"
"$scratch/build/archive"
[ ! -e "$scratch/fortran" ] ||
  CAIRN_POOL_DIR=$scratch/new-pools CAIRN_POOL_SIZE=32MiB "$scratch/build/fortran"

echo "== the moved package"
# pkg-config, the package and the command find their parts relative to themselves.
mv "$prefix" "$scratch/elsewhere"
PKG_CONFIG_PATH=$scratch/elsewhere/lib/pkgconfig
pkg-config --cflags cairn | grep -q elsewhere
if [ -e "$CAIRN_BIN_DIR/cairn" ]; then
  [ "$("$scratch/elsewhere/bin/cairn" --version)" = "cairn $(pkg-config --modversion cairn)" ]
  mkdir "$scratch/results"
  CAIRN_POOL_DIR=$scratch/pools CAIRN_POOL_SIZE=32MiB "$scratch/elsewhere/bin/cairn" run \
    --at "$scratch/results" -- sh -c "echo 42 > $scratch/results/answer"
  [ "$(cat "$scratch/results/answer")" = 42 ]
  if python3 -c 'import yaml, jsonschema' 2> /dev/null; then
    "$scratch/elsewhere/bin/cairn" bench run -h | grep -q MATRIX
    [ -z "$(find "$scratch/elsewhere" -name __pycache__)" ] ||
      { echo "Python left compiled modules behind"; exit 1; }
  fi
fi
