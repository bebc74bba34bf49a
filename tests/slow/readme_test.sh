#!/usr/bin/env bash
# The README's quick start runs as it stands: all blocks of that section, one after the other in one
# shell, as somebody types them who has just fetched the sources.
set -euo pipefail
: "${CAIRN_SOURCE_DIR:?}"
[ -z "${CAIRN_SANITIZE:-}" ] || { echo "it builds a release of its own"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cairn" "$scratch/home"
cd "$CAIRN_SOURCE_DIR"
if git rev-parse --show-toplevel > /dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
    [ ! -e "$name" ] || printf '%s\0' "$name"
  done
else
  find . -path ./build -prune -o -type f -print0
fi | tar --null -T - -cf - | tar -xf - -C "$scratch/cairn"

cd "$scratch/cairn"
script=$(awk '/^## / { here = $0 == "## Quick start" }
  /^```/ { take = here && $0 == "```sh"; next } take' README.md)
for command in make 'make demo' 'make install PREFIX=$HOME/.local' 'cat results/answer'; do
  grep -qxE "$(printf '%s' "$command" | sed 's/[$.]/\\&/g')( +#.*)?" <<< "$script" ||
    { echo "not in the quick start: $command"; exit 1; }
done

# What was compiled before need not be again.
command -v ccache > /dev/null && CCACHE_DIR=$(ccache --get-config cache_dir) && export CCACHE_DIR
for name in $(compgen -e CAIRN_); do unset "$name"; done
unset LD_PRELOAD
export HOME=$scratch/home
bash -eu -o pipefail -c "$script
command -v cairn" > "$scratch/out" 2>&1 < /dev/null || { tail -50 "$scratch/out"; exit 1; }
tail -2 "$scratch/out"
[ "$(tail -2 "$scratch/out")" = "42
$HOME/.local/bin/cairn" ]
