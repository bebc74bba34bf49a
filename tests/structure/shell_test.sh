#!/usr/bin/env bash
# Every shell script parses, is free of shellcheck warnings, and scripts are executable.
set -euo pipefail
cd "${CAIRN_SOURCE_DIR:-$(dirname "$0")/../..}"

mapfile -t scripts < <(
  git ls-files --cached --others --exclude-standard -- '*.sh' .ci/run 2> /dev/null ||
  find . -path ./build -prune -o \( -name '*.sh' -o -path ./.ci/run \) -print)
[ ${#scripts[@]} -gt 0 ] || { echo "no shell scripts found: looked in the wrong place"; exit 1; }
bad=0
for script in "${scripts[@]}"; do
  [ -e "$script" ] || continue
  bash -n "$script" || bad=1
  case $script in
    scripts/* | .ci/*) [ -x "$script" ] || { echo "$script is not executable"; bad=1; } ;;
  esac
done
if command -v shellcheck > /dev/null; then
  shellcheck --severity=warning --external-sources "${scripts[@]}" || bad=1
fi
exit "$bad"
