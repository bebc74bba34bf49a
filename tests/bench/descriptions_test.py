"""Every kernel describes itself completely, and what is made from the descriptions agrees."""

import json
import os
import pathlib
import re
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, KERNELS, MPIS

bench_case.use_package()
from cairn_bench import options  # noqa: E402
from cairn_bench.plan import descriptions, formula, kernels, matrix  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
PAGE = SOURCE / "docs/user/bench-options.md"
SMALL = 0.001  # of the amounts of data that a matrix has by default
# Words of the kernels that the runner itself starts.
OF_RUNNER = {
    "limits": ["-b", "64k", "-t", "8k", "f"],
    "device": ["-b", "64k", "-t", "8k", "f"],
    "network": ["-b", "64k", "-t", "8k"],
}


class Descriptions(BenchCase):
    def test_each_is_complete(self):
        sources = {path.stem for path in (SOURCE / "bench/mpi/kernels").glob("*.cc")}
        for mpi in MPIS:
            self.assertEqual(sources, set(descriptions.of_mpi(mpi)), mpi)
            for name, described in descriptions.of_mpi(mpi).items():
                with self.subTest(mpi=mpi, kernel=name):
                    self.check(name, described)
                    shown = self.run_words([KERNELS / mpi / name, "--describe"]).stdout
                    self.assertEqual(described, json.loads(shown))

    def check(self, name, described):
        self.assertEqual(name, described["name"])
        for key in ("about", "usage", "verifies"):
            self.assertTrue(described[key], key)
            self.assertFalse(described[key].endswith("."), key)
        names = [option["name"] for option in described["options"]]
        self.assertEqual(sorted(set(names)), sorted(names))
        self.assertLessEqual({"--format", "--hint", "--no-check", "--keep", "--corrupt"},
                             set(names))
        for option in described["options"]:
            self.assertTrue(option["help"], option["name"])
            self.assertNotEqual(option["kind"] == "flag", bool(option["value"]), option["name"])
            self.assertEqual(option["kind"] == "choice", "choices" in option, option["name"])
        keys = [option["key"]["name"] for option in described["options"] if "key" in option]
        self.assertEqual(sorted(set(keys)), sorted(keys))
        for access in described["accesses"]:
            self.assertIn(access["unit"], ("MiB/s", "ops/s"))
            self.assertTrue(access["phases"], access["access"])
        if described["bytes"] is None:
            self.assertEqual([], keys)
            return
        self.assertTrue(any("file" in option for option in described["options"]), "no path")
        for text in filter(None, described["bytes"].values()):
            self.assertLessEqual(formula.names_in(text), {*keys, "ranks"}, text)
        for option in described["options"]:
            step = option.get("key", {}).get("grows", {}).get("step")
            self.assertIn(step or keys[0], keys)

    def test_bytes_are_numbers(self):
        for name, kernel in kernels.known().items():
            given = kernel.normal({"kernel": name})
            for ranks in (1, 2, 6):
                self.assertGreater(kernel.file_bytes(given, ranks), 0, name)
                self.assertGreater(kernel.memory_bytes(given, ranks), 0, name)
                self.assertIsInstance(kernel.transfer_bytes(given, ranks), (int, type(None)), name)

    def test_mpis_differ_in_hdf5_only(self):
        first, *others = ({name: {**each, "hdf5": None}
                           for name, each in descriptions.of_mpi(mpi).items()} for mpi in MPIS)
        for other in others:
            self.assertEqual(first, other)

    def test_reports_are_as_described(self):
        words = dict(OF_RUNNER)
        for name, kernel in kernels.known().items():
            given = kernel.scaled(kernel.normal({"kernel": name}), SMALL)
            words[name] = kernel.words(given, self.scratch)
        self.assertEqual(set(descriptions.all_kernels()), {*words, "drop"})
        for kernel, given in words.items():
            with self.subTest(kernel=kernel):
                described = {each["access"]: each
                             for each in descriptions.all_kernels()[kernel]["accesses"]}
                for access in self.measured(MPIS[0], kernel, *given)["accesses"]:
                    self.assertIn(access["access"], described)
                    wanted = described[access["access"]]
                    self.assertEqual(wanted["unit"], access["unit"])
                    self.assertEqual(wanted["phases"], list(access["phases_s"]))

    def test_schema_list_and_completion_have_all(self):
        names = [name for name, each in descriptions.all_kernels().items() if each["bytes"]]
        allowed = matrix.schema()["$defs"]["kernel"]["properties"]["kernel"]["enum"]
        self.assertEqual([*names, "program"], allowed)
        self.assertEqual([*names, "--help", "--markdown"], options.next_words(["kernels"]))
        listed = self.run_words([CAIRN, "bench", "kernels"]).stdout
        self.assertEqual([*names, "program"], re.findall(r"(?m)^(\w+)  ", listed))
        for name in names:
            keys = set(matrix.kernel_schema(name)["properties"])
            shown = self.run_words([CAIRN, "bench", "kernels", name]).stdout
            self.assertLessEqual(set(re.findall(r"(?m)^  (\w+): ", shown)), keys)

    def test_completion(self):
        for before, wanted in (
            ([], "submit"), (["run"], "--resume"), (["run"], "tokio-abc-small"),
            (["run", "bench"], "@files"), (["run", "--resume"], "@files"), (["report"], "@files"),
            (["kernels"], "ior")):
            self.assertIn(wanted, options.next_words(before), before)
        self.assertEqual([], options.next_words(["run", "--rounds"]))
        self.assertEqual([], options.next_words(["nothing"]))

    def test_page_is_current(self):
        shown = self.run_words([CAIRN, "bench", "kernels", "--markdown"]).stdout
        self.assertEqual(PAGE.read_text(encoding="utf-8"), shown,
                         "refresh it: cairn bench kernels --markdown > docs/user/bench-options.md")

    def test_formulas(self):
        names = {"a": 7, "way": "x", "ranks": 6}
        for text, wanted in (("a * 2 + 1", 15), ("rows(ranks)", 2), ("rows(7)", 1), ("2 ** 3", 8),
                             ("1 if way == 'x' else 2", 1), ("1 if gone else 2", 2),
                             ("min(a, 3)", 3), ("round(a / 2)", 4)):
            self.assertEqual(wanted, formula.value(text, names), text)
        for text in ("__import__('os')", "a.b", "(1, 2)", "a if", "[a]", "lambda: 1", "a(1)"):
            with self.assertRaises(ValueError, msg=text):
                formula.value(text, names)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
