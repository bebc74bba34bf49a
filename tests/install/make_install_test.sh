#!/usr/bin/env bash
# `make install` puts debug information into PREFIX only if that is wanted, where debuggers find it.
# `make uninstall` takes out what it has put there, and nothing else. With a small build: that of
# Cairn takes half a minute.
set -euo pipefail
: "${CAIRN_SOURCE_DIR:?}" "${CAIRN_BUILD_DIR:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=$scratch/build
prefix=$scratch/prefix
list=share/cairn/installed
install() {
  "$CAIRN_SOURCE_DIR/scripts/install.sh" "$@" "$build" > "$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
}
uninstall() {
  "$CAIRN_SOURCE_DIR/scripts/install.sh" --uninstall "$1"
}
refuses_to_uninstall() {
  if uninstall "$1" 2> "$scratch/log"; then
    echo "$1: uninstalled"
    exit 1
  fi
  grep -q "$2" "$scratch/log"
}
has_debug_information() {
  readelf -SW "$1" 2> /dev/null | grep -q ' .debug_info '
}

mkdir "$scratch/source"
echo 'int main(void) { return 0; }' > "$scratch/source/hello.c"
touch "$scratch/source/module.py"
cat > "$scratch/source/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.25)
project(Small C)
add_executable(hello hello.c)
install(TARGETS hello)
install(FILES module.py DESTINATION lib/small)
install(FILES module.py DESTINATION share/cairn)
END
cmake -S "$scratch/source" -B "$build" -DCMAKE_C_FLAGS=-g > "$scratch/log"
cmake --build "$build" >> "$scratch/log"
cp "$CAIRN_BUILD_DIR/summary.txt" "$build"

echo "== install"
mkdir -p "$prefix/lib"
touch "$prefix/lib/theirs.so"
install "$prefix"
grep '^installed in' "$scratch/log"
[ "$(tail -3 "$scratch/log" | grep -cE '^(MPIs served|cairn bench|missing): ')" = 3 ]
has_debug_information "$build/hello"
[ "$(stat -c %s "$prefix/bin/hello")" -lt "$(stat -c %s "$build/hello")" ]
"$prefix/bin/hello"

echo "== debug information"
install --debug "$prefix"
has_debug_information "$prefix/bin/.debug/hello.debug"
main=$(nm "$prefix/bin/.debug/hello.debug" | awk '$3 == "main" { print $1 }')
# As debuggers do, addr2line finds the file by its name in the program.
addr2line -e "$prefix/bin/hello" "0x$main" | grep -q 'hello\.c:1'

echo "== a later installation that has less"
install "$prefix"
[ ! -e "$prefix/bin/.debug" ]

echo "== uninstall"
install "$scratch/other"
# As Python leaves it.
mkdir "$prefix/lib/small/__pycache__"
touch "$prefix/lib/small/__pycache__/module.cpython-311.pyc"
uninstall "$prefix"
[ "$(cd "$prefix" && find . ! -type d)" = ./lib/theirs.so ]
[ "$(find "$prefix" -type d | wc -l)" = 2 ]  # PREFIX and lib, which were there before
[ -x "$scratch/other/bin/hello" ]
mkdir "$scratch/root"
DESTDIR=$scratch/root install /opt/cairn
[ -x "$scratch/root/opt/cairn/bin/hello" ]
DESTDIR=$scratch/root uninstall /opt/cairn
[ "$(cd "$scratch/root" && find . | tail -1)" = ./opt ]

echo "== what uninstall does not believe"
touch "$scratch/mine"
echo ../mine >> "$scratch/other/$list"
if [ "$(id -u)" = 0 ]; then
  chown 1234 "$scratch/other/$list"
  refuses_to_uninstall "$scratch/other" "belongs to another user"
  chown 0 "$scratch/other/$list"
fi
uninstall "$scratch/other"
[ -e "$scratch/mine" ] && [ ! -e "$scratch/other" ]
refuses_to_uninstall "$scratch/other" "has installed nothing there"
