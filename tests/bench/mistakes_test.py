"""cairn bench: every mistake of a matrix is told, in one message, before anything starts."""

import json
import os
import pathlib
import types
import unittest
from unittest import mock

import bench_case
from bench_case import BenchCase, CAIRN, KERNELS, MPIS

bench_case.use_package()
from cairn_bench import sizes  # noqa: E402
from cairn_bench.plan import descriptions, further_options, kernels  # noqa: E402
from cairn_bench.run import geometry  # noqa: E402

# Each line of a matrix, and what is said of it.
WRONG = (
    ("format: 1", []),
    ("name: two words", ["name: 'two words': expected letters, digits, '.', '_' and '-'"]),
    ("rounds: 0", ["rounds: 0 is less than the minimum of 1"]),
    ("warmpu: 1", ["unknown key warmpu in the matrix; did you mean warmup?"]),
    ("baseline: tmpsf", ["baseline: no system tmpsf; did you mean tmpfs?"]),
    ("pilot: {least: 9, most: 4}", ["pilot.least: 9 is more than pilot.most: 4"]),
    ("systems:", []),
    ("  tmpfs: {directory: /dev/shm}", []),
    ("  gone: {directory: /nowhere}",
     ["systems.gone.directory: /nowhere: not a directory that you can write to"]),
    ("  drops: {directory: /dev/shm, reads: {after: drop}, rewrit: true}",
     ["unknown key rewrit in systems.drops; did you mean rewrite?",
      "systems.drops.reads: after: drop: /dev/shm is in memory; its files are nowhere else"]),
    ("  1: {directory: .}", ["key 1 is not a text: write '1'"]),
    ("kernels:", []),
    ("  a: {kernel: iro}",
     [f"kernels.a.kernel: unknown value 'iro': expected {', '.join([*kernels.known(), 'program'])}"
      "; did you mean ior?"]),
    ("  b: {kernel: ior, block: 1m, transfer: 4k, options: [-b, 1g, -ei, 2, --keep, -o, x]}",
     ["kernels.b.options: -b: write the key block: 1g",
      "kernels.b.options: -e: write the key fsync: true",
      "kernels.b.options: --keep: write keep: true",
      "kernels.b.options: -o: the runner names the file"]),
    ("  c: {kernel: ior, block: 4kb, transfer: 0k, axes: {layout: [shard]}}",
     ["kernels.c.layout: unknown value 'shard': expected shared, file-per-process; did you mean "
      "shared?",
      "kernels.c.block: invalid size '4kb': expected bytes, or a number with k, m, g or t, or with "
      "KiB, MiB, GiB or TiB (powers of 1024)",
      "kernels.c.transfer: invalid size '0k': expected at least 1"]),
    ("  d: {kernel: program, program: fi, bytes: 1m}",
     ["kernels.d.program: unknown value 'fi': expected ior, mdtest, h5bench_write, h5bench_read, "
      "fio, hacc_io, vpicio_uni, dbscan_read, rdbench, lulesh, io500; did you mean fio?"]),
    ("  e: {kernel: hacc}", []),
    ("  e: {kernel: hacc}", ["key e stands twice"]),
    ("exclude: [{system: tmfs, kernel: c-shard}, {kernel: zz}]",
     ["exclude: no system tmfs; did you mean tmpfs?", "exclude: no kernel zz"]),
)


class Mistakes(BenchCase):
    def bench(self, *words, expect=2):
        return self.run_words([CAIRN, "bench", *words], expect=expect)

    def test_all_at_once(self):
        path = self.scratch / "m.yaml"
        path.write_text("".join(f"{line}\n" for line, _ in WRONG), encoding="utf-8")
        expected = {
            f"cairn bench: {path}:{number}: {text}"
            for number, (_, texts) in enumerate(WRONG, 1) for text in texts
        }
        options = (("--rounds", 0), ("--scale", 0), ("--ranks", "x"), ("--only", "("))
        for command in (("run",), ("run", "--dry-run")):
            words = [word for option in options for word in option]
            shown = self.bench(*command, path, *words).stderr
            lines = shown.strip().split("\n")
            of_options = [line for line in lines if line.startswith("cairn bench: --")]
            self.assertEqual([name for name, _ in sorted(options)],
                             [line.split(": ")[1] for line in of_options])
            self.assertEqual(expected, set(lines) - set(of_options))
            self.assertEqual(len(expected) + len(of_options), len(lines))
        self.assertEqual([path], list(self.scratch.iterdir()))

    def test_keys_that_are_no_texts(self):
        path = self.scratch / "m.yaml"
        path.write_text("1: 2\nyes: 3\n? [a]\n: 4\n", encoding="utf-8")
        self.assertIn(f"{path}:3: not YAML: found unhashable key",
                      self.bench("run", path).stderr)
        path.write_text("1: 2\nyes: 3\nsystems: {no: {directory: .}}\n", encoding="utf-8")
        lines = self.bench("run", path, "--quick", "--scale", 2).stderr.strip().split("\n")
        self.assertEqual([f"cairn bench: {path}:{number}: key {key} is not a text: write '{key}'"
                          for number, key in ((1, "1"), (2, "yes"), (3, "no"))], lines)

    def test_values_that_yaml_takes_for_dates(self):
        path = self.scratch / "m.yaml"
        path.write_text("a: 2026-99-99\nb: {c: [2026-01-99]}\n", encoding="utf-8")
        lines = self.bench("run", path).stderr.strip().split("\n")
        self.assertEqual(2, len(lines), lines)
        for number, (line, value) in enumerate(zip(lines, ("2026-99-99", "2026-01-99")), 1):
            self.assertIn(f"{path}:{number}: not YAML: {value}: ", line)

    def test_sizes_in_letters_of_ior(self):
        for text, expected in (("1m", 1 << 20), ("4K", 4096), ("2g", 2 << 30), ("1t", 1 << 40),
                               ("1MiB", 1 << 20), ("4KiB", 4096), ("1048576", 1 << 20),
                               (47008, 47008), ("8 B", 8), ("1 TiB", 1 << 40)):
            self.assertEqual(expected, sizes.parse(text), text)
        wrong = ("", "m", "4kb", "4KB", "1.5m", "-1", "1m1", "1e3", "\u0664k", "9" * 30, "9000000t")
        for text in wrong:
            with self.assertRaisesRegex(ValueError, "invalid size"):
                sizes.parse(text)
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: a\nlimits: false\nsystems: {here: {directory: .}}\n"
            "kernels: {a: {kernel: ior, block: 1m, transfer: 4k}}\n", encoding="utf-8")
        self.assertIn("-b 1048576 -t 4096", self.bench("run", path, "--dry-run", expect=0).stdout)

    def test_options_that_are_keys(self):
        kernel = kernels.of("ior")
        for words, expected in (
            ([], []),
            (["-i", "2"], []),
            (["-i", "-b"], []),  # its value
            (["--corrupt", "9", "-Q", "1"], []),
            (["-b1g"], ["-b: write the key block: 1g"]),
            (["-zF"], ["-z: write the key random_order: true",
                       "-F: write the key layout: file-per-process"]),
            (["--no-ch"], ["--no-check: write check: false"]),
            (["--hint=a=b"], ["--hint: write hints: {KEY: VALUE}"]),
            (["-k", "-w"], ["-k: write keep: true",
                            "-w: write reads: {after: ...} in a system"]),
            (["--unheard", "x", "-Y", "--"], []),  # the kernel says so itself
            ([-5, "word"], []),
        ):
            self.assertEqual(expected, further_options.problems(kernel, words), words)


class Geometry(BenchCase):
    """What a kernel says of a cell before the start."""

    def problems(self, script, described=({"name": "--check-only"},), **parameters):
        path = self.scratch / "mpi/ior"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        given = kernels.of("ior").normal({"kernel": "ior", **parameters})
        all_cells = [
            types.SimpleNamespace(system=name, kind="ior", ranks=3, parameters=given, hints={})
            for name in ("one", "two")
        ]
        systems = {name: types.SimpleNamespace(mpi="mpi", nodes=2) for name in ("one", "two")}
        with (
            mock.patch.object(descriptions, "of_mpi", lambda _: {"ior": {"options": described}}),
            mock.patch.object(geometry.installation, "kernel", lambda mpi, name: path),
        ):
            return [text for _, text in geometry.problems(all_cells, systems)]

    def test_a_stand_in(self):
        refuses = "echo \"ior: -t: $*\" >&2; echo >> asked; exit 2"
        before = pathlib.Path.cwd()
        os.chdir(self.scratch)
        self.addCleanup(os.chdir, before)
        (text,) = self.problems(refuses, transfer=7)  # asked once for both systems
        self.assertRegex(text, r"^-t: --check-only --ranks 3 --nodes 2 --format json .* -t 7 ")
        self.assertEqual("\n", (self.scratch / "asked").read_text(encoding="utf-8"))
        self.assertEqual([], self.problems(refuses, described=()))
        for script in ("exit 0", "echo 'no libmpi' >&2; exit 127"):
            self.assertEqual([], self.problems(script))

    def test_a_kernel_of_this_build(self):
        described = json.loads((KERNELS / MPIS[0] / "ior.json").read_text(encoding="utf-8"))
        if "--check-only" not in {each["name"] for each in described["options"]}:
            self.skipTest("no kernel of this build has --check-only")
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: a\nlimits: false\nsystems: {here: {directory: .}}\nkernels:\n"
            "  a: {kernel: ior, block: 1m, transfer: 3k}\n"
            "  b: {kernel: ior, block: 1m, transfer: 4k}\n"
            "  c: {kernel: rdbench, length: 127}\n", encoding="utf-8")
        shown = self.run_words([CAIRN, "bench", "run", path], expect=2).stderr
        self.assertIn(f"{path}:6: a on here, 2 ranks: ", shown)
        self.assertIn(f"{path}:8: c on here, 2 ranks: ", shown)
        self.assertNotIn(f"{path}:7: ", shown)
        self.assertEqual([path], list(self.scratch.iterdir()))


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
