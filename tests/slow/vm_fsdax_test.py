"""Pools on a DAX file system, on a real NVDIMM device, in a machine whose plug is pulled."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "tests/vm"))
from vm_case import PROGRAMS, Machine, main, require, verify  # noqa: E402

POOL = "/mnt/pools/p"


def create(size="128M", pool=POOL):
    return f"mkdir -p -m 700 {os.path.dirname(pool)} && cairn pool create {pool} --pool-size {size}"


def info_of(text):
    return json.loads(text[text.index("{"):text.rindex("}") + 1])


def fsdax_keeps_what_returned():
    """Twice: with durability=write every write that returned, else all up to the last fsync."""
    machine = Machine("fsdax")
    info = info_of(machine.run(f"{create()} >&2 && cairn pool info {POOL} --json"))
    require(info["medium"] == "fsdax" and not info["volatile"], "the medium", str(info))
    last = machine.write_until_the_plug(POOL, "write", 1, 60)
    last = machine.write_until_the_plug(POOL, "fsync", last + 1, 60,
                                        before=f"set -e; {verify(POOL, last)}")
    machine.run(verify(POOL, last))


def a_new_pool_survives():
    """What `pool create` has announced is there after the plug was pulled at once."""
    machine = Machine("fsdax")
    machine.run(f"{create()} && cairn cp /etc/passwd {POOL}:/copy && echo made && sleep 60",
                expect=137, pull_plug_on="made\n")
    machine.run(f"cairn pool check {POOL} && cairn cat {POOL}:/copy | cmp - /etc/passwd")


def unchanged_programs_run():
    """SQLite under `cairn run`, its plug pulled while it works: committed rows are in the pool."""
    machine = Machine("fsdax")
    work = (
        "set -e; mkdir -p -m 700 /mnt/pools /mnt/work\nrun() { cairn run --at /mnt/work --pool-dir"
        " /mnt/pools --pool-size 128M --drain \"$@\"; }\n"
    )
    insert = (
        "run never -- bash -c 'sqlite3 /mnt/work/db \"create table t(n integer primary key, x);\"\n"
        "for n in 1 2 3 4 5 6 7 8 9; do\n"
        "  sqlite3 /mnt/work/db \"insert into t values($n, randomblob(20000));\" && echo row $n\n"
        "done; sleep 600'")
    machine.run(work + insert, expect=137, pull_plug_on="row 5\n")
    count = "sqlite3 /mnt/work/db 'pragma integrity_check; select count(*) >= 5 from t;'"
    out = machine.run(f"{work} run exit -- {count}; sqlite3 /mnt/work/db 'select count(*) from t;'")
    require("ok\n1\n" in out, "what SQLite committed", out)


def without_map_sync():
    """A device that is DAX but cannot promise MAP_SYNC is used as a plain file, and says so."""
    machine = Machine("virtio")
    info = info_of(
        machine.run(
            f"{create()} >&2 && cairn pool info {POOL} --json && cairn pool check {POOL} >&2"))
    require(info["medium"] == "file", "the medium", str(info))


def refusals_are_clear():
    """A pool of a DAX file system on the same one mounted without dax; the block device itself."""
    machine = Machine("fsdax")
    machine.run(create())
    out = machine.run(f"cairn pool info {POOL}", expect=None, mount_options="dax=never")
    require("refused MAP_SYNC" in out and "-o dax=always" in out, "no dax", out)
    machine.run(f"cairn pool check {POOL} && cairn pool info {POOL}")
    out = machine.run("cairn pool create --pool-dir /dev/pmem0", expect=None)
    require("neither a directory nor a dax device" in out, "the block device", out)


main(fsdax_keeps_what_returned, a_new_pool_survives, unchanged_programs_run, without_map_sync,
     refusals_are_clear)
