"""The write window by memory protection keys, on an emulated processor that has them, and on one
that has not."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "tests/vm"))
from vm_case import PROGRAMS, Machine, main, require  # noqa: E402

POOL = "/dev/shm/cairn-0/default"
UNIT_TEST = PROGRAMS.parent / "persist/region/write_window_test"


def stray_stores_fault():
    """With the window they end in SIGSEGV; without it the same store goes through."""
    machine = Machine("none")
    out = machine.run(f"""set -e
      {UNIT_TEST}
      cairn pool create --pool-size 64M
      {PROGRAMS}/window_program {POOL} on
      {PROGRAMS}/window_program {POOL} off
      cairn pool check""")
    require("this processor has protection keys" in out and "sound" in out, "the window", out)


def programs_run_behind_the_window():
    """The adapter's calls all open it: SQLite, git and Python on covered files."""
    machine = Machine("none")
    out = machine.run(
        """set -e
      mkdir -m 700 /run/work; cd /run/work
      cairn run --at /run/work --pool-protect on --pool-size 256M -- bash -e -c '
        sqlite3 db "create table t(x); insert into t values(1),(2); select sum(x) from t;"
        git -c init.defaultBranch=main init -q repo; cd repo; seq 1000 > f; git add f
        git -c user.name=a -c user.email=a@b commit -q -m one; git gc -q; git fsck
        python3 -c "
import mmap, os, threading, signal
with open(\\"m\\", \\"w+b\\") as f:
    f.truncate(8192)
    m = mmap.mmap(f.fileno(), 8192); m[0:3] = b\\"abc\\"; m.close()
    write = lambda n: os.pwrite(f.fileno(), b\\"t\\", 4096 + n)
    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
    f.seek(0); assert f.read(3) == b\\"abc\\"; f.seek(4096); assert f.read(8) == b\\"t\\" * 8
if os.fork() == 0:
    open(\\"child\\", \\"w\\").write(\\"c\\"); os._exit(0)
assert os.wait()[1] == 0
print(open(\\"child\\").read())
"'
      sqlite3 db "select count(*) from t"; git -C repo --no-pager log --format=%s; cat repo/child"""
    )
    require("3\n" in out and "one\n" in out and out.strip().endswith("c"), "the programs", out)


def refused_without_keys():
    """A processor without protection keys: a clear refusal, and everything works without."""
    machine = Machine("none", cpu="max,-pku")
    out = machine.run(f"""
      {UNIT_TEST} || exit 1
      cairn pool create --pool-size 64M || exit 1
      {PROGRAMS}/window_program {POOL} on; [ $? = 3 ] || exit 1
      mkdir /run/work; cairn run --at /run/work --pool-protect on -- touch /run/work/f && exit 1
      {PROGRAMS}/window_program {POOL} off""")
    require(out.count("no memory protection keys") == 2, "the refusal", out)
    require("this processor has no protection keys" in out, "the unit test's branch", out)


main(stray_stores_fault, programs_run_behind_the_window, refused_without_keys)
