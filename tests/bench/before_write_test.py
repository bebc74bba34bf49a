"""cairn bench: memory before the write: new, used already, or the page cache."""

import json
import re
import types
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
import yaml  # noqa: E402
from cairn_bench.plan import before_write, cells, kernels  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))
SMALL = "{kernel: ior, block: 64KiB, transfer: 8KiB}"


class Words(unittest.TestCase):
    def setUp(self):
        given = {"kernel": "ior", "rewrite": True, "check": False}
        self.cell = cells.Cell("a", "ior", 2, kernels.of("ior").normal(given), {})

    def test_of_each_side(self):
        for side, has, lacks in (
            ("fill", ["--write-only", "--keep", "--no-check", "-G"], ["--existing"]),
            (None, ["--existing", "--no-check"], ["--write-only", "--keep", "-G"]),
            ("write", ["--existing", "--write-only", "--keep"], []),
            ("read", ["--read-only"], ["--existing"]),
        ):
            words = cells.words(self.cell, "ior", "dir", side)
            for option in has:
                self.assertEqual(1, words.count(option), (side, words))
            for option in lacks:
                self.assertNotIn(option, words, side)

    def test_a_kernel_that_cannot(self):
        cell = types.SimpleNamespace(kind="program", parameters={"rewrite": True}, name="x on y")
        self.assertEqual(
            "x on y: program does not write over files that are there (no --existing)",
            before_write.why_not(cell),
        )
        cell.parameters = {}
        self.assertIsNone(before_write.why_not(cell))

    def test_a_kernel_that_can_with_some_keys(self):
        for way, can in (("rewrite", True), ("rename", False)):
            given = {**kernels.of("loop").normal({"kernel": "loop", "way": way}), "rewrite": True}
            cell = types.SimpleNamespace(kind="loop", parameters=given, name="x on y")
            self.assertEqual(can, before_write.why_not(cell) is None, way)

    def test_files_that_were_not_there(self):
        fill = {"command": ["ior"], "wall_s": 1.0}
        for existing, status in ((1, "ok"), (0, "failed")):
            output = {"parameters": {"existing": existing}}
            found = {"status": "ok", "errors": "", "command": ["ior", "--existing"],
                     "output": output}
            self.assertEqual(status, before_write.joined(fill, found)["status"])

    def test_what_writes_meet(self):
        for given, in_memory, expected in (
            ({}, True, "new"),
            ({}, False, "page cache"),
            ({"rewrite": True}, True, "used"),
            ({"rewrite": True}, False, "page cache"),
            ({"cairn": "kept"}, True, "used"),
            ({"cairn": "fresh"}, True, "new"),
        ):
            self.assertEqual(expected, before_write.met(given, in_memory), given)


class Runs(BenchCase):
    def run_matrix(self, systems, kernels_text, expect=0):
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: test\nlimits: false\nrounds: 1\nwarmup: 0\n"
            f"systems:\n  {systems}\nkernels:\n  {kernels_text}\n",
            encoding="utf-8",
        )
        run = self.run_words(
            [CAIRN, "bench", "run", path, "--output", "out"], expect=expect, timeout=300
        )
        if expect == 2:
            return run, []
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        return run, found

    def test_what_the_record_and_the_table_say(self):
        run, found = self.run_matrix(
            "plain: {directory: .}\n  kept: {directory: ., pool_directory: ., cairn: kept}\n"
            "  fresh: {directory: ., pool_directory: ., cairn: fresh}",
            "one: " + SMALL,
        )
        said = {name: each["memory_before_write"] for name, each in found[0]["systems"].items()}
        self.assertEqual(("used", "new"), (said["kept"], said["fresh"]))
        self.assertIn(said["plain"], ("new", "page cache"))  # the scratch directory may be a disk's
        for name, text in said.items():
            self.assertRegex(run.stdout, rf"(?m)^{name} +\d.*B  {text}$")
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        self.assertIn("memory before the write", page)

    def test_files_are_there_before_the_write(self):
        run, found = self.run_matrix(
            "again: {directory: ., rewrite: true}\n"
            "  apart: {directory: ., rewrite: true, reads: {after: remount, command: ['true']}}",
            f"one: {SMALL}\n  other: {{kernel: program, program: ior, optional: true}}",
        )
        self.assertRegex(run.stderr, r"left out: other on again, 2 ranks: program does not write")
        for record in found[1:-1]:
            self.assertEqual("ok", record["status"], record["errors"])
            fill, *_ = record["before"]
            self.assertEqual("fill", fill["what"])
            self.assertIn("--write-only", fill["command"])
            self.assertGreater(sum(check["bytes"] for check in record["output"]["checks"]), 0)
            if record["system"] == "again":
                self.assertIn("--existing", record["command"])
                self.assertEqual(fill["command"][-1], record["command"][-1])
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")

    def test_not_under_cairn(self):
        run, _ = self.run_matrix("a: {directory: ., cairn: kept, rewrite: true}", f"one: {SMALL}",
                                 expect=2)
        self.assertRegex(run.stderr, r"systems\.a\.rewrite: not with cairn: a pool of cairn: kept")


class Ready(unittest.TestCase):
    def test_rounds_of_ready_matrices(self):
        for path in sorted((PACKAGE / "cairn_bench/matrices").glob("*.yaml")):
            found = yaml.safe_load(path.read_text(encoding="utf-8"))
            self.assertTrue("pilot" in found or found["rounds"] >= 10, path.stem)

    def test_systems_of_ready_matrices(self):
        for path in sorted((PACKAGE / "cairn_bench/matrices").glob("*.yaml")):
            text = path.read_text(encoding="utf-8")
            if re.search(r"(?m)^ +cairn: kept$", text):
                self.assertRegex(text, r"(?m)^  cairn-fresh:$", path.stem)
                self.assertRegex(text, r"(?m)^  tmpfs-rewrite:$", path.stem)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
