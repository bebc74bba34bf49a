#!/usr/bin/env bash
# More programs nobody here wrote, where they are installed: archives, editors, interpreters, build
# tools.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"

have() { command -v "$1" > /dev/null || { echo "without $1"; return 1; }; }

have cpio && both '
  mkdir -p a/b; seq 1000 > a/f; ln a/f a/h; ln -s f a/l; find a | sort | cpio -o --quiet > x.cpio
  mkdir u; (cd u && cpio -id --quiet < ../x.cpio); diff -r a u/a && stat -c %h u/a/f
  cpio -it --quiet < x.cpio; rm x.cpio
'
have zip && have unzip && both '
  mkdir -p a/b; seq 1000 > a/f; echo 2 > a/b/g; TZ=UTC touch -d 2001-01-01 a a/f a/b a/b/g
  zip -qrX x.zip a; unzip -q x.zip -d u; diff -r a u/a && echo same
  echo more >> a/f; touch -d 2002-01-01 a/f
  zip -quX x.zip a/f; unzip -p x.zip a/f | tail -1; unzip -tq x.zip; rm x.zip
'
# shellcheck disable=SC2016  # the dollar signs are Perl's
have perl && both '
  perl -e "open(F, q(>), q(x)) or die; print F qq(line \$_\n) for 1..100; close F;
    open(F, q(+<), q(x)); seek(F, 7, 0); print F q(X); close F;
    rename q(x), q(y); print -s q(y), qq(\n);
    open(F, q(y)); while (<F>) { print if /X|100/ } print join(q( ), sort glob(q(*))), qq(\n);
    opendir(D, q(.)); print scalar(grep { !/^\./ } readdir D), qq(\n);
    mkdir q(d); chdir q(d); symlink q(../y), q(l); print readlink(q(l)), qq(\n);
    open(P, q(-|), q(wc -l < l)); print <P>; truncate(q(../y), 10); print -s q(l), qq(\n);
    utime(1, 2, q(l)); print +(stat q(l))[9], qq(\n)"
  perl -i.bak -pe "s/line/LINE/" y; cat y y.bak
'
have ed && both 'printf "a\none\ntwo\n.\nw f\n1d\nwq\n" | ed -s f; cat f
  printf "%%s/two/2/\nw\n" | ed -s f; cat f'
have vim && both '
  printf "one\ntwo\nthree\n" > f; vim -u NONE -n -es -c "%s/two/2/" -c "wq" f; cat f
  vim -u NONE -es -c "set backup writebackup" -c "normal Gofour" -c "w" -c "w copy" -c "q" f
  cat f copy; ls -A
'
have python3 && both '
  mkdir p; for i in 1 2 3; do echo "def f(): return $i" > p/m$i.py; done; touch p/__init__.py
  python3 -m compileall -q p && ls p/__pycache__ | wc -l
  python3 -c "import p.m2; print(p.m2.f())"; rm -r p/__pycache__
  python3 -c "
import mmap, os, shelve, sqlite3, tempfile, zipfile, multiprocessing, fcntl, pathlib
with shelve.open(\"s\") as s: s[\"k\"] = list(range(1000))
with shelve.open(\"s\") as s: print(sum(s[\"k\"]))
with zipfile.ZipFile(\"z.zip\", \"w\") as z: z.writestr(\"a\", \"b\" * 10000)
print(zipfile.ZipFile(\"z.zip\").testzip(), os.path.getsize(\"z.zip\"))
def work(n):
    with open(\"log\", \"a\") as f: f.write(f\"{n}\\n\")
with multiprocessing.Pool(3) as pool: pool.map(work, range(50))
print(sorted(map(int, open(\"log\").read().split())) == list(range(50)))
with tempfile.NamedTemporaryFile(dir=\".\") as f:
    f.write(b\"x\"); f.flush(); print(os.stat(f.name).st_size)
print(sorted(p.name for p in pathlib.Path(\".\").iterdir()
             if p.suffix != \".db\" and not p.name.startswith(\"s\")))
"; rm -f s* z.zip log
'
have cmake && have ninja && have gcc && both '
  mkdir src
  printf "%s\n" "cmake_minimum_required(VERSION 3.20)" "project(P C)" \
    "add_library(l STATIC l.c)" "add_executable(m m.c)" "target_link_libraries(m l)" \
    "enable_testing()" "add_test(NAME t COMMAND m)" > src/CMakeLists.txt
  echo "int l(void) { return 42; }" > src/l.c
  printf "%s\n" "#include <stdio.h>" "int l(void);" \
    "int main(void) { return printf(\"%d\\n\", l()) != 3; }" > src/m.c
  cmake -G Ninja -S src -B b > /dev/null && ninja -C b > /dev/null && b/m
  touch -d "1 hour" src/l.c; ninja -C b -n | tail -1 | grep -c Linking
  ctest --test-dir b 2>&1 | grep "tests passed"; rm -r b
'
echo "more programs: as on a plain directory"
