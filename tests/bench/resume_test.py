"""cairn bench run: a killed run that goes on, a pilot, chosen sizes, a full disk, the history."""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
from cairn_bench import errors  # noqa: E402
from cairn_bench.plan import sizing  # noqa: E402
from cairn_bench.run import scratch  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))
SMALL = "{kernel: ior, block: 64KiB, transfer: 8KiB}"


class Runs(BenchCase):
    def matrix(self, head, systems="here: {directory: .}", kernels=f"one: {SMALL}\n  two: {SMALL}"):
        path = self.scratch / "m.yaml"
        path.write_text(
            f"format: 1\nname: test\nlimits: false\n{head}\nsystems:\n  {systems}\n"
            f"kernels:\n  {kernels}\n",
            encoding="utf-8",
        )
        return path

    def bench(self, *words, expect=0, **more):
        return self.run_words([CAIRN, "bench", *words], expect=expect, timeout=300, **more)

    def records(self, directory="out"):
        lines = (
            (self.scratch / directory / "results.jsonl").read_text(encoding="utf-8").splitlines()
        )
        found = [json.loads(line) for line in lines]
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        return found

    def results(self, directory="out"):
        return [record for record in self.records(directory) if record["record"] == "result"]

    def start(self, *words):
        return subprocess.Popen(
            [CAIRN, "bench", "run", *map(str, words)],
            cwd=self.scratch,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait_for_results(self, count, directory="out"):
        path = self.scratch / directory / "results.jsonl"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if path.exists() and path.read_bytes().count(b'"record": "result"') >= count:
                return
            time.sleep(0.02)
        self.fail(f"no {count} results in time")

    def test_a_killed_run_goes_on(self):
        path = self.matrix("rounds: 4\nwarmup: 1\nseed: 9")
        whole = "whole"
        self.bench("run", path, "--output", whole)
        process = self.start(path, "--output", "out")
        self.wait_for_results(3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open(self.scratch / "out/results.jsonl", "a", encoding="utf-8") as file:
            file.write('{"record": "result", "cut o')  # what a kill within a line leaves
        before = len((self.scratch / "out/results.jsonl").read_bytes().splitlines())
        shown = self.bench("run", "--resume", "out")
        found = self.records()
        self.assertEqual(
            ["run", "resume", "end"], [r["record"] for r in found if r["record"] != "result"]
        )
        self.assertEqual("complete", found[-1]["reason"])
        self.assertEqual(1, len({record["run"] for record in found}))
        self.assertGreater(len(found), before)
        # Every cell of every round once, in the order of a run that nobody killed.
        order = [(record["round"], record["kernel"]) for record in self.results()]
        self.assertEqual([(each["round"], each["kernel"]) for each in self.results(whole)], order)
        self.assertRegex(shown.stdout, r"one +write")
        self.assertIn("nothing to resume", self.bench("run", "--resume", "out", expect=2).stderr)

    def left(self):
        """Directories that runs have made and not removed, here and in memory."""
        run = self.records()[0]
        paths = map(pathlib.Path, run["scratch"]["paths"])
        return [path for path in paths if path.exists()]

    def test_what_a_killed_run_has_left_is_removed(self):
        path = self.matrix(
            "rounds: 3\nwarmup: 0",
            systems="here: {directory: .}\n  kept: {directory: ., cairn: kept}\n"
            "  fresh: {directory: ., cairn: fresh, pool_directory: .}",
        )
        process = self.start(path, "--output", "out")
        self.wait_for_results(3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # 3 scratch directories, 2 of pools, of which one lies in /dev/shm, and that of MPI.
        left = self.left()
        self.assertEqual(6, len(left))
        aside = self.scratch / "not-ours"
        aside.mkdir()
        (aside / "file").touch()
        scratch = next(each for each in left if each.parent == self.scratch)
        (scratch / "below").symlink_to(aside)
        shown = self.bench("run", "--resume", "out")
        self.assertIn("removed 6 directories that the run had left", shown.stderr)
        self.assertEqual([], self.left())
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")
        self.assertTrue((aside / "file").exists())
        self.assertEqual({"ok"}, {each["status"] for each in self.results()})

    def test_a_run_that_still_goes_on(self):
        path = self.matrix("rounds: 40\nwarmup: 0")
        process = self.start(path, "--output", "out")
        self.wait_for_results(1)
        shown = self.bench("run", "--resume", "out", expect=2)
        self.assertIn("results.jsonl: the run goes on in another process", shown.stderr)
        self.assertNotEqual([], self.left())
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(60))
        self.assertEqual([], self.left())

    def test_what_is_not_removed(self):
        """Of another user, of another name, and where nothing is."""
        mine, strange = (self.scratch / f"cairn-bench-{digit * 16}" for digit in "01")
        named = self.scratch / "cairn-bench-mine"
        link = self.scratch / f"cairn-bench-{'2' * 16}"
        for each in (mine, strange, named):
            (each / "below").mkdir(parents=True)
            (each / "below/file").touch()
        link.symlink_to(named)
        gone = self.scratch / f"cairn-bench-{'3' * 16}"
        paths = [mine, strange, named, link, gone, "cb-00000000"]
        if os.geteuid() == 0:
            os.chown(strange, 12345, 12345)
        note = {"host": "here", "paths": [*map(str, paths), 5]}
        with contextlib.redirect_stderr(io.StringIO()) as said:
            scratch.remove_left([note], "here")
        self.assertFalse(mine.exists())
        self.assertTrue((named / "below/file").exists())
        self.assertTrue(link.is_symlink())
        self.assertEqual(os.geteuid() == 0, strange.exists())
        if os.geteuid() == 0:
            self.assertIn(f"{strange}: belongs to user 12345; left there", said.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as said:
            scratch.remove_left([note], "there")
        self.assertIn("the run began on here; what it left in memory there", said.getvalue())

    def test_a_trial_that_was_killed(self):
        slow = "here: {directory: ., prefix: [sh, -c, 'sleep 3; exec \"$@\"', x]}"
        path = self.matrix("rounds: 1\nwarmup: 0\ntarget_s: 1000", systems=slow)
        process = self.start(path, "--output", "out")
        note = self.scratch / "out/trial.jsonl"
        deadline = time.monotonic() + 60
        while not (note.exists() and note.read_bytes().endswith(b"\n")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        shown = self.bench("run", "--resume", "out", expect=2)
        self.assertIn("out: the run ended before its first round; start it anew", shown.stderr)
        paths = json.loads(note.read_text(encoding="utf-8"))["scratch"]["paths"]
        path = self.matrix("rounds: 1\nwarmup: 0\ntarget_s: 1000")
        self.bench("run", path, "--output", "out")
        self.assertEqual([], [each for each in paths if pathlib.Path(each).exists()])
        self.assertFalse(note.exists())

    def test_an_interrupted_run_goes_on(self):
        path = self.matrix("rounds: 4\nwarmup: 0")
        process = self.start(path, "--output", "out")
        self.wait_for_results(2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(60))
        self.assertEqual("interrupted", self.records()[-1]["reason"])
        self.bench("run", "--resume", "out")
        self.assertEqual("complete", self.records()[-1]["reason"])
        self.assertEqual(8, len(self.results()))

    def test_what_resume_does_not_take(self):
        path = self.matrix("rounds: 1\nwarmup: 0")
        for words, text in (
            (["--resume", "out", path], "MATRIX: not with --resume"),
            (["--resume", "out", "--rounds", 3], "--rounds: not with --resume"),
            (["--resume", "gone"], "gone/results.jsonl: No such file"),
            ([], "missing MATRIX or --resume DIR"),
        ):
            self.assertIn(text, self.bench("run", *words, expect=2).stderr)

    def test_a_void_cell_stays_void(self):
        path = self.matrix(
            "rounds: 3\nwarmup: 0",
            kernels="bad: {kernel: ior, block: 64KiB, transfer: 8KiB, options: [--corrupt, 9]}\n"
            f"  one: {SMALL}",
        )
        process = self.start(path, "--output", "out")
        self.wait_for_results(3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.bench("run", "--resume", "out", expect=1)
        self.assertEqual(1, sum(each["kernel"] == "bad" for each in self.results()))
        self.assertEqual(3, sum(each["kernel"] == "one" for each in self.results()))

    def test_a_pilot_fixes_the_rounds(self):
        head = "warmup: 1\npilot: {rounds: 2, precision: %s, least: 2, most: 4}"
        path = self.matrix(head % "1.0e+30")
        shown = self.bench("run", path, "--output", "out")
        (plan,) = [record for record in self.records() if record["record"] == "plan"]
        self.assertEqual(3, plan["rounds"])  # below three there is no interval
        # One to warm up and two of the pilot are no figures; three rounds are.
        self.assertEqual(
            [True, True, True, False, False, False],
            [each["warmup"] for each in self.results() if each["kernel"] == "one"],
        )
        self.assertIn("the pilot asks for 3 rounds", shown.stderr)
        self.assertIn(
            "fixed by a pilot of 2 rounds", (self.scratch / "out/report.html").read_text()
        )
        self.bench("run", self.matrix(head % "0.000001"), "--output", "most")
        self.assertEqual(2 * (3 + 4), len(self.results("most")))
        run = self.bench("run", self.matrix("pilot: {least: 9, most: 4}"), expect=2)
        self.assertIn("pilot.least: 9 is more than pilot.most: 4", run.stderr)

    def test_noise_floor(self):
        path = self.matrix("rounds: 3\nwarmup: 0\nbaseline: here\nnoise_floor: true")
        shown = self.bench("run", path, "--output", "out")
        self.assertRegex(
            shown.stdout, r"Noise floor: here against itself: \d of 4 intervals exclude 1"
        )
        self.assertEqual({"here", "here-again"}, {each["system"] for each in self.results()})

    def test_sizes_are_chosen(self):
        path = self.matrix(
            "rounds: 1\nwarmup: 0\ntarget_s: 0.001",
            kernels="one: {kernel: ior, block: 64KiB, transfer: 8KiB, segments: 32}",
        )
        shown = self.bench("run", path, "--output", "out")
        run = self.records()[0]
        self.assertEqual(1 / 16, run["sizing"]["scale"])
        self.assertEqual(1 / 16, run["matrix"]["scale"])
        self.assertIn("cairn bench: sizes: 0.0625 of the matrix's; about 0:", shown.stderr)
        (record,) = self.results()
        self.assertEqual(2, record["output"]["parameters"]["segments"])
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")

    def small_file_system(self, size):
        """A directory that holds so much; skips the test where none can be mounted."""
        mount = self.scratch / "small"
        mount.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", mount]
        if (
            os.geteuid() != 0
            or subprocess.run(words, capture_output=True, check=False).returncode != 0
        ):
            self.skipTest("cannot mount a small file system here")
        self.addCleanup(subprocess.run, ["umount", "-l", mount], check=False)
        return mount

    def test_no_room_for_the_results(self):
        mount = self.small_file_system("12k")
        path = self.matrix("rounds: 8\nwarmup: 0", kernels=f"one: {SMALL}")
        shown = self.bench("run", path, "--ranks", 1, "--output", "small/out", expect=1)
        self.assertRegex(shown.stderr, r"results\.jsonl: write failed: No space left on device; .*")
        self.assertNotIn("Traceback", shown.stderr)
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")
        before = (mount / "out/results.jsonl").read_bytes().count(b'"record": "result"')
        self.assertGreater(before, 0)
        subprocess.run(["mount", "-o", "remount,size=2m", mount], check=True)
        self.bench("run", "--resume", "small/out")
        found = self.results("small/out")
        self.assertEqual(list(range(8)), [each["round"] for each in found])

    def test_the_line_that_says_most(self):
        # What mpirun adds may come before what a rank says.
        for text, expected in (("-----\nMPI_ABORT was invoked\nior: rank 1: f: No space\n",
                                "ior: rank 1: f: No space"),
                               ("x\nior: INVALID: 1 of 2 bytes are wrong\n",
                                "ior: INVALID: 1 of 2 bytes are wrong"),
                               ("-----\nMPI_ABORT was invoked\n-----", "MPI_ABORT was invoked"),
                               ("still running after 2 s, then ended\n",
                                "still running after 2 s, then ended"), ("", ""),
                               ):
            self.assertEqual(expected, errors.telling_line(text))

    def test_mistakes_of_paths(self):
        (self.scratch / "file").touch()
        (self.scratch / "latin.yaml").write_bytes(b"format: 1\nname: \xff\n")
        path = self.matrix("rounds: 1\nwarmup: 0")
        for words, code, text in (
            ([path, "--output", "file"], 1, "cairn bench: file: File exists"),
            ([path, "--output", "file/x"], 1, "cairn bench: file/x: Not a directory"),
            ([self.scratch], 2, "no such file, and not a ready matrix"),
            (["latin.yaml"], 2, "latin.yaml: not UTF-8: byte 16"),
        ):
            self.assertIn(text, self.bench("run", *words, expect=code).stderr)

    def test_a_full_disk(self):
        mount = self.small_file_system("8m")
        # The check before the start knows of 2 MiB; a neighbour takes the rest meanwhile.
        # The prefix is `sh -c '... exec "$@"' x`, with the cell's words after it.
        taker = f'dd if=/dev/zero of={mount}/rest bs=1M count=7 2>/dev/null; exec "$@"'
        full = {"directory": str(mount), "prefix": ["sh", "-c", taker, "x"]}
        path = self.matrix(
            "rounds: 2\nwarmup: 0",
            systems=f"full: {json.dumps(full)}\n  here: {{directory: .}}",
            kernels="one: {kernel: ior, block: 1MiB, transfer: 64KiB}",
        )
        shown = self.bench("run", path, "--output", "out", expect=1)
        status = {(each["system"], each["status"]) for each in self.results()}
        self.assertEqual({("full", "failed"), ("here", "ok")}, status)
        self.assertIn("No space left on device", shown.stderr)
        self.assertEqual("complete", self.records()[-1]["reason"])


class History(BenchCase):
    def test_runs_gather(self):
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: test\nlimits: false\nrounds: 2\nwarmup: 0\n"
            "systems: {here: {directory: .}}\n"
            f"kernels: {{one: {SMALL}}}\n",
            encoding="utf-8",
        )
        for number in range(3):
            self.run_words([CAIRN, "bench", "run", path, "--output", f"runs/{number}"])
        lines = (self.scratch / "runs/history.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        self.assertEqual(6, len(found))  # write and read of three runs
        self.assertEqual(3, len({record["run"] for record in found}))
        self.assertEqual(1, len({record["cell"] for record in found}))
        pages = [(self.scratch / f"runs/{number}/report.html").read_text() for number in range(3)]
        self.assertNotIn("umami", pages[0].split("</style>")[1])
        self.assertEqual(2, pages[2].count('<svg class="umami"'))
        self.assertIn("3 runs", pages[2])
        # A report of the second run does not know the third.
        self.run_words([CAIRN, "bench", "report", "runs/1", "--output", "again.html"])
        self.assertIn("2 runs", (self.scratch / "again.html").read_text())


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
