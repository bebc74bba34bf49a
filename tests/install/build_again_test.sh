#!/usr/bin/env bash
# What is installed between two builds of one tree is seen by the second, and what is removed is
# missed. With a small project that has Cairn's own scripts and modules, and MPIs of two lines.
set -euo pipefail
: "${CAIRN_SOURCE_DIR:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tree" "$scratch/tree/scripts" "$scratch/mpis" "$scratch/module"
cd "$scratch/tree"
cp "$CAIRN_SOURCE_DIR/scripts/build.sh" scripts
cp -r "$CAIRN_SOURCE_DIR/cmake" .
cat > CMakePresets.json << 'END'
{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
  "binaryDir": "${sourceDir}/build/release"}]}
END
cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.25)
project(Small LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)  # not this machine's MPIs
include(CairnForget)
include(CairnMpi)
include(CairnSummary)
find_library(SMALL_LIBRARY small PATHS ${CMAKE_SOURCE_DIR}/libraries NO_DEFAULT_PATH)
file(APPEND ${CMAKE_BINARY_DIR}/summary.txt
  "plain: ${CAIRN_PLAIN_MPI}\nlibrary: ${SMALL_LIBRARY}\n")
add_custom_target(all_of_it ALL COMMAND ${CMAKE_COMMAND} -E touch made)
END

# Nothing but what configuring and building needs is in PATH.
mkdir "$scratch/bin"
for tool in bash cmake ninja mkdir stat env getent cut setpriv cat id sh dirname touch; do
  ln -s "$(command -v "$tool")" "$scratch/bin"
done
build() {
  PATH=$scratch/mpis:$scratch/module:$scratch/bin \
    scripts/build.sh release 1 > "$scratch/log" 2>&1 ||
    { cat build/release/configure.log "$scratch/log"; exit 1; }
}
says() {
  grep -qx "$1" build/release/summary.txt ||
    { echo "expected: $1"; cat build/release/summary.txt; exit 1; }
}
# WHERE NAME MACRO: an MPI's wrapper.
wrapper() {
  # shellcheck disable=SC2016  # the dollar sign is the wrapper's
  printf '#!/bin/sh\n[ "$1" = -show ] && echo "cc -I/inc" || echo "#define %s 1"\n' "$2" > "$1"
  chmod +x "$1"
}

build
says "MPIs served: none but those with the MPI 5 ABI"
says "missing: Open MPI (mpicc.openmpi), MPICH (mpicc.mpich): run .*, then make again"
says "library: .*NOTFOUND"

wrapper "$scratch/mpis/mpicc.openmpi" OMPI_MAJOR_VERSION
mkdir libraries
touch libraries/libsmall.so
build
says "MPIs served: Open MPI, and those with the MPI 5 ABI"
says "library: .*/libsmall.so"

# One of a module, which takes the other one's place.
wrapper "$scratch/module/mpicc" MPICH_NUMVERSION
build
says "MPIs served: Open MPI and MPICH, and those with the MPI 5 ABI"
says "plain: mpich"
wrapper "$scratch/mpis/mpicc" OMPI_MAJOR_VERSION
build
says "plain: openmpi"

rm -r "$scratch/mpis/"* "$scratch/module/"* libraries
build
says "MPIs served: none but those with the MPI 5 ABI"
says "library: .*NOTFOUND"

# `sudo make install`: root's PATH has no module's MPI, and root leaves no file in a user's build.
if [ "$(id -u)" = 0 ]; then
  wrapper "$scratch/mpis/mpicc.openmpi" OMPI_MAJOR_VERSION
  build
  chmod 755 "$scratch"
  chown -R 1234:1234 "$scratch/tree"
  rm -f "$scratch/mpis/"* build/release/made
  build
  says "MPIs served: Open MPI, and those with the MPI 5 ABI"
  [ -e build/release/made ]
  [ -z "$(find build -uid 0)" ] || { find build -uid 0; exit 1; }
fi
