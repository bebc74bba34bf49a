"""What the tables of cairn bench say of writes and reads: durable or not, and from where."""

import types
import unittest

import bench_case

bench_case.use_package()
from cairn_bench.page import headline  # noqa: E402
from cairn_bench.results import figures, moved  # noqa: E402

TMPFS = {"type": "tmpfs", "source": "tmpfs", "options": "rw,size=8388608k"}
DISK = {"type": "ext4", "source": "/dev/vda", "options": "rw,relatime"}
DAX = {"type": "ext4", "source": "/dev/pmem0", "options": "rw,relatime,dax=always"}
RAM_DISK = {"type": "xfs", "source": "/dev/zram0", "options": "rw"}
SYSTEMS = {
    "tmpfs": {"directory": TMPFS},
    "disk": {"directory": DISK},
    "dax": {"directory": DAX},
    "zram": {"directory": RAM_DISK},
    "cairn": {"directory": DISK, "pool_directory": TMPFS},
}


def label(system, access, fsync=False, direct=False, **reads):
    state = figures.CellState(fsync=fsync, direct=direct, reads=reads)
    return moved.moved(access, state, moved.medium_of({"systems": SYSTEMS}, system))


class Labels(unittest.TestCase):
    def test_writes(self):
        for system, fsync, direct, expected in (
            ("tmpfs", True, False, "fsync called, volatile"),
            ("cairn", True, False, "fsync called, volatile"),
            ("zram", True, False, "fsync called, volatile"),
            ("disk", True, False, "synced"),
            ("dax", True, False, "synced"),
            ("tmpfs", False, False, "not synced"),
            ("disk", False, False, "page cache, not synced"),
            ("zram", False, False, "page cache, not synced"),
            ("disk", False, True, "not synced"),
            ("dax", False, False, "not synced"),
            ("disk", None, False, "as the program does"),
            ("tmpfs", None, False, "as the program does"),
        ):
            with self.subTest(system=system, fsync=fsync, direct=direct):
                for access in ("write", "write-first", "persist"):
                    self.assertEqual(expected, label(system, access, fsync, direct))

    def test_reads(self):
        for system, direct, reads, expected in (
            ("tmpfs", False, {}, "from memory"),
            ("cairn", False, {}, "from memory"),
            ("disk", False, {}, "page cache"),
            ("disk", True, {}, "past the page cache"),
            ("dax", False, {}, "from the medium"),
            ("disk", False, {"by": "next-rank"}, "page cache, by the next rank"),
            ("disk", False, {"after": "drop"}, "page cache dropped"),
            ("cairn", False, {"after": "remount"}, "after a remount"),
        ):
            with self.subTest(system=system, direct=direct, reads=reads):
                self.assertEqual(expected, label(system, "read", direct=direct, **reads))
        self.assertEqual("", label("disk", "stat"))

    def test_a_program_of_others_is_never_not_synced(self):
        """Unless it says that it syncs, nobody knows."""
        for given, outside, expected in (
            ({}, True, None), ({"fsync": True}, True, True), ({}, False, False),
            ({"fsync": 1}, False, True), ({"fsync": 0}, False, False),
        ):
            with self.subTest(given=given, outside=outside):
                output = {"parameters": given, "outside": outside, "api": "", "hints": {},
                          "checks": [], "accesses": []}
                record = {
                    "record": "result", "kernel": "k", "system": "disk", "ranks": 1, "cell": "0",
                    "round": 0, "warmup": False, "status": "ok", "errors": "", "wall_s": 1.0,
                    "command": [], "environment": {}, "output": output,
                }
                matrix = {"kernels": {"k": {}}, "systems": {"disk": {}}}
                run = {"matrix": matrix, "systems": {"disk": {"given": {}, **SYSTEMS["disk"]}}}
                found = figures.Figures(
                    types.SimpleNamespace(run=run, results=[record], limits=[])
                )
                self.assertIs(expected, found.state("k", 1, "disk").fsync)


class BestBaseline(unittest.TestCase):
    def headline(self, rates, fsync):
        """rates: {system: MiB/s of the write}"""
        records = []
        for system, rate in rates.items():
            for number in range(4):
                access = {
                    "unit": "MiB/s", "rate_mib_s": rate * (1 + number / 1000), "seconds": 2.0,
                    "first_done_s": None, "bytes": 1, "original_name": "", "transfer_bytes": 1,
                    "phases_s": {},
                }
                output = {
                    "parameters": {"fsync": fsync}, "api": "", "hints": {}, "checks": [],
                    "accesses": [{**access, "access": name} for name in ("write", "read")],
                }
                records.append({
                    "record": "result", "kernel": "k", "system": system, "ranks": 2,
                    "cell": system, "round": number, "warmup": False, "status": "ok",
                    "errors": "", "wall_s": 1.0, "command": [], "environment": {},
                    "output": output,
                })
        given = {name: {"cairn": "kept"} if name == "cairn" else {} for name in rates}
        run = {
            "matrix": {"kernels": {"k": {}}, "systems": given},
            "systems": {name: {"given": given[name], **SYSTEMS[name]} for name in rates},
        }
        found = figures.Figures(types.SimpleNamespace(run=run, results=records, limits=[]))
        return headline.Headline(found, run)

    def test_a_cached_disk_is_not_the_best_baseline(self):
        """Though its page cache is faster than the tmpfs."""
        top = self.headline({"cairn": 4000, "tmpfs": 3000, "disk": 3500}, fsync=False)
        for access in ("write", "read"):
            self.assertRegex(top.against_best("cairn", access), r"^x1\.33 \(.*; of tmpfs, n = 4$")

    def test_a_cached_disk_that_is_alone_is_named_so(self):
        top = self.headline({"cairn": 4000, "disk": 2000}, fsync=False)
        self.assertRegex(top.against_best("cairn", "write"), r"; of disk \(page cache\), n = 4$")

    def test_a_synced_disk(self):
        top = self.headline({"cairn": 4000, "disk": 2000}, fsync=True)
        self.assertRegex(top.against_best("cairn", "write"), r"; of disk, n = 4$")
        self.assertRegex(top.against_best("cairn", "read"), r"; of disk \(page cache\), n = 4$")


if __name__ == "__main__":
    unittest.main()
