#!/usr/bin/env bash
# Programs people use, unchanged: the same output and the same files as on a plain directory.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"

have() { command -v "$1" > /dev/null || { echo "without $1"; return 1; }; }

have sqlite3 && both '
  sqlite3 db "create table t(a integer primary key, b); begin;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
      insert into t select i, hex(i) from n;
    commit; select count(*), sum(a) from t; pragma integrity_check;"
  sqlite3 wal "pragma journal_mode=wal; create table t(a); insert into t values (1), (2), (3);"
  sqlite3 wal "select sum(a) from t; pragma wal_checkpoint(truncate); pragma journal_mode=delete;"
  for i in 1 2 3 4; do
    (for j in 1 2 3 4 5 6 7 8; do
      sqlite3 -cmd ".timeout 20000" db "insert into t(b) values ($i * 10 + $j)"
    done) &
  done; wait
  sqlite3 db "select count(*), sum(b) from t where a > 2000; pragma integrity_check;
    delete from t; vacuum;"
  sqlite3 db "pragma mmap_size=1000000; insert into t values (1, 2); select * from t;"
  rm -f db-journal wal-shm wal-wal; sqlite3 db .dump > dump; rm db wal
'
have git && both '
  export GIT_AUTHOR_DATE="2001-01-01T00:00:00Z" GIT_COMMITTER_DATE="2001-01-01T00:00:00Z"
  git config --global user.email a@b; git config --global user.name n
  git config --global init.defaultBranch main
  git config --global gc.auto 0; git config --global index.threads 1
  git init -q r; cd r
  for i in 1 2 3 4 5; do
    mkdir -p d$i; seq $i 100 > d$i/f; git add -A; git commit -qm "change $i"
  done
  git mv d1 e1; git commit -qm moved; git status --short; git log --format="%h %s"
  git checkout -q -b side HEAD~2; echo x >> d2/f; git commit -qam side
  git checkout -q main; git merge -q side -m merge
  git fsck --strict; git gc -q; git fsck; git stash list
  echo dirty >> d3/f; git diff --stat; git checkout -q .
  cd ..; git clone -q r c; git -C c log --format=%h | wc -l
  git -C c status --short; diff -r r/d3 c/d3 && echo same
  rm -rf r/.git c/.git
'
have tar && both '
  mkdir -p t/a/b; seq 1000 > t/a/f; ln -s f t/a/l; ln t/a/f t/a/h
  truncate -s 1M t/sparse; touch -d 2001-01-01 t/a/f
  tar --sort=name -C t -cf x.tar . && mkdir u && tar -C u -xf x.tar && diff -r t u &&
    tar -tvf x.tar | awk "{print \$1, \$6}" | sort
  tar --sort=name -czf x.tgz t && mkdir v && tar -C v -xzf x.tgz && diff -r t v/t &&
    stat -c %h u/a/f
  rm x.tar x.tgz
'
have rsync && both '
  mkdir -p s/a/b; seq 1000 > s/a/f; ln -s f s/a/l; echo 2 > s/a/b/g; chmod 600 s/a/b/g
  rsync -a s/ t/; diff -r s t && echo same; echo more >> s/a/f; rm s/a/b/g
  rsync -a --delete --inplace s/ t/; diff -r s t && echo same; rsync -ain --delete s/ t/
'
have make && have gcc && both '
  printf "%s\n" "#include <stdio.h>" "#include \"v.h\"" \
    "int main(void) {" "  FILE* f = fopen(\"o.txt\", \"w\");" \
    "  fprintf(f, \"%d\\n\", V);" "  return fclose(f);" "}" > m.c
  echo "#define V 42" > v.h; printf "int twice(int x) { return 2 * x; }\n" > t.c
  printf "all: m libt.a\n\tmake -s check\nm: m.o\n\tgcc -o m m.o\n" > Makefile
  printf "m.o: m.c v.h\n\tgcc -pipe -c m.c\nlibt.a: t.o\n\tar rcD libt.a t.o\n" >> Makefile
  printf "check: m\n\t./m && cat o.txt\n" >> Makefile
  make -s -j3; make -q m && echo up to date; touch -d "1 hour" v.h; make -q m || echo stale
  nm libt.a | grep twice; rm -f m m.o t.o libt.a
'
echo "programs: as on a plain directory"
