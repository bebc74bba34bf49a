#!/usr/bin/env bash
# Shells and small tools: redirections of every kind, pipes, links, modes, times.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"

both '
  pwd
  echo hello > a.txt; cat a.txt; cat < a.txt
  echo more >> a.txt; wc -l a.txt
  { echo one; echo two >&2; } > both.out 2>&1; cat both.out
  exec 5> five; echo to five >&5; exec 5>&-; cat five
  exec 6<> six; echo in and out >&6; exec 6>&-; cat six
  exec 255> high; echo to 255 >&255; exec 255>&-; cat high
  for i in 1 2 3; do echo line $i; done > loop; while read -r x y; do echo "$y $x"; done < loop
  cat <<< "a here string" | tr a-z A-Z > upper; cat upper
  (cd /; echo from elsewhere > "$OLDPWD/elsewhere"); cat elsewhere
  set -C; echo no > a.txt || echo "noclobber holds"; set +C
  printf "%s\n" $(echo *)
'
both '
  mkdir -p d/e/f; cp /etc/services d/e/s; mv d/e/s d/moved; ls -R
  ln -s ../d/moved link; ln -s moved d/link; ln d/moved hard; cat d/link | wc -l
  ln -s /etc/hostname abs; ln -s "$PWD/d" absdir; cat abs > host; ls absdir; readlink -f absdir/link
  ln -s loop1 loop2; ln -s loop2 loop1; cat loop1 || echo loops
  ln -s ../../.. up; ls -d up/. > /dev/null && echo up
  cd absdir; pwd; pwd -P; ls ..; cd ..
  stat -c "%n %a %h %F" a* d d/* hard 2> /dev/null
  chmod 640 hard; stat -c %a d/moved; touch -d 2001-02-03T04:05:06 hard; stat -c %y hard
  umask 077; echo private > private; mkdir pd; stat -c "%a %n" private pd
  rm -r d; ls; cat hard | wc -c
  cp -a hard copy; cmp hard copy && echo same; truncate -s 10M sparse; stat -c %s sparse
  dd if=/dev/zero of=dd.out bs=4k count=10 seek=5 conv=notrunc status=none; stat -c %s dd.out
  dd if=hard of=hard2 bs=4k oflag=append conv=notrunc status=none; cmp hard hard2 && echo same
  sed -i s/tcp/TCP/ hard; grep -c TCP hard
  sort hard -o sorted; tee t1 t2 < sorted > /dev/null; cmp t1 t2
  find . -name "t?" | sort; find . -type l | sort | xargs ls -d
  touch -h abs; rmdir missing; mkdir copy; rm pd; true
'
both '
  printf "#!/bin/sh\necho \"\$0 \$1\"; cat \"\$2\"\n" > script; chmod +x script; echo text > t
  ./script one t; sh -c "./script two t" ; PATH=.:$PATH script three t; env ./script four t
  chmod -x script; ./script x t
  cp /bin/echo program; ./program runs; env ./program too; (cd /; "$OLDPWD/program" there)
  ./program > out; cat out; find . -name out -exec ./program found {} \;
  echo ./missing-interpreter > bad; chmod +x bad; ./bad 2> /dev/null; echo $?
  exec ./program last
'
echo "shells and small tools: as on a plain directory"
