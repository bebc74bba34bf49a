"""Pools on an ordinary file system (page granularity) in a machine whose plug is pulled: here a
power cut takes what the kernel had not written yet. The NVDIMM is mounted without dax, so the page
cache lies between."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "tests/vm"))
from vm_case import PROGRAMS, Machine, main, require, verify  # noqa: E402

POOL = "/mnt/pools/p"


def files_keep_what_was_synced():
    """Everything up to the last fsync; then, with durability=write, every write that returned."""
    machine = Machine("fsdax", mount_options="dax=never")
    machine.run(f"mkdir -p -m 700 /mnt/pools && cairn pool create {POOL} --pool-size 96M && sync")
    last = machine.write_until_the_plug(POOL, "fsync", 1, 40)
    last = machine.write_until_the_plug(POOL, "write", last + 1, 20,
                                        before=f"set -e; {verify(POOL, last)}")
    machine.run(verify(POOL, last))


def a_new_pool_survives():
    """What `pool create` has announced is there after the plug was pulled at once."""
    machine = Machine("fsdax", mount_options="dax=never")
    machine.run(
        f"mkdir -p -m 700 /mnt/pools && sync; cairn pool create {POOL} --pool-size 96M && echo made"
        " && sleep 60",
        expect=137,
        pull_plug_on="made\n",
    )
    machine.run(f"cairn pool check {POOL}; cairn pool info {POOL}")


# Attached first: that recovers, and what was under way when the plug was pulled is no finding then.
COUNT = f"""cairn ls {POOL}:/ > /dev/null && cairn pool check {POOL} || exit 1
      for n in 1 2 3 4 5 6; do
        cairn cat {POOL}:/f$n > /run/got 2> /run/why ||
          {{ grep -q "no such" /run/why && echo missing && continue; cat /run/why; exit 1; }}
        if [ ! -s /run/got ]; then echo empty; continue; fi
        cmp /run/got /etc/services && echo whole || exit 1
      done"""


def what_ended_in_order_is_whole():
    """Files written without fsync by processes that ended in order, the plug pulled at once; and a
    later power loss, in the midst of other work, does not take them either."""
    machine = Machine("fsdax", mount_options="dax=never")
    machine.run(f"mkdir -p -m 700 /mnt/pools && cairn pool create {POOL} --pool-size 96M && sync")
    machine.run(
        f"for n in 1 2 3 4 5 6; do cairn cp /etc/services {POOL}:/f$n; done; echo all; sleep 60",
        expect=137, pull_plug_on="all\n")
    last = machine.write_until_the_plug(POOL, "fsync", 1, 20)
    out = machine.run(f"{verify(POOL, last)}; {COUNT}")
    require(out.count("whole") == 6, "the files", out)


def no_size_without_bytes():
    """The same files while another process has the pool, so that nobody detaches as the last: each
    is whole, empty or not there, and the pool is sound."""
    machine = Machine("fsdax", mount_options="dax=never")
    machine.run(f"mkdir -p -m 700 /mnt/pools && cairn pool create {POOL} --pool-size 96M && sync")
    machine.run(
        f"""{PROGRAMS}/power_program write {POOL} fsync 1 > /run/acks &
      until [ -s /run/acks ]; do sleep 0.1; done; kill -STOP $!
      for n in 1 2 3 4 5 6; do cairn cp /etc/services {POOL}:/f$n; done
      sync; echo all; sleep 60""",
        expect=137,
        pull_plug_on="all\n",
    )
    out = machine.run(COUNT)
    require(sum(out.count(word) for word in ("missing", "empty", "whole")) == 6, "the files", out)
    require("empty" in out, "a file survived that was never synced: this test saw no power loss",
            out)


main(files_keep_what_was_synced, a_new_pool_survives, what_ended_in_order_is_whole,
     no_size_without_bytes)
