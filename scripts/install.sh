#!/usr/bin/env bash
# Installs a build below PREFIX, or removes what was installed there.
#
#   scripts/install.sh [--debug] PREFIX BUILD
#   scripts/install.sh --uninstall PREFIX
#
# Programs and libraries are installed without debug information. --debug installs that, too: as
# .debug/NAME.debug beside each, where gdb, perf and valgrind look for it. PREFIX gets a list of
# what was installed, share/cairn/installed: each PREFIX can be uninstalled, without the build, and
# the next installation removes files that it no longer has. DESTDIR is honoured.
set -euo pipefail
list=share/cairn/installed

debug=no
mode=install
while [[ ${1-} == --* ]]; do
  case $1 in
    --debug) debug=yes ;;
    --uninstall) mode=uninstall ;;
    *)
      echo "install.sh: unknown option '$1'" >&2
      exit 2
      ;;
  esac
  shift
done
prefix=$(realpath -ms "$1")
target=${DESTDIR-}$prefix

# Reads the list of an earlier installation: paths below PREFIX, and with '/' at the end the
# directories that it made. Another user's list does not count: files are removed by it.
old_files=()
old_directories=()
read_list() {
  [ -f "$target/$list" ] && [ ! -L "$target/$list" ] || return 1
  if [ ! -O "$target/$list" ]; then
    echo "$target/$list: it belongs to another user; install or uninstall as that user" >&2
    exit 1
  fi
  local path
  while IFS= read -r path; do
    case /$path/ in
      */../*) continue ;;
    esac
    case $path in
      */) old_directories+=("$path") ;;
      *) old_files+=("$path") ;;
    esac
  done < "$target/$list"
}

# Removes files, and what Python has compiled of them.
remove_files() {
  local path name
  for path in "$@"; do
    rm -f -- "$target/$path"
    name=${path##*/}
    [[ $name == *.py ]] || continue
    rm -f -- "$target/${path%"$name"}__pycache__/${name%.py}".*.pyc
    rmdir -- "$target/${path%"$name"}__pycache__" 2> /dev/null || true
  done
}

# Removes those of the directories, which end in '/', that are empty.
remove_directories() {
  printf '%s\n' "$@" | LC_ALL=C sort -r | while IFS= read -r path; do
    path=$target/${path#./}
    [ ! -d "$path" ] || rmdir --ignore-fail-on-non-empty -- "$path"
  done
}

if [ $mode = uninstall ]; then
  read_list || {
    echo "$target: \`make install\` has installed nothing there ($list is missing)" >&2
    exit 1
  }
  remove_files "${old_files[@]}" "$list"
  remove_directories "${old_directories[@]}"
  exit 0
fi

is_elf() {
  [ "$(head -c 4 "$1" | tr -d '\177')" = ELF ]
}

# Strips a program or library, and puts its debug information beside it if that is wanted.
separate() {
  local file=$1 beside=${1%/*}/.debug/${1##*/}.debug
  if [ $debug = yes ]; then
    mkdir -p "${beside%/*}"
    objcopy --only-keep-debug --compress-debug-sections "$file" "$beside"
    chmod 644 "$beside"
  fi
  strip --strip-unneeded "$file"
  [ $debug = no ] || objcopy --add-gnu-debuglink="$beside" "$file"
}

build=$(realpath "$2")
read_list || true
stage=$(mktemp -d "$build/install.XXXXXX")
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage cmake --install "$build" --prefix "$prefix" > /dev/null
# CMake's own list names one PREFIX, and may be root's in a user's build.
rm -f "$build/install_manifest.txt"

cd "$stage$prefix"
while IFS= read -r -d '' file; do
  case $file in
    *.a) strip --strip-debug --enable-deterministic-archives "$file" ;;
    *) ! is_elf "$file" || separate "$file" ;;
  esac
done < <(find . -type f -print0)

mapfile -d '' -t files < <(find . ! -type d -printf '%P\0')
mapfile -d '' -t directories < <(find . -type d -printf '%p/\0')
made=("${old_directories[@]}")
for path in "${directories[@]}"; do
  [ -d "$target/$path" ] || made+=("$path")
  mkdir -p "$target/$path"
done

# Under another name first, then renamed: running programs keep the old files, and none meets half
# of a new one.
fresh=.cairn-new
for path in "${files[@]}"; do
  cp -P --preserve=mode,timestamps "$path" "$target/$path$fresh"
done
for path in "${files[@]}"; do
  mv -fT "$target/$path$fresh" "$target/$path"
done

gone=()
for path in "${old_files[@]}"; do
  [ -e "$path" ] || [ -L "$path" ] || gone+=("$path")
done
remove_files "${gone[@]}"
{
  printf '%s\n' "${files[@]}"
  [ ${#made[@]} = 0 ] || printf '%s\n' "${made[@]}" | sort -u
} > "$target/$list$fresh"
mv -fT "$target/$list$fresh" "$target/$list"
remove_directories "${made[@]}"
size_kib=$(printf '%s\0' "${files[@]}" | du -ck --files0-from=- | tail -1 | cut -f1)
echo "installed in $target: ${#files[@]} files, $(((size_kib + 1023) / 1024)) MiB"
cat "$build/summary.txt"
