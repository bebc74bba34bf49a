"""Limits: the kernels limits, device and network, and shares of a limit in the results of a run."""

import json
import pathlib
import shutil
import tempfile
import unittest

import bench_case
from bench_case import BUILD, BenchCase, CAIRN, INVALID, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
from cairn_bench.node import space  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))


class Limits(BenchCase):
    def test_the_kernel(self):
        for mpi in MPIS:
            found = self.measured(mpi, "limits", "-b", "1m", "-t", 47008, "-p", 2, "f")
            self.assertTrue(found["valid"])
            self.assertEqual(
                ["write", "write-nt", "read"], [each["access"] for each in found["accesses"]]
            )
            block = (1 << 20) // 47008 * 47008
            self.assertEqual({2 * 2 * block}, {each["bytes"] for each in found["accesses"]})
            # After each of the two ways to write.
            self.assertEqual([2 * block] * 2, [check["bytes"] for check in found["checks"]])
            self.assertEqual([], list(self.scratch.glob("f*")), "files are left")

    def test_a_wrong_byte_is_found(self):
        found = self.kernel(MPIS[0], "limits", "-b", "1m", "--corrupt", 70000, "f", expect=INVALID)
        self.assertIn("f: byte 70000 is", found.stderr)

    def test_shares_in_a_run(self):
        (self.scratch / "other").mkdir()
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: limits\nrounds: 2\nwarmup: 0\nranks: [2]\n"
            "systems:\n  one: {directory: .}\n  two: {directory: ./other}\n"
            "kernels:\n  large: {kernel: ior, block: 2MiB, transfer: 2MiB}\n"
            "  small: {kernel: ior, block: 64KiB, transfer: 4KiB}\n"
            "  names: {kernel: mdtest, files: 10}\n",
            encoding="utf-8",
        )
        shown = self.run_words([CAIRN, "bench", "run", path, "--output", "out"], timeout=300)
        records = [
            json.loads(line)
            for line in (self.scratch / "out/results.jsonl")
            .read_text(encoding="utf-8")
            .splitlines()
        ]
        for record in records:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        limits = [record for record in records if record["record"] == "limit"]
        # One medium, two sizes of pieces, and one rank with the larger; each in every round.
        self.assertEqual(3 * 2, len(limits))
        self.assertEqual(records[0]["limits"], 3)
        self.assertEqual({"ok"}, {record["status"] for record in limits})
        self.assertEqual({("one", "two")}, {tuple(record["systems"]) for record in limits})
        self.assertEqual(
            {(2, 4096), (1, 1 << 20), (2, 1 << 20)},
            {(record["ranks"], record["transfer_bytes"]) for record in limits},
        )
        # In the order of the round, among the cells.
        kinds = [record["record"] for record in records[1:-1]]
        self.assertNotEqual(kinds, sorted(kinds))
        self.assertRegex(
            shown.stdout, r"large +write +2 +one .* % of copy( past the cache)? by 2 ranks"
        )
        self.assertRegex(shown.stdout, r"large +read +2 +two .* % of copy out by 2 ranks")
        self.assertNotRegex(shown.stdout, r"names .* % of")
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        self.assertIn("Limits: what copies, devices and the network give", page)
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")

    def test_the_kernel_of_the_network(self):
        for mpi in MPIS:
            for words, accesses in (([], ["get", "message"]), (["--messages"], ["message"])):
                found = self.measured(
                    mpi, "network", "-b", "100k", "-t", "4k", "-p", 1, *words, ranks=3
                )
                self.assertEqual(accesses, [each["access"] for each in found["accesses"]])
                self.assertEqual(0, found["parameters"]["pairs_between_nodes"])
                # Each of three ranks reads 25 pieces, and compares them.
                self.assertEqual({3 * 102400}, {each["bytes"] for each in found["accesses"]})
                self.assertEqual([3 * 102400] * len(accesses),
                                 [c["bytes"] for c in found["checks"]])
        wrong = self.kernel(MPIS[0], "network", "-b", "1m", "--corrupt", 5, expect=INVALID)
        self.assertIn("rank 1: byte 5 is", wrong.stderr)

    def on_disk(self):
        """A directory that is not in memory, or none."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="limits-test-", dir=BUILD))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        if space.in_memory(directory):
            self.skipTest(f"{BUILD} lies in memory")
        return directory

    def limits_of_a_run(self, disk, kind, systems, *words):
        """Records of the limits, and what the run showed."""
        path = self.scratch / "m.yaml"
        path.write_text(
            f"format: 1\nname: limits\nrounds: 2\nwarmup: 0\nlimits: [{kind}]\n"
            f"systems: {json.dumps(systems)}\n"
            "kernels: {one: {kernel: ior, block: 1MiB, transfer: 1MiB, fsync: true}}\n",
            encoding="utf-8",
        )
        shown = self.run_words(
            [CAIRN, "bench", "run", path, "--output", "out", *words], timeout=300
        )
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        for record in records:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        self.assertEqual([], list(disk.iterdir()), "files are left")
        return [record for record in records if record["record"] == "limit"], shown.stdout

    def check_device(self, limits, shown, tool, drains):
        self.assertEqual(["device"] * 2, [record["kind"] for record in limits])
        for record in limits:
            self.assertEqual(("ok", tool), (record["status"], record["tool"]), record["errors"])
            self.assertEqual((["disk"], drains), (record["systems"], record["drains"]))
            self.assertEqual(
                [("device-write", 2 * 64 << 20), ("device-read", 2 * 64 << 20)],
                [(each["access"], each["bytes"]) for each in record["output"]["accesses"]],
            )
        self.assertRegex(shown, rf"one +write +2 +disk .* % of device write by {tool}")
        self.assertRegex(shown, rf"one +read +2 +disk .* % of device read by {tool}")
        self.assertNotRegex(shown, r" cairn .* % of device")

    def test_a_device_by_fio(self):
        if shutil.which("fio") is None:
            self.skipTest("no fio here")
        disk = self.on_disk()
        cairn = {"directory": str(disk), "pool_directory": ".", "cairn": "fresh"}
        found = self.limits_of_a_run(
            disk, "device", {"disk": {"directory": str(disk)}, "cairn": cairn}
        )
        self.check_device(*found, "fio", ["cairn"])

    def test_a_device_without_fio(self):
        # A launcher's ranks may lie on nodes that this node's fio does not see.
        launcher = f"mpirun.{MPIS[0]} -n {{ranks}}"
        disk = self.on_disk()
        systems = {"disk": {"directory": str(disk), "mpi": MPIS[0]}}
        found = self.limits_of_a_run(disk, "device", systems, "--launcher", launcher)
        self.check_device(*found, "direct I/O", [])
        wrong = self.kernel(
            *(MPIS[0], "device", "-b", "1m", "--corrupt", 70000, disk / "f"),
            expect=INVALID,
        )
        self.assertIn("byte 70000 is", wrong.stderr)

    def test_the_network_where_it_is_asked_for(self):
        limits, shown = self.limits_of_a_run(
            self.on_disk(), "network", {"memory": {"directory": "."}}, "--rounds", 1
        )
        self.assertEqual(
            [("network", "MPI", "ok")],
            [(record["kind"], record["tool"], record["status"]) for record in limits],
        )
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        self.assertIn("message within the node", page)
        self.assertNotIn("% of", shown)  # no cell of one node goes through a network

    def test_no_limits(self):
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: none\nrounds: 1\nwarmup: 0\nlimits: false\n"
            "systems: {one: {directory: .}}\n"
            "kernels: {a: {kernel: ior, block: 64KiB, transfer: 8KiB}}\n",
            encoding="utf-8",
        )
        shown = self.run_words([CAIRN, "bench", "run", path, "--output", "out"])
        self.assertNotIn('"record": "limit"', (self.scratch / "out/results.jsonl").read_text())
        self.assertNotIn("% of copy", shown.stdout)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
