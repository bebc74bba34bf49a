#!/usr/bin/env bash
# The library's place among others that are preloaded, and what putting itself there costs.
set -euo pipefail
library=${CAIRN_LIB_DIR:-}/libcairn_posix.so
program=${CAIRN_TEST_DIR:-}/adapter/small_stack_program
for needed in "$library" "$program"; do
  [ -e "$needed" ] || { echo "$needed is not built"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/dir"
# awk reads to the end: without that SIGPIPE would kill ldconfig.
other=$(ldconfig -p | awk '!found && /libm.so.6 .*(x86-64|AArch64)/ { print $NF; found = 1 }')
[ -e "$other" ] || { echo "no library to preload"; exit 77; }
first=${CAIRN_PRELOAD_FIRST:-}

covered() {
  LD_PRELOAD="$first $library $other" CAIRN_COVER=$scratch/dir CAIRN_POOL=$scratch/no-pool "$@"
}

# Programs find it behind the others.
expected="${first:+$first:}$other:$library"
[ "$(covered printenv LD_PRELOAD)" = "$expected" ]
# The dynamic linker as a command starts the program that it was asked for, not that one's first
# argument.
linker=$(echo /lib*/ld-linux-*.so.*)
linker=${linker##* }
[ "$(covered "$linker" /bin/echo /bin/false)" = /bin/false ]
[ "$(covered "$linker" /bin/sh -c 'printenv LD_PRELOAD')" = "$expected" ]

# A script is known by its own name, as it is without us; with arguments of its interpreter as well.
script=$scratch/script
# shellcheck disable=SC2016  # the dollar signs are the script's
printf '#!/bin/sh -e\ncat /proc/$$/comm; printenv LD_PRELOAD; echo "$0 $*"\n' > "$script"
chmod +x "$script"
[ "$(covered "$script" one two)" = "script
$expected
$script one two" ]

# The frames of a sanitizer or of gcov do not fit.
[ -n "$first${CAIRN_COVERAGE:-}" ] || covered "$program"
echo "preloads: the library is the last one"
