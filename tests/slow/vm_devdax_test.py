"""Pools on a dax device, in a machine whose plug is pulled."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "tests/vm"))
from vm_case import PROGRAMS, Machine, main, require, verify  # noqa: E402

DEVICE = "/dev/dax0.0"
CREATE = f"cairn pool create --pool-dir {DEVICE} --pool-size 128M"


def info_of(text):
    return json.loads(text[text.index("{"):text.rindex("}") + 1])


def devices_keep_what_returned():
    """On what was never zeroed: twice, with durability=write and with fsync."""
    machine = Machine("devdax")
    # Leftovers of somebody else: nothing on the device may be taken for zeros.
    dirty = ("python3 - <<'END'\nimport mmap, os\n"
             f"m = mmap.mmap(os.open('{DEVICE}', os.O_RDWR), 192 << 20)\n"
             "m[:] = b'\\xa5' * len(m)\nEND\n")
    info = info_of(
        machine.run(f"set -e; {dirty} {CREATE} >&2; cairn pool info --pool-dir {DEVICE} --json"))
    require(
        info["medium"] == "devdax" and info["granularity"] == "cache line" and not info["volatile"]
        and info["large_pages"] and info["size_bytes"] == 128 << 20, "the pool", str(info))
    last = machine.write_until_the_plug(DEVICE, "write", 1, 60)
    last = machine.write_until_the_plug(DEVICE, "fsync", last + 1, 60,
                                        before=f"set -e; {verify(DEVICE, last)}")
    machine.run(verify(DEVICE, last))


def programs_run_on_a_device():
    """SQLite in WAL mode (it maps a file of the pool) and its plug pulled; then everything a pool
    can do."""
    machine = Machine("devdax", align="4096")
    work = ("set -e; mkdir -p -m 700 /tmp/work\n"
            f"run() {{ cairn run --at /tmp/work --pool-dir {DEVICE} --drain \"$@\"; }}\n")
    insert = (
        "run never -- bash -c 'sqlite3 /tmp/work/db \"pragma journal_mode=wal; create table t(n,"
        " x);\"\nfor n in 1 2 3 4 5 6 7 8 9; do\n  sqlite3 /tmp/work/db \"pragma synchronous=full;"
        " insert into t values($n, randomblob(20000));\" && echo row $n\ndone; sleep 600'"
    )
    machine.run(f"cairn pool create {DEVICE}; {work} {insert}", expect=137, pull_plug_on="row 5\n")
    count = "sqlite3 /tmp/work/db 'pragma integrity_check; select count(*) >= 5 from t;'"
    # The directory below is gone with the machine's memory; the pool knows what it covers.
    out = machine.run(
        f"{work} run exit -- {count}; sqlite3 /tmp/work/db 'select count(*) from t;'\ncairn pool"
        f" check {DEVICE}; cairn pool list --pool-dir {DEVICE}; cairn pool remove {DEVICE}\nls -A"
        " /dev/shm/cairn-0"
    )
    require("ok\n1\n" in out and "sound" in out, "what SQLite committed", out)
    require(".device-" not in out, "the lock file was left", out)


def refusals_are_clear():
    """Each thing that cannot be done, with its reason."""
    machine = Machine("devdax")
    out = machine.run(f"""
      says() {{ local text=$1; shift; "$@" > /tmp/said 2>&1 && echo "SUCCEEDED: $*"
                grep -q -e "$text" /tmp/said || {{ echo "WITHOUT '$text': $*"; cat /tmp/said; }}; }}
      says "no pool on this device" cairn pool info {DEVICE}
      says "no pool on this device" cairn pool remove {DEVICE}
      says "not a dax device" cairn pool create /dev/null
      says "do not fit" cairn pool create {DEVICE} --pool-size 1G
      {CREATE} > /dev/null || echo "create failed"
      says "there is a pool on this device" cairn pool create {DEVICE}
      says "a device cannot grow" cairn pool grow {DEVICE} 16M
      says "permission denied" su nobody -s /bin/sh -c "{PROGRAMS}/power_program verify {DEVICE} 0"
      # A mapping that the device's alignment does not allow fails, and only that.
      says "units of 2097152 bytes" {PROGRAMS}/power_program map {DEVICE} shared
      {PROGRAMS}/power_program map {DEVICE} private || echo "no private mapping"
      # In use: by somebody who sees another /dev/shm, and by somebody who sees this one.
      {PROGRAMS}/power_program write {DEVICE} write 1 > /tmp/acks & disown $!
      until [ -s /tmp/acks ]; do sleep 0.1; done; kill -STOP $!  # before it has filled the device
      elsewhere() {{ unshare -m sh -c "mount -t tmpfs shm /dev/shm; $1"; }}
      says "in use through another lock file" elsewhere "cairn ls {DEVICE}:/"
      says "in use through another lock file" elsewhere "cairn pool remove {DEVICE}"
      says "processes are attached" cairn pool remove {DEVICE}
      cairn ls {DEVICE}:/ > /dev/null || echo "not shared"
      kill -KILL $!; sleep 1
      says "in use through another lock file" elsewhere "cairn ls {DEVICE}:/"
      cairn ls {DEVICE}:/ > /dev/null || echo "not recovered"
      # Detached cleanly: whoever comes next may bring a lock file of his own, and so may we again.
      elsewhere "cairn ls {DEVICE}:/" > /dev/null || echo "not handed over"
      cairn ls {DEVICE}:/ > /dev/null || echo "not handed back"
      cairn pool check {DEVICE}
      cairn pool remove {DEVICE}
      daxctl reconfigure-device --mode=system-ram --no-online dax0.0 > /dev/console 2>&1
      says "system-ram mode" cairn pool create {DEVICE}
      echo done""")
    require(out.strip().splitlines()[-1] == "done" and len(out.strip().splitlines()) == 2,
            "the refusals", out)


main(devices_keep_what_returned, programs_run_on_a_device, refusals_are_clear)
