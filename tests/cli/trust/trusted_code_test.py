"""Which code the command runs, and which configuration counts: nothing from the current directory,
and nothing of other users."""

import os
import pathlib
import shutil
import subprocess
import unittest

from trust_case import CairnCase, MALLORY, main

# What the runner, Python at its start, and the libraries that they import would look for.
MODULES = ("yaml", "json", "numpy", "jsonschema", "rich", "os", "runpy", "encodings", "site",
           "sitecustomize", "usercustomize", "argparse", "cairn_bench", "vl_convert")
PROGRAMS = ("python3", "python", "mpirun", "mpirun.openmpi", "mpirun.mpich", "sbatch", "srun",
            "fio", "cairn", "git")
MATRIX = """format: 1
name: planted
rounds: 1
systems:
  here: {directory: .}
kernels:
  one: {kernel: ior, block: 64KiB, transfer: 8KiB}
"""


class Code(CairnCase):
    def setUp(self):
        super().setUp()
        self.here = pathlib.Path(self.path("shared"))
        self.here.mkdir()
        self.trace = pathlib.Path(self.path("planted-code-ran"))
        for name in MODULES:
            (self.here / f"{name}.py").write_text(
                f"open({str(self.trace)!r}, 'a').write('{name} ')\nraise ImportError\n",
                encoding="utf-8")
        for name in PROGRAMS:
            path = self.here / name
            path.write_text(f"#!/bin/sh\necho {name} >>{self.trace}\nexit 1\n", encoding="utf-8")
            path.chmod(0o755)
        (self.here / "m.yaml").write_text(MATRIX, encoding="utf-8")

    def bench(self, *words, **environment):
        run = self.cairn("bench", *words, expect=None, cwd=self.here, env=environment)
        if "missing; build and install Cairn with" in run.err:
            self.skipTest("built without CAIRN_BENCH")
        planted = self.trace.read_text(encoding="utf-8") if self.trace.exists() else ""
        self.assertEqual("", planted, f"code from the current directory ran: {words} {environment}")
        return run

    def test_nothing_is_imported_or_started_from_the_current_directory(self):
        path = self.env["PATH"]
        for environment in (
            {},
            {"PYTHONPATH": ""},
            {"PYTHONPATH": f":{self.path('none')}"},
            {"PYTHONPATH": f"{self.path('none')}:"},
            {"PYTHONPATH": ".:../shared"},
            {"PATH": f":{path}"},
            {"PATH": f".:{path}"},
            {"PATH": f"../shared::{path}"},
            {"HOME": ".", "PYTHONUSERBASE": "."},
            {"PYTHONHOME": ".", "PYTHONPYCACHEPREFIX": "."},
        ):
            for words in (("report", "."), ("run", "m.yaml", "--dry-run")):
                run = self.bench(*words, **environment)
                self.assertNotIn("Traceback", run.err)

    def test_a_user_site_counts_only_with_an_absolute_path(self):
        program = "import sys; print('%d.%d' % sys.version_info[:2])"
        version = subprocess.run(["python3", "-c", program], capture_output=True, text=True,
                                 check=True).stdout.strip()
        site = self.here / f".local/lib/python{version}/site-packages"
        site.mkdir(parents=True)
        (site / "planted.pth").write_text(
            f"import os; open({str(self.trace)!r}, 'w').write('pth')\n", encoding="utf-8")
        self.bench("report", ".", HOME=".")

    def test_a_pythonpath_that_the_user_names_counts(self):
        directory = pathlib.Path(self.path("modules"))
        directory.mkdir()
        shutil.copy(self.here / "yaml.py", directory)
        self.cairn("bench", "report", ".", expect=None, env={"PYTHONPATH": str(directory)})
        self.assertTrue(self.trace.exists())

    def test_a_python_that_needs_its_home(self):
        """It ended with a traceback that did not name the variable."""
        needs = pathlib.Path(self.path("python3"))
        needs.write_text("#!/bin/sh\n[ \"$1\" != -I ]\n", encoding="utf-8")
        needs.chmod(0o755)
        run = self.bench("report", ".", PATH=f"{needs.parent}:{self.env['PATH']}",
                         PYTHONHOME="/opt/python")
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{needs}: does not start without PYTHONHOME (/opt/python)", run.err)

    def test_no_python_in_an_absolute_directory(self):
        self.refused("bench", "report", ".", code=1, says="python3: not found", cwd=self.here,
                     env={"PATH": ":."})
        self.assertFalse(self.trace.exists())

    def test_a_file_does_not_take_the_place_of_a_ready_matrix(self):
        (self.here / "bench").write_text("format: 1\nname: planted\n", encoding="utf-8")
        run = self.bench("run", "bench", "--dry-run")
        self.assertNotIn("bench:1", run.err)

    def test_a_library_by_a_relative_path(self):
        (self.here / "x.nc").write_text("x", encoding="utf-8")
        self.refused("ckpt", "import", "x.nc", "set", code=1, says=["CAIRN_HDF5", "absolute"],
                     cwd=self.here, env={"CAIRN_HDF5": "./planted.so"})


class Configuration(CairnCase):
    def config(self, text, name=".config/cairn/cairn.yaml"):
        path = self.write(name, text)
        os.chmod(path, 0o644)
        return path

    def read(self, **environment):
        """(value of pool.size, what is said about files that do not count)"""
        run = self.cairn("config", "pool.size", env={"CAIRN_POOL_SIZE": "", **environment})
        return run.out.strip(), run.err

    def test_relative_directories_do_not_count(self):
        self.config("pool.size: 1G\n")
        self.config("pool.size: 2G\n", "cairn/cairn.yaml")
        value, said = self.read(XDG_CONFIG_HOME=".")
        self.assertEqual("1G", value)
        self.assertIn("XDG_CONFIG_HOME: '.': not an absolute path", said)
        value, said = self.read(HOME=".")
        self.assertEqual("auto", value)
        self.assertIn("HOME: '.': not an absolute path", said)
        self.refused("config", code=2, says="cairn/cairn.yaml: a configuration file needs an ab",
                     env={"CAIRN_CONFIG": "cairn/cairn.yaml"})

    @unittest.skipIf(os.geteuid() != 0, "only root can play several users")
    def test_a_file_of_another_user_does_not_count(self):
        path = self.config("pool.size: 1G\n")
        os.chown(path, MALLORY, MALLORY)
        value, said = self.read()
        self.assertEqual("auto", value)
        self.assertEqual(
            f"cairn: warning: {path}: does not count as configuration: belongs to user {MALLORY}; "
            "it must belong to you or to root\n", said)
        self.refused("config", code=2, says=[path, str(MALLORY)], env={"CAIRN_CONFIG": path})
        quiet = self.cairn("config", "pool.size", env={"CAIRN_LOG_LEVEL": "error"})
        self.assertEqual("", quiet.err)

    def test_a_file_that_others_write_does_not_count(self):
        path = self.config("pool.size: 1G\n")
        self.assertEqual(("1G", ""), self.read())
        for mode in (0o664, 0o646):
            os.chmod(path, mode)
            value, said = self.read()
            self.assertEqual("auto", value)
            self.assertIn(f"{path}: does not count as configuration: others can write to it", said)
            self.refused("config", code=2, says=[path, f"mode 0{mode:o}", "chmod go-w"],
                         env={"CAIRN_CONFIG": path})

    def test_what_is_no_small_regular_file(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        large = self.config("#" * 70000 + "\n", "large.yaml")
        for path, why in ((fifo, "a FIFO"), ("/dev/zero", "a device"),
                          (self.scratch, "a directory"), (large, "larger than 64")):
            self.refused("pool", "list", code=2, says=[path, why], timeout=20,
                         env={"CAIRN_CONFIG": path})
        os.makedirs(self.path(".config/cairn"))
        os.mkfifo(self.path(".config/cairn/cairn.yaml"))
        self.assertIn("not a regular file, but a FIFO", self.read()[1])

    def test_texts_that_stand_for_more_than_they_hold(self):
        bomb = "a: &a {}\n" + "".join(
            f"{b}: &{b} {{" + ", ".join(f"{c}: *{a}" for c in "abcdefghij") + "}\n"
            for a, b in zip("abcdefgh", "bcdefghi"))
        for text in ("a: &a\n  b: *a\n", bomb, "{a: " * 12000, "[" * 60000, "- " * 30000):
            path = self.config(text, "bad.yaml")
            self.refused("pool", "list", code=2, says="bad.yaml", timeout=20,
                         env={"CAIRN_CONFIG": path})


if __name__ == "__main__":
    main()
