#!/usr/bin/env bash
# Processes that become other users before their first call on a covered file, and after it: as in a
# plain directory.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
[ "$(id -u)" = 0 ] || { echo "only root can become other users"; exit 77; }
# Others must get to the directory.
chmod 711 "$scratch"
users=$CAIRN_TEST_DIR/adapter/calls/users_program
for part in dropped steps number back kept special many; do
  both "cd / && $users files \"\$OLDPWD\" && $users $part \"\$OLDPWD\""
done
# What the program is told before it is root again is no matter here.
both "cd / && $users files \"\$OLDPWD\" && $users unseen \"\$OLDPWD\" 2> /dev/null"
# All that was kept is used up: it is said, and the process itself goes on.
rm -rf "$scratch/work"
mkdir "$scratch/work"
"$covered" "$scratch/pool" 64 "$scratch/work" \
  bash -c "cd / && $users files $scratch/work && $users too-many $scratch/work" \
  > "$scratch/out" 2> "$scratch/err" < /dev/null
used_up="has given up the pool's user, and what was opened before .* is used up"
{ grep -qx "most: 1, some are refused: 1, others: 0" "$scratch/out" &&
  grep -q "readable holds 8: readable" "$scratch/out" &&
  [ "$(grep -c "$used_up: $scratch/pool/segment.0" "$scratch/err")" = 1 ] &&
  ! grep -q "no free lane" "$scratch/err"; } || { cat "$scratch/out" "$scratch/err"; exit 1; }
echo "users: as on a plain directory"
