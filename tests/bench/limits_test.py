"""Limits: the kernel limits, and shares of a limit in the results of a run."""

import json
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, INVALID, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402

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
        self.assertIn("Limits: copies into and out of each medium", page)
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")

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
