"""cairn bench: from the matrix to the page; mistakes; what fails, hangs or is stopped."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
from cairn_bench.node import space  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))
LOADS = re.compile(r"<(?:script|link|img|iframe|object|embed)\b|@import|url\(", re.I)
SMALL = "{kernel: ior, block: 64KiB, transfer: 8KiB}"


NAP = f"sleep 9{os.getpid()}"  # no other process of the machine has these words


def naps():
    return subprocess.run(["pgrep", "-f", NAP], capture_output=True, check=False).stdout.split()


class Runner(BenchCase):
    def matrix(
        self, systems="tmpfs: {directory: .}", kernels="one: " + SMALL, head="rounds: 2\nwarmup: 0"
    ):
        path = self.scratch / "m.yaml"
        path.write_text(
            f"format: 1\nname: test\nlimits: false\n{head}\nsystems:\n  {systems}\n"
            f"kernels:\n  {kernels}\n",
            encoding="utf-8",
        )
        return path

    def bench(self, *words, expect=0, **more):
        return self.run_words([CAIRN, "bench", *words], expect=expect, **more)

    def results(self, directory="out"):
        """(run, results, end) of a file that holds the schema."""
        records = [
            json.loads(line)
            for line in (self.scratch / directory / "results.jsonl").read_text().splitlines()
        ]
        for record in records:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        self.assertEqual("run", records[0]["record"])
        self.assertEqual("end", records[-1]["record"])
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")
        results = [record for record in records if record["record"] == "result"]
        return records[0], results, records[-1]

    def test_from_the_matrix_to_the_page(self):
        systems = "\n  ".join(
            [f"plain-{mpi}: {{directory: ., mpi: {mpi}}}" for mpi in MPIS]
            + [
                f"cairn-{mpi}: {{directory: ., pool_directory: ., cairn: fresh, mpi: {mpi}}}"
                for mpi in MPIS
            ]
            + ["kept: {directory: ., pool_directory: ., cairn: kept}"]
        )
        kernels = (
            "shared: {kernel: ior, api: MPIIO, block: 64KiB, transfer: 8KiB, fsync: true}\n"
            "  hacc: {kernel: hacc, particles: 100}\n"
            "  vpic: {kernel: vpic, api: MPIIO, particles: 100}\n"
            "  bdcats: {kernel: bdcats, api: MPIIO, particles: 100}"
        )
        path = self.matrix(
            systems,
            kernels,
            f"rounds: 1\nwarmup: 1\nbaseline: plain-{MPIS[0]}\n"
            "exclude: [{system: kept, kernel: hacc}]",
        )
        shown = self.bench("run", path, "--output", "out", timeout=300)
        run, results, end = self.results()
        cells = len(MPIS) * 2 * 4 + 3
        self.assertEqual((cells, "complete"), (run["cells"], end["reason"]))
        for system in run["systems"].values():
            self.assertRegex(system["mpi_version"], r"\d\.\d", "an MPI without its version")
        self.assertEqual(2 * cells, len(results))
        self.assertEqual({"ok"}, {each["status"] for each in results})
        self.assertTrue(
            all(sum(check["bytes"] for check in each["output"]["checks"]) for each in results)
        )
        orders = [
            [each["cell"] for each in results if each["round"] == number] for number in (0, 1)
        ]
        self.assertEqual(sorted(orders[0]), sorted(orders[1]))
        self.assertNotEqual(*orders)
        self.assertIn("read+subset", shown.stdout)
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        # Nothing that a browser would load.
        self.assertEqual([], LOADS.findall(page))
        for text in ("hacc write", "MiB/s", "mpirun", "<svg", "not run"):
            self.assertIn(text, page)
        self.bench("report", "out", "--output", "again.html")
        self.assertEqual(page, (self.scratch / "again.html").read_text(encoding="utf-8"))

    def test_the_page_at_a_glance(self):
        kernels = (
            "kept: {kernel: ior, block: 1MiB, transfer: 4KiB, fsync: true, keep: true, latency:"
            " true}\n  names: {kernel: mdtest, files: 20}"
        )
        systems = "plain: {directory: .}\n  cairn: {directory: ., pool_directory: ., cairn: kept}"
        path = self.matrix(systems, kernels, "rounds: 2\nwarmup: 0\nranks: [1, 2]")
        shown = self.bench("run", path, "--output", "out", timeout=300)
        _, results, _ = self.results()
        for each in results:
            self.assertGreater(each["startup_s"], 0)
            self.assertGreater(each["finalize_s"], 0)
            self.assertLess(each["startup_s"] + each["finalize_s"], each["wall_s"] + 0.01)
            self.assertGreater(each["output"]["memory_bytes_per_node"], 1 << 20)
            self.assertGreaterEqual(each["shared_bytes"], 0)
            self.assertEqual(each["system"] == "cairn", each["pool_bytes"] > 64 << 20)
            for access in each["output"]["accesses"]:
                for phase in access["phases_s"].values():
                    self.assertEqual(each["ranks"], len(phase["ranks"]))
                    self.assertAlmostEqual(phase["most"], max(phase["ranks"]), 5)
                if each["kernel"] == "kept":
                    values = list(access["latency_ns"].values())
                    self.assertEqual((17, sorted(values)), (len(values), values))
                    self.assertLess(values[0] * access["calls"] / each["ranks"] / 1e9,
                                    access["seconds"])
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        glance = bench_case.section(page, "At a glance")
        for text in (
            r"<th scope=.row.>write</th><td>[0-9.]+ [GM]iB/s",
            r"durable after</th><td>.*</td><td>\d\.\d+ s, when it has drained",
            r"write, against the best baseline</th><td></td><td>too few rounds: 2<small>of plain",
            r"parallel efficiency, write</th><td>\d+ % of the ideal, 1 to 2 ranks",
            r"4 KiB call, p50 / p99 / p99\.9</th><td>write [\d.]+ / [\d.]+ / [\d.]+ µs",
            r"create / stat / unlink</th><td>[\d.]+ / [\d.]+ / [\d.]+ k/s",
            r"start-up</th><td>\d+\.\d+ s",
            r"memory of a node, median</th><td>\d+\.\d MiB",
        ):
            self.assertRegex(glance, text)
        self.assertRegex(shown.stdout, r"(?m)^cairn +\d+\.\d+ s +\d+\.\d+ s +\d+\.\d MiB  used$")
        self.assertIn("Latency of kept write, 2 ranks", page)
        # The files of this test lie in memory, if it can be had.
        self.assertRegex(page, r"<small>(synced|fsync called, volatile)</small></td>")

    def test_ways_of_sedov(self):
        path = self.matrix(
            "plain: {directory: .}\n  cairn: {directory: ., pool_directory: ., cairn: kept}",
            "all: {kernel: sedov, size: 6, cycles: 4}\n"
            "  one: {kernel: sedov, size: 6, cycles: 4, way: cairn}",
        )
        shown = self.bench("run", path, "--output", "out")
        _, results, _ = self.results()
        self.assertEqual({"ok"}, {each["status"] for each in results})
        for each in results:
            ways = {access["access"] for access in each["output"]["accesses"]}
            self.assertLessEqual({"cairn", "copy"}, ways)
            self.assertEqual(len(ways) - 1, len(each["output"]["checks"]))
            self.assertEqual(each["kernel"] == "one", len(ways) == 2)
        self.assertRegex(shown.stdout, r"one +cairn")

    def test_palm_and_llmckpt(self):
        path = self.matrix(
            "plain: {directory: .}\n  cairn: {directory: ., pool_directory: ., cairn: kept}\n"
            "  fresh: {directory: ., pool_directory: ., cairn: fresh}",
            "palm: {kernel: palm, levels: 1, checkpoints: 2}\n"
            "  versions: {kernel: palm, levels: 1, checkpoints: 2, back_end: cairn}\n"
            "  llm: {kernel: llmckpt, model_scale: 0.00001, checkpoints: 2, reads: 1}",
            head="rounds: 1\nwarmup: 1",
        )
        self.bench("run", path, "--output", "out")
        _, results, _ = self.results()
        self.assertEqual(({"ok"}, 18), ({each["status"] for each in results}, len(results)))
        for each in results:
            self.assertGreater(sum(check["bytes"] for check in each["output"]["checks"]), 0)

    def test_a_wrong_byte_voids_the_cell(self):
        path = self.matrix(
            kernels="right: "
            + SMALL
            + "\n  wrong: {kernel: ior, block: 64KiB, transfer: 8KiB, options: [--corrupt, 5000]}\n"
            "  llm: {kernel: llmckpt, model_scale: 0.00001, checkpoints: 2, options: [--corrupt,"
            " 9]}\n  palm: {kernel: palm, levels: 1, checkpoints: 2, options: [--corrupt, 4000]}"
        )
        shown = self.bench("run", path, "--output", "out", expect=1)
        _, results, end = self.results()
        self.assertEqual("complete", end["reason"])
        self.assertEqual(
            ["ok", "ok"], [each["status"] for each in results if each["kernel"] == "right"]
        )
        for name in ("wrong", "llm", "palm"):
            self.assertEqual(
                ["invalid"], [each["status"] for each in results if each["kernel"] == name]
            )
        self.assertRegex(shown.stdout, r"wrong +write.*INVALID")
        self.assertRegex(shown.stdout, r"(?m)^INVALID: wrong on tmpfs, 2 ranks: .*byte 5000 is")
        self.assertIn("byte 5000 is", shown.stderr)
        self.assertIn("INVALID", (self.scratch / "out/report.html").read_text(encoding="utf-8"))

    def test_what_hangs_or_crashes(self):
        path = self.matrix(
            "good: {directory: .}\n"
            f"  hangs: {{directory: ., prefix: [sh, -c, '{NAP} & wait', x]}}\n"
            "  crashes: {directory: ., prefix: [sh, -c, 'echo no luck >&2; exit 7', x]}",
            head="rounds: 2\nwarmup: 0\ntimeout_s: 20",
        )
        shown = self.bench("run", path, "--output", "out", expect=1)
        _, results, end = self.results()
        status = {
            (each["system"], each["round"]): (each["status"], each["exit_code"]) for each in results
        }
        self.assertEqual(
            {
                ("good", 0): ("ok", 0),
                ("good", 1): ("ok", 0),
                ("hangs", 0): ("timeout", None),
                ("crashes", 0): ("failed", 7),
            },
            status,
        )
        self.assertEqual("complete", end["reason"])
        self.assertEqual([], naps())
        self.assertIn("no luck", shown.stderr)
        self.assertRegex(shown.stdout, "hangs +TIME-OUT")
        self.assertRegex(shown.stdout, "crashes +FAILED")

    def test_interrupted(self):
        path = self.matrix(
            "good: {directory: .}\n"
            f"  slow: {{directory: ., prefix: [sh, -c, '{NAP} & wait', x]}}",
            head="rounds: 3\nwarmup: 0\nseed: 3",
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                out = f"out-{number}"
                process = subprocess.Popen(
                    [CAIRN, "bench", "run", path, "--output", out],
                    cwd=self.scratch,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                deadline = time.monotonic() + 30
                while not naps() and time.monotonic() < deadline:
                    time.sleep(0.05)
                process.send_signal(number)
                output, _ = process.communicate(timeout=30)
                self.assertEqual(130, process.returncode, output)
                self.assertEqual("interrupted", self.results(out)[2]["reason"])
                self.assertTrue((self.scratch / out / "report.html").exists())
                self.assertEqual([], naps())

    def test_mistakes_are_told_with_line_and_nearest_name(self):
        for source, line, text in (
            (
                "kernels:\n  a: {kernel: ior, segmnts: 2}\n",
                6,
                "unknown key segmnts in kernels.a; did you mean segments?",
            ),
            (
                "kernels:\n  a: {kernel: iro}\n",
                6,
                "vpic, program; did you mean ior?",
            ),
            (
                "kernels:\n  a: {kernel: hacc,\n    block: 1MiB}\n",
                7,
                "unknown key block in kernels.a",
            ),
            (
                "kernels:\n  a: {kernel: bdcats, fsync: true}\n",
                6,
                "unknown key fsync in kernels.a",
            ),
            (
                "kernels:\n  a: {kernel: ior}\nbasline: x\n",
                7,
                "unknown key basline in the matrix; did you mean baseline?",
            ),
            (
                "kernels:\n  a: {kernel: ior}\nbaseline: tmpsf\n",
                7,
                "baseline: no system tmpsf; did you mean tmpfs?",
            ),
            ("kernels:\n  a: {kernel: ior}\n  a: {kernel: ior}\n", 7, "key a stands twice"),
            ("kernels:\n  a: {kernel: ior, transfer: 4kb}\n", 6, "kernels.a.transfer:"),
            ("kernels:\n  a: [\n", 7, "not YAML"),
            ("kernels: {}\nrounds: 0\n", 6, "rounds: 0 is less than"),
        ):
            path = self.scratch / "m.yaml"
            path.write_text(
                f"format: 1\nname: test\nsystems:\n  tmpfs: {{directory: .}}\n{source}",
                encoding="utf-8",
            )
            run = self.bench("run", path, expect=2)
            self.assertIn(f"cairn bench: {path}:{line}: ", run.stderr)
            self.assertIn(text, run.stderr)
            self.assertFalse((self.scratch / "bench-results").exists())
        self.assertIn(
            "did you mean tokio-abc-small?", self.bench("run", "tokio-abc-smal", expect=2).stderr
        )
        self.assertIn(
            "not a directory that you can write to",
            self.bench("run", self.matrix("gone: {directory: ./nowhere}"), expect=2).stderr,
        )

    def test_what_does_not_fit_is_told_before_the_start(self):
        path = self.matrix(
            kernels="huge: {kernel: ior, block: 1GiB, transfer: 1MiB, segments: 100000}"
        )
        run = self.bench("run", path, "--output", "out", expect=1)
        self.assertRegex(
            run.stderr, r"huge on tmpfs, 2 ranks: needs 195\.3 TiB in \S+, which has \S+ \S+ free"
        )
        self.assertIn("nothing was started", run.stderr)
        self.assertFalse((self.scratch / "out").exists())

    def test_dry_run(self):
        run = self.bench(
            "run", "tokio-abc-small", "--dry-run", "--scale", 0.01, "--only", "ior-fpp on tmpfs,"
        )
        self.assertRegex(run.stdout, r"# ior-fpp on tmpfs, 2 ranks: \d+\.\d MiB on the medium")
        self.assertRegex(
            run.stdout,
            r"mpirun\S* -n 2 \S+/ior --format json --keep -a POSIX -e -g -C -F -b 4194304")
        self.assertRegex(run.stdout, r"# 1 cells, 11 rounds \(1 to warm up\), \d+\.\d MiB in all")
        self.assertEqual([], list(self.scratch.iterdir()))

    def test_axes(self):
        path = self.matrix(
            kernels="a: {kernel: ior, block: 8KiB, axes: {transfer: [4KiB, 8KiB], "
            "layout: [shared, file-per-process], fsync: [false, true]}}\n  b: {kernel: hacc}",
            head="rounds: 1\nwarmup: 0\nexclude: [{kernel: a-8KiB-shared-fsync}, {kernel: b}]\n"
            "include: [{kernel: a-4KiB-shared-fsync, ranks: 3}]",
        )
        shown = self.bench("run", path, "--dry-run").stdout
        names = re.findall(r"(?m)^# (a\S+ on tmpfs, \d ranks):", shown)
        self.assertEqual((8, 8), (len(names), len(set(names))))
        self.assertIn("a-4KiB-shared-fsync on tmpfs, 3 ranks", names)
        self.assertNotIn("a-8KiB-shared-fsync on tmpfs, 2 ranks", names)
        self.assertRegex(shown, r"-e -F -b 8192 -t 4096")
        for source, text in (
            ("axes: {transfr: [1]}", "unknown key transfr in kernels.a; did you mean transfer?"),
            ("axes: {layout: [shard]}", "kernels.a.layout: unknown value 'shard': expected shared"),
            ("axes: {layout: shared}", "kernels.a.axes.layout: 'shared' is not of type 'array'"),
        ):
            path = self.matrix(kernels=f"a: {{kernel: ior, {source}}}")
            run = self.bench("run", path, expect=2)
            self.assertIn(f"{path}:9: {text}", run.stderr)

    def test_nodes_of_a_launcher(self):
        path = self.matrix("two: {directory: ., nodes: 2}\n  any: {directory: .}")
        run = self.bench("run", path, "--dry-run", "--launcher", "srun")
        self.assertRegex(run.stdout, r"srun --mpi=\w+ -N 2 -n 2 \S+/ior ")
        self.assertRegex(run.stdout, r"srun --mpi=\w+ -n 2 \S+/ior ")
        run = self.bench("run", path, "--dry-run", "--launcher", "x -N {nodes} -n {ranks}")
        self.assertIn("x -N 2 -n 2 ", run.stdout)
        self.assertIn("systems.two.nodes: needs a launcher",
                      self.bench("run", path, "--dry-run", expect=2).stderr)

    def test_ready_matrices(self):
        for path in sorted((PACKAGE / "cairn_bench/matrices").glob("*.yaml")):
            with self.subTest(matrix=path.stem):
                run = self.bench("run", path.stem, "--dry-run", "--scale", 0.001, "--ranks", 2)
                self.assertRegex(run.stdout, r"# \d+ cells, 11 rounds \(1 to warm up\)")
                self.assertEqual([], list(self.scratch.iterdir()))

    def test_memory_of_neighbours_does_not_count(self):
        other = self.scratch / "other"  # as the scratch directory, in memory where there is some
        fills = f"dd if=/dev/zero of={other} bs=1M count=200 2>/dev/null; exec \"$@\""
        path = self.matrix(
            f"plain: {{directory: ., prefix: [sh, -c, '{fills}', x]}}\n"
            "  fresh: {directory: ., pool_directory: ., cairn: fresh, pool_size: 100MiB}\n"
            "  kept: {directory: ., pool_directory: ., cairn: kept, pool_size: 100MiB}",
            kernels="one: {kernel: ior, block: 16MiB, transfer: 1MiB, keep: true}",
            head="rounds: 1\nwarmup: 0",
        )
        self.bench("run", path, "--output", "out")
        _, results, _ = self.results()
        found = {each["system"]: each["shared_bytes"] for each in results}
        if not space.in_memory(self.scratch):
            self.skipTest("no directory in memory")
        self.assertEqual(200 << 20, other.stat().st_size)
        # Two ranks with 16 MiB each, and what MPI shares.
        self.assertGreaterEqual(found["plain"], 32 << 20)
        self.assertLess(found["plain"], 120 << 20)
        self.assertGreaterEqual(found["fresh"], 32 << 20)
        self.assertLess(found["fresh"], 200 << 20)
        self.assertLess(found["kept"], 64 << 20)  # its pool is not the command's

    def test_a_machine_has_a_name(self):
        path = self.matrix(head="rounds: 1\nwarmup: 0\nmachine: from the matrix")
        for words, expected in (([], "from the matrix"), (["--machine", "node of ours"],
                                                          "node of ours")):
            self.bench("run", path, "--output", "out", *words)
            self.assertEqual(expected, self.results()[0]["environment"]["machine_name"])
            (self.scratch / "out/results.jsonl").unlink()
        self.assertIn("--machine: expected a name",
                      self.bench("run", path, "--machine", " ", expect=2).stderr)

    def test_results_stay(self):
        path = self.matrix(head="rounds: 1\nwarmup: 0")
        self.bench("run", path, "--output", "out")
        self.assertIn(
            "exists; choose another --output",
            self.bench("run", path, "--output", "out", expect=2).stderr,
        )
        # A killed run leaves a line that is cut off.
        with open(self.scratch / "out/results.jsonl", "a", encoding="utf-8") as file:
            file.write('{"record": "res')
        self.bench("report", "out/results.jsonl")


if __name__ == "__main__":
    bench_case.main()
