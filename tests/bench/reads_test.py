"""cairn bench: reads by other ranks, after a remount, and without a page cache."""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import bench_case
from bench_case import BUILD, BenchCase, CAIRN, INVALID, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
from cairn_bench.node import space  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))
# Each kernel that reads what an earlier command has written, and what it has left between the two.
APART = {
    "ior": (["-F", "-b", "64k", "-t", "8k", "-o", "f"], 3),
    "hacc": (["-F", "100", "f"], 3),
    "bdcats": (["-a", "MPIIO", "--make", "100", "-f", "f"], 1),
    "loop": (["-b", "64k", "-t", "8k", "-n", "2", "-m", "0", "-o", "f"], 1),
    "llmckpt": (["--scale", "1e-6", "-n", "2", "-r", "1", "-o", "f"], 3),
}
SMALL = "block: 64KiB, transfer: 8KiB"


class Kernels(BenchCase):
    def test_writes_and_reads_apart(self):
        for name, (words, files) in APART.items():
            with self.subTest(kernel=name):
                both = [MPIS[-1], name, *words]
                self.kernel(*both, "--write-only", "--keep", "--no-check", ranks=3)
                left = list(self.scratch.glob("f*"))
                self.assertEqual(files, len(left))
                found = self.measured(*both, "--read-only", "--readers", "next-rank", ranks=3)
                self.assertLessEqual({a["access"] for a in found["accesses"]},
                                     {"read", "read+subset"})
                self.assertEqual("next-rank", found["parameters"]["readers"])
                self.assertGreater(sum(check["bytes"] for check in found["checks"]), 0)
                self.assertEqual([], list(self.scratch.glob("f*")), "files are left")

    def test_a_byte_that_turned_between_the_two(self):
        for name in ("hacc", "llmckpt"):
            with self.subTest(kernel=name):
                both = [MPIS[-1], name, *APART[name][0]]
                self.kernel(*both, "--write-only", "--keep", "--no-check", "--corrupt", 40)
                found = self.kernel(*both, "--read-only", expect=INVALID)
                self.assertIn("byte 40 is", found.stderr)

    def test_whose_data(self):
        for words, text in (
            (["--readers", "all"], "--readers: unknown readers 'all'"),
            (["--readers", "next-node"], "--readers next-node: this job has one node only"),
            (["--readers", "next-rank", "-C"], "--readers: cannot be used with -C"),
        ):
            run = self.kernel(MPIS[0], "ior", *words, "-o", "f", expect=None)
            self.assertNotEqual(0, run.returncode)
            self.assertIn(text, run.stderr)

    def test_what_drop_leaves(self):
        place = self.scratch / "files"  # beside the files of Open MPI's session
        place.mkdir()
        found = self.measured(MPIS[0], "drop", place, ranks=1)["parameters"]
        self.assertEqual((0, 0), (found["files"], found["file_bytes"]))
        (place / "below").mkdir()
        (place / "below/f").write_bytes(b"x" * 10000)
        found = self.measured(MPIS[0], "drop", place, ranks=1)["parameters"]
        self.assertEqual((1, 10000), (found["files"], found["file_bytes"]))
        if space.in_memory(self.scratch):  # files in memory are nowhere else
            self.assertEqual(10000, found["cached_bytes"])


class Systems(BenchCase):
    def matrix(self, systems, kernels):
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: test\nlimits: false\nrounds: 1\nwarmup: 0\n"
            f"systems:\n  {systems}\nkernels:\n  {kernels}\n", encoding="utf-8")
        return path

    def bench(self, *words, **more):
        return self.run_words([CAIRN, "bench", "run", *words], timeout=300, **more)

    def results(self, directory="out"):
        lines = (self.scratch / directory / "results.jsonl").read_text(encoding="utf-8")
        records = [json.loads(line) for line in lines.splitlines()]
        for record in records:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        return {each["system"]: each for each in records if each["record"] == "result"}

    def test_each_kind_of_reads(self):
        disk = pathlib.Path(tempfile.mkdtemp(prefix="reads-", dir=BUILD))
        self.addCleanup(shutil.rmtree, disk, ignore_errors=True)
        pool = "directory: ., pool_directory: ., cairn:"
        systems = [
            "other: {directory: ., reads: {by: next-rank}}",
            f"kept: {{{pool} kept, reads: {{after: remount, by: next-rank}}}}",
            f"fresh: {{{pool} fresh, reads: {{after: remount}}}}",
            "again: {directory: ., reads: {after: remount, command: [ls, '{directory}/ior']}}",
            f"dropped: {{directory: {disk}, optional: true, reads: {{after: drop}}}}",
        ]
        path = self.matrix(
            "\n  ".join(systems),
            f"one: {{kernel: ior, {SMALL}, fsync: true}}\n  names: {{kernel: mdtest}}")
        shown = self.bench(path, "--output", "out", "--only", "one|kept|again")
        found = self.results()
        in_memory = space.in_memory(disk)
        names = {"other", "kept", "fresh", "again"} | (set() if in_memory else {"dropped"})
        self.assertEqual(names, set(found))
        for each in found.values():
            self.assertEqual("ok", each["status"])
            self.assertEqual(["write", "read"], [a["access"] for a in each["output"]["accesses"]])
            self.assertEqual(2 * 65536, sum(c["bytes"] for c in each["output"]["checks"]))
        steps = {name: [step["what"] for step in each.get("before", [])]
                 for name, each in found.items()}
        self.assertEqual(([], ["write"], ["write", "remount"]),
                         (steps["other"], steps["kept"], steps["again"]))
        self.assertIn("never", found["kept"]["before"][0]["command"])
        self.assertIn("--read-only", found["kept"]["command"])
        self.assertIn("left out: names on kept, 2 ranks: mdtest does not read what an earlier",
                      shown.stderr)
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        for text in ("cairn run again, over the same pool, not drained",
                     "drained; then cairn run again, with a new pool", "remounted by a command",
                     "after a remount, by the next rank", "from memory, by the next rank"):
            self.assertIn(text, page)
        durable = re.search(r"durable after</th>(.*?)</tr>", bench_case.plain(page)).group(1)
        # Of the columns other, kept, fresh: in memory, not drained yet, drained by the writing run.
        self.assertRegex(durable, r"never: in memory</td><td>not measured: the reads come before "
                         r"the drain</td><td>\d\.\d+ s, when it has drained</td>")
        if not in_memory:
            self.assertEqual(["write", "drop"], steps["dropped"])
            reads = found["dropped"]["reads"]
            self.assertEqual((2 * 65536, 0), (reads["file_bytes"], reads["cached_bytes"]))
            self.assertIn("0 B of 128.0 KiB still cached", page)
            self.assertRegex(shown.stdout, r"one +read.*page cache dropped")
        self.assertEqual([], list(disk.iterdir()), "files are left")

    def test_a_step_that_fails(self):
        path = self.matrix(
            "gone: {directory: ., reads: {after: remount, command: [sh, -c, 'rm -r"
            " {directory}/*']}}\n  stays: {directory: ., reads: {after: remount, command: [sh, -c,"
            " 'echo busy >&2; exit 3']}}",
            f"one: {{kernel: ior, {SMALL}}}",
        )
        shown = self.bench(path, "--output", "out", expect=1)
        found = self.results()
        self.assertEqual({"failed"}, {each["status"] for each in found.values()})
        self.assertEqual((3, None), (found["stays"]["exit_code"], found["stays"]["output"]))
        self.assertIn("busy", shown.stderr)
        self.assertIn("open failed: No such file", shown.stderr)

    def test_what_a_system_cannot_have(self):
        for system, text in (
            ("{directory: ., cairn: kept, reads: {after: drop}}", "a kept pool stays in memory"),
            ("{directory: ., reads: {after: remount}}", "after: remount: needs command"),
            ("{directory: ., cairn: kept, reads: {after: remount, command: [ls]}}",
             "command: belongs to after: remount of a system without cairn"),
            ("{directory: ., reads: {aftr: drop}}",
             "unknown key aftr in systems.one.reads; did you mean after?"),
        ):
            run = self.bench(self.matrix("one: " + system, f"one: {{kernel: ior, {SMALL}}}"),
                             expect=2)
            self.assertIn(text, run.stderr)
        if space.in_memory(self.scratch):
            path = self.matrix("one: {directory: ., reads: {after: drop}}",
                               f"one: {{kernel: ior, {SMALL}}}")
            self.assertIn("is in memory; its files are nowhere else",
                          self.bench(path, expect=2).stderr)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
