"""Pools on an ordinary file system (page granularity) in a machine whose plug is pulled: here a power cut takes what
the kernel had not written yet. The NVDIMM is mounted without dax, so the page cache lies between."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "tests/vm"))
from vm_case import Machine, main, verify  # noqa: E402

POOL = "/mnt/pools/p"


def files_keep_what_was_synced():
    """Everything up to the last fsync, twice."""
    machine = Machine("fsdax", mount_options="dax=never")
    machine.run(f"mkdir -p -m 700 /mnt/pools && cairn pool create {POOL} --pool-size 96M && sync")
    last = machine.write_until_the_plug(POOL, "fsync", 1, 40)
    last = machine.write_until_the_plug(POOL, "fsync", last + 1, 40, before=f"set -e; {verify(POOL, last)}")
    machine.run(verify(POOL, last))


def a_new_pool_survives():
    """What `pool create` has announced is there after the plug was pulled at once."""
    machine = Machine("fsdax", mount_options="dax=never")
    machine.run(f"mkdir -p -m 700 /mnt/pools && sync; cairn pool create {POOL} --pool-size 96M && echo made && sleep 60",
                expect=137, pull_plug_on="made\n")
    machine.run(f"cairn pool check {POOL}; cairn pool info {POOL}")


main(files_keep_what_was_synced, a_new_pool_survives)
