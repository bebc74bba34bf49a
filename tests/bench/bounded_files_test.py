"""cairn bench: files that others may have put there; texts that stand for more than they hold."""

import json
import os
import pathlib
import resource
import signal
import unittest

import bench_case
from bench_case import BenchCase, CAIRN

bench_case.use_package()
from cairn_bench import files  # noqa: E402
from cairn_bench.plan import axes, bounded_yaml, cells, matrix  # noqa: E402
from cairn_bench.results import history, store  # noqa: E402
from cairn_bench.errors import Mistake  # noqa: E402

RUN = {"record": "run", "run": "r"}


class Files(BenchCase):
    def file(self, name, text):
        path = self.scratch / name
        path.write_text(text, encoding="utf-8")
        return path

    def odd_files(self):
        """(path, what is said about it)"""
        fifo = self.scratch / "fifo"
        if not fifo.exists():
            os.mkfifo(fifo)
        large = self.file("large", "")
        os.truncate(large, files.RESULTS_BYTES + 1)
        yield fifo, "not a regular file"
        yield pathlib.Path("/dev/zero"), "not a regular file"
        yield large, "larger than"

    def refusal(self, action, *words):
        with self.assertRaises(Mistake) as caught:
            action(*words)
        return str(caught.exception)

    def test_only_bounded_regular_files_are_read(self):
        for path, says in self.odd_files():
            for action in (store.load, matrix.load):
                self.assertIn(says, self.refusal(action, path), path)
        self.assertEqual("abc", files.read_text(self.file("three", "abc"), 3))
        self.assertIn("larger", self.refusal(files.read_text, self.file("four", "abcd"), 3))
        # The kernel's files do not tell their size.
        self.assertIn("larger", self.refusal(files.read_text, "/proc/self/maps", 0))
        whole = pathlib.Path("/proc/version").read_text(encoding="utf-8")
        self.assertEqual(whole, files.read_text("/proc/version", len(whole)))

    def test_a_result_that_names_no_system(self):
        """A traceback."""
        run = dict(RUN, systems={"here": {}}, matrix={"kernels": {"one": {}}})
        for result, says in (({}, "names no system"), ({"system": "here"}, "names no kernel"),
                             ({"system": "there", "kernel": "one"}, "system there")):
            lines = [json.dumps(run), json.dumps(dict(result, record="result"))]
            path = self.file("results.jsonl", "\n".join(lines) + "\n")
            self.assertIn(says, self.refusal(store.load, path))

    def test_the_command_says_it_in_one_line(self):
        for path, says in self.odd_files():
            for words in (("report", path), ("run", path, "--dry-run"), ("add", "out", path)):
                run = self.run_words([CAIRN, "bench", *words], expect=2, timeout=30)
                self.assertIn(says, run.stderr)
                self.assertNotIn("Traceback", run.stderr)

    def test_a_history_that_is_no_file(self):
        for path, _ in self.odd_files():
            self.assertEqual([], history.load(path))
        mine = self.file("mine", "mine\n")
        link, second = self.scratch / "link", self.scratch / "second"
        link.symlink_to(mine)
        os.link(self.file("other", "mine\n"), second)
        for path in (self.scratch / "fifo", link, second):
            self.refusal(files.opened_to_append, path)
        self.assertEqual("mine\n", mine.read_text(encoding="utf-8"))

    def test_a_file_that_cannot_be_written(self):
        """A bare OSError, and what was written of it stayed."""
        directory = self.scratch / "small"
        directory.mkdir()
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))
        try:
            self.refusal(files.replace, directory / "page", "x" * (1 << 20))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, before)
        self.assertEqual([], os.listdir(directory))

    def test_writing_follows_no_link(self):
        mine, link = self.file("mine", "mine\n"), self.scratch / "report.html"
        link.symlink_to(mine)
        files.replace(link, "page")
        self.assertEqual("mine\n", mine.read_text(encoding="utf-8"))
        self.assertFalse(link.is_symlink())
        self.assertEqual("page", link.read_text(encoding="utf-8"))
        self.refusal(files.replace, pathlib.Path("/dev/null"), "page")
        os.mkfifo(self.scratch / "fifo")
        self.refusal(files.replace, self.scratch / "fifo", "page")
        self.assertEqual([], list(self.scratch.glob(".*")), "files are left")

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file away")
    def test_results_of_another_user_are_not_resumed(self):
        out = self.scratch / "out"
        out.mkdir()
        path = self.file("out/results.jsonl", json.dumps(RUN) + "\n")
        os.chown(path, 61002, 61002)
        run = self.run_words([CAIRN, "bench", "run", "--resume", out], expect=2)
        self.assertIn("belongs to user 61002", run.stderr)

    def test_json(self):
        self.assertEqual([[1]], files.parse_json("[[1]]"))
        most = files.MOST_LEVELS
        files.parse_json("[" * most + "]" * most)
        files.parse_json("[" + ",".join(["[]"] * 1000) + "]")
        for text in ("[" * (most + 1) + "]" * (most + 1), "[" * 100000, '{"a":' * 100000,
                     '{"a":' * 100 + "1" + "}" * 100):
            with self.assertRaises(ValueError):
                files.parse_json(text)
        for record in ("[" * 5000, "1", '"text"', "[1]", "null"):
            path = self.file("results.jsonl", f"{json.dumps(RUN)}\n{record}\n{{}}\n")
            self.assertIn("results.jsonl:2", self.refusal(store.load, path))

    def test_a_last_line_without_an_end_is_cut_off(self):
        for text, kept in (("", ""), ("a", ""), ("a\n", "a\n"), ("a\nb", "a\n"),
                           ("a\n" + "b" * (3 * store.PIECE), "a\n"), ("b" * store.PIECE, ""),
                           ("\n" + "b" * (store.PIECE - 1), "\n"),
                           ("\n" + "b" * store.PIECE, "\n")):
            path = self.file("lines", text)
            store.Store(path, resume=True).close()
            self.assertEqual(kept, path.read_text(encoding="utf-8"))

    def test_yaml(self):
        bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"{b}: &{b} [" + ", ".join([f"*{a}"] * 10) + "]\n"
            for a, b in zip("abcdefgh", "bcdefghi"))
        merged = "a: &a {k: 1}\n" + "".join(
            f"{b}: &{b} {{<<: [" + ", ".join([f"*{a}"] * 10) + "]}\n"
            for a, b in zip("abcdefgh", "bcdefghi"))
        for text, says in ((bomb, "stands for more than"), (merged, "stands for more than"),
                           ("a: &a\n  b: *a\n", "what it is part of"),
                           ("a: &a [*a]\n", "what it is part of"), ("[" * 100000, "levels"),
                           ("{a: " * 1000, "levels"), ("a: 2026-99-99\n", "not YAML"),
                           ("- x\n" * (bounded_yaml.MOST_NODES + 1), "stands for more than")):
            self.assertIn(says, self.refusal(matrix.load, self.file("m.yaml", text)))
        value, _ = bounded_yaml.parse("m", "a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n")
        self.assertEqual({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}, value)

    def test_axes(self):
        many = {f"axis{number}": list(range(10)) for number in range(20)}
        self.assertIn("combinations", self.refusal(
            axes.expanded, {"kernels": {"one": {"kernel": "ior", "axes": many}}}))
        many = {"kernels": {"one": {}}, "ranks": list(range(11999))}
        self.assertIn("11999 cells", self.refusal(cells.expand, many, ["here"]))


if __name__ == "__main__":
    unittest.main()
