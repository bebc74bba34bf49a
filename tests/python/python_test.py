"""The Python package: its structures are those of the header, and what it writes comes back."""

import array
import base64
import concurrent.futures
import ctypes
import errno
import hashlib
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
import zipfile

SOURCES = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
sys.path.insert(0, str(SOURCES / "bindings/python"))
os.environ.setdefault("CAIRN_LIBRARY",
                      str(pathlib.Path(os.environ["CAIRN_LIB_DIR"]) / "libcairn.so"))

import cairn  # noqa: E402
from cairn import _distributions, _library, _types  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


class Structures(unittest.TestCase):
    def test_offsets_and_numbers_are_those_of_the_header(self):
        lines = []
        expected = []
        for name, structure in _library.STRUCTURES.items():
            # A structure may have more fields behind these: struct_size says that they are not
            # given.
            lines.append(f'printf("%d\\n", sizeof({name}) >= {ctypes.sizeof(structure)});')
            expected.append(1)
            for field, *_ in structure._fields_:
                lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
                expected.append(getattr(structure, field).offset)
        numbers = {f"CAIRN_TYPE_{one.name}": one.value for one in cairn.Type}
        numbers.update({f"CAIRN_LEVEL_{one.name}": one.value for one in cairn.Level})
        numbers.update({f"CAIRN_SURVIVES_{one.name}": one.value for one in cairn.Survives})
        numbers.update({f"CAIRN_OWNER_{one.name}": one.value for one in cairn.Owner})
        numbers.update({f"CAIRN_{one.name}": one.value for one in cairn.Kind})
        numbers.update({
            "CAIRN_NO_COMMUNICATOR": _library.NO_COMMUNICATOR,
            "CAIRN_CHECKPOINT_LATEST": _library.LATEST, "CAIRN_CHECKPOINT_FRESH": _library.FRESH,
            "CAIRN_CHECKPOINT_LOOK": _library.LOOK, "CAIRN_CHECKPOINT_PARTNER": _library.PARTNER,
            "CAIRN_CHECKPOINT_CYCLIC": _library.CYCLIC,
            "CAIRN_CHECKPOINT_SIGNALS": _library.SIGNALS,
            "CAIRN_CHECKPOINT_BACKGROUND": _library.BACKGROUND,
            "CAIRN_DROP_LAST": _library.DROP_LAST, "CAIRN_READ_CYCLIC": _library.READ_CYCLIC,
            "CAIRN_READ_VERIFY_ALL": _library.READ_VERIFY_ALL,
            "CAIRN_ARRAY_TO_FILL": _library.TO_FILL, "CAIRN_OPTIONAL": _library.OPTIONAL,
            "CAIRN_READ_HALO": _library.READ_HALO, "CAIRN_REPLICATED": _distributions.REPLICATED,
            "CAIRN_BLOCK": _distributions.BLOCK, "CAIRN_DARRAY": _distributions.DARRAY,
            "CAIRN_MAX_DIMENSIONS": _library.MAX_DIMENSIONS
        })
        for name, number in numbers.items():
            lines.append(f'printf("%lld\\n", (long long)({name}));')
            expected.append(number)
        source = (
            "#include <cairn/checkpoint.h>\n#include <stddef.h>\n#include <stdio.h>\nint"
            " main(void) {\n"
        )
        with tempfile.TemporaryDirectory() as scratch:
            program = pathlib.Path(scratch) / "program"
            subprocess.run([
                os.environ.get("CAIRN_CC", "cc"), "-x", "c", "-", "-o", program, "-I",
                SOURCES / "include"
            ], input=source + "\n".join(lines) + "\n}\n", text=True, check=True)
            output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        self.assertEqual(expected, list(map(int, output.split())))

    def test_every_call_of_the_header_has_a_prototype(self):
        listed = (SOURCES / "include/cairn/api.def").read_text()
        for name in _library.CALLS:
            self.assertIn(f"CAIRN_CALL(checkpoint_{name})", listed)


class Wheel(unittest.TestCase):
    def test_a_wheel_carries_the_library(self):
        library = pathlib.Path(os.environ["CAIRN_LIBRARY"])
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            make = [
                sys.executable, "-B", SOURCES / "bindings/python/make_wheel.py", "--version",
                "1.2.0-dev", "--into", scratch, "--library", library, *sorted(
                    (library.parent / "cairn").glob("libcairn_mpi_*.so"))
            ]
            wheel = pathlib.Path(
                subprocess.run(make, capture_output=True, text=True, check=True).stdout.strip())
            self.assertRegex(wheel.name, r"^cairn-1\.2\.0\.dev0-py3-none-linux_\w+\.whl$")
            with zipfile.ZipFile(wheel) as archive:
                metadata = archive.read("cairn-1.2.0.dev0.dist-info/METADATA").decode()
                self.assertIn("\nVersion: 1.2.0.dev0\n", metadata)
                archive.extractall(pathlib.Path(scratch) / "site")
                self.assert_record(archive)
            program = "import cairn; print(cairn.__version__); cairn.Checkpoint('wheel').close()"
            environment = {
                **os.environ, "PYTHONPATH": f"{scratch}/site", "CAIRN_POOL_DIR": f"{scratch}/pools",
                "CAIRN_POOL_SIZE": "32MiB"
            }
            del environment["CAIRN_LIBRARY"]
            run = subprocess.run([sys.executable, "-c", program], env=environment,
                                 capture_output=True, text=True, check=False)
            self.assertEqual(0, run.returncode, run.stderr)
            self.assertEqual(cairn.version(), run.stdout.strip())
            self.report_of_an_example(scratch, environment)

    def report_of_an_example(self, scratch, environment):
        """The runner of `cairn bench` is part of it, and needs no installed Cairn for a report."""
        python = next((each for each in (sys.executable, "/usr/bin/python3") if subprocess.run(
            [each, "-c", "import yaml, jsonschema"], capture_output=True, check=False
        ).returncode == 0), None)
        if python is None:
            print("no PyYAML and jsonschema here")
            return
        example = SOURCES / "docs/results/example/results.jsonl"
        words = [python, "-B", "-m", "cairn_bench", "report", example, "--output", "page.html"]
        run = subprocess.run(words, cwd=scratch, env={**environment, "PATH": "/nowhere"},
                             capture_output=True, text=True, check=False)
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn("At a glance", (pathlib.Path(scratch) / "page.html").read_text("utf-8"))

    def assert_record(self, archive):
        """Each file has its size and hash in RECORD."""
        lines = archive.read("cairn-1.2.0.dev0.dist-info/RECORD").decode().splitlines()
        rows = {
            name: (digest, size)
            for name, digest, size in (line.rsplit(",", 2) for line in lines)
        }
        self.assertEqual(sorted(archive.namelist()), sorted(rows))
        self.assertIn("cairn/py.typed", rows)
        self.assertIn("cairn/lib/libcairn.so.0", rows)
        for name, (digest, size) in rows.items():
            if name.endswith("/RECORD"):
                continue
            content = archive.read(name)
            made = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            self.assertEqual((f"sha256={made}", str(len(content))), (digest, size), name)


class Checkpoints(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-python-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        os.environ.update(CAIRN_POOL_DIR=str(self.scratch), CAIRN_POOL_SIZE="64MiB")

    def test_buffers_come_back(self):
        words = array.array("d", [1.5, 2.5, 3.5])
        text = bytearray(b"some text")
        every_second = memoryview(array.array("i", range(10)))[::2]
        with cairn.Checkpoint("buffers") as checkpoint:
            checkpoint.define("words", words)
            checkpoint.define("text", text)
            checkpoint.define("every second", every_second)
            self.assertIsNone(checkpoint.restart_test())
            checkpoint.write(1)
            words[:] = array.array("d", [0, 0, 0])
            text[:] = bytes(9)
            for i in range(5):
                every_second[i] = -1
            info = checkpoint.read()
            self.assertEqual((1, 1, False), (info.number, info.ranks, info.abandoned))
            self.assertEqual([1.5, 2.5, 3.5], list(words))
            self.assertEqual(b"some text", text)
            self.assertEqual([0, 2, 4, 6, 8], list(every_second))
            with self.assertRaises(ValueError):
                checkpoint.define("constant", b"bytes")
            with self.assertRaises((TypeError, ValueError)):
                checkpoint.define("number", 1.0)
        with self.assertRaises(ValueError):
            checkpoint.write(2)
        checkpoint.close()

    def test_calls(self):
        values = array.array("q", [1, 2, 3])
        with cairn.Checkpoint("calls", keep=3, code_version="test 1", interval=1e-6) as checkpoint:
            checkpoint.define("former", values)
            self.assertFalse(checkpoint.need(1))
            self.assertTrue(any(map(checkpoint.need, range(2, 1000000))))
            checkpoint.write(4)
            values[0] = 10
            handle = checkpoint.iwrite(5)
            values[0] = 99
            handle.wait(timeout=10)
            self.assertTrue(handle.test())
            self.assertEqual(cairn.Level.LOCAL, handle.progress().level)
            self.assertIn(cairn.Survives.PROCESSES, handle.progress().survives)
            self.assertEqual([5, 4], [one.number for one in checkpoint.versions()])
            self.assertEqual("test 1", checkpoint.versions()[0].code_version)
            checkpoint.undefine("former")
            extra = array.array("q", [0])
            checkpoint.define("name", values, aliases=["other", "former"])
            checkpoint.define("extra", extra, optional=True, default=array.array("q", [42]))
            self.assertEqual(1, checkpoint.restart_test(5).missing)
            checkpoint.read(5)
            self.assertEqual([[10, 2, 3], [42]], [list(values), list(extra)])
            box = checkpoint.read_var("former", array.array("q", [0]), version=4, offset=(2,))
            self.assertEqual([3], list(box))
            with self.assertRaises(cairn.Error) as raised:
                checkpoint.read(77)
            self.assertIn("no version of this number", str(raised.exception))
            with self.assertRaises(cairn.Error) as raised:
                checkpoint.define("large", values, shape=(2,))
            self.assertIn("'large'", str(raised.exception))
            for wrong in {"offset": (0,)}, {"shape": (3, 3)}, {"shape": (3,), "halo": (0, 0)}:
                with self.assertRaises(ValueError):
                    checkpoint.define("wrong", values, **wrong)
            with self.assertRaises(TypeError):
                checkpoint.define("wrong", values, optional=True, default=array.array("d", [1]))

    def test_copies_in_lower(self):
        lower = self.scratch / "lower"
        lower.mkdir()
        values = array.array("q", range(100))
        with cairn.Checkpoint("copied", lower=lower, lower_keep=1) as checkpoint:
            checkpoint.define("values", values)
            for number in (1, 2):
                checkpoint.iwrite(number).wait(cairn.Level.GLOBAL)
            checkpoint.verify()
            checkpoint.verify(1)
            with self.assertRaises(cairn.Error) as caught:
                checkpoint.verify(3)
            self.assertEqual(errno.ENOENT, caught.exception.errno)
        with cairn.Checkpoint("copied", lower=lower, lower_keep=1, lower_multiple=4,
                              background=True) as checkpoint:
            checkpoint.define("values", values)
            checkpoint.read(verify_all=True)
            handle = checkpoint.iwrite(4)
            while not handle.test(cairn.Level.GLOBAL):
                time.sleep(0.001)
            self.assertIn(cairn.Survives.POOLS, handle.progress().survives)
        records = list((lower / ".cairn-checkpoints/copied").glob("v*.json"))
        self.assertEqual(1, len(records), records)

    def test_a_new_line_keeps_the_copies_of_the_one_before(self):
        lower = self.scratch / "lines"
        lower.mkdir()
        for number, options in (1, {}), (2, {"fresh": True}), (3, {"fresh": True}):
            with cairn.Checkpoint("lines", lower=lower, lower_keep=1, **options) as checkpoint:
                checkpoint.define("values", array.array("q", range(100)))
                checkpoint.write(number)
        records = lower / ".cairn-checkpoints/lines"
        self.assertEqual(2, len(list(records.glob("v*.json"))))
        with cairn.Checkpoint("lines", lower=lower, fresh=True, drop_copies=True) as checkpoint:
            checkpoint.define("values", array.array("q", range(100)))
            self.assertEqual(2, len(list(records.glob("v*.json"))))
            checkpoint.write(4)
        self.assertEqual(1, len(list(records.glob("v*.json"))))

    def test_a_larger_array_repeats_the_stored_one(self):
        with cairn.Checkpoint("cyclic") as checkpoint:
            checkpoint.define("values", array.array("q", [1, 2, 3]))
            checkpoint.write(1)
        larger = array.array("q", [0] * 7)
        with cairn.Checkpoint("cyclic", cyclic=True) as checkpoint:
            checkpoint.define("values", larger)
            self.assertEqual(1, checkpoint.restart_test().number)
            checkpoint.read()
        self.assertEqual([1, 2, 3, 1, 2, 3, 1], list(larger))

    def test_a_pool_without_room_for_a_loop_is_told(self):
        large = array.array("d", bytes(30 << 20))  # of the pool's 64 MiB
        with cairn.Checkpoint("room") as checkpoint:
            with self.assertWarnsRegex(RuntimeWarning,
                                       "'large': a version takes 30.0 MiB .* for 3 versions"):
                checkpoint.define("large", large)
        with cairn.Checkpoint("room") as checkpoint, warnings.catch_warnings():
            warnings.simplefilter("error")
            checkpoint.define("small", array.array("d", [1]))

    def test_what_is_no_attribute_is_named(self):
        values = array.array("d", [1])
        with cairn.Checkpoint("attributes") as checkpoint:
            for wrong in None, ["a", "b"], 2**70, {"a": 1}:
                with self.assertRaisesRegex(TypeError,
                                            "variable 'v': attribute 'key': expected .* not "):
                    checkpoint.define("v", values, attributes={"key": wrong})
            with self.assertRaisesRegex(cairn.Error, "attribute '': 0 bytes"):
                checkpoint.define("v", values, attributes={"": 1})
            with self.assertRaisesRegex(TypeError, "variable 'pi': expected an array"):
                checkpoint.define("pi", 3.14)

    def test_a_run_ends_in_time(self):
        halt = self.scratch / "halt"
        with cairn.Checkpoint("exit", signals=True, halt_file=halt, exit_margin=1.5) as checkpoint:
            self.assertEqual("", checkpoint.should_exit())
            os.kill(os.getpid(), signal.SIGUSR1)
            self.assertIn("signal", checkpoint.should_exit())
        with cairn.Checkpoint("exit", halt_file=halt) as checkpoint:
            self.assertEqual("", checkpoint.should_exit())
            halt.touch()
            self.assertIn("halt file", checkpoint.should_exit())
        with cairn.Checkpoint("exit", end_time=time.time() + 1, exit_margin=60) as checkpoint:
            self.assertNotEqual("", checkpoint.should_exit())

    def test_arrays_of_any_length_are_read(self):
        values = array.array("i", range(240))
        library = _library
        own = library.made(library.Array, type=cairn.Type.INT32, dimensions=1,
                           base=values.buffer_info()[0])
        own.extent[0] = len(values)
        per_rank = library.made(library.Distribution, kind=7)
        with cairn.Checkpoint("lengths") as checkpoint:
            checkpoint._call("define", b"own", ctypes.byref(own), ctypes.byref(per_rank), None)
            checkpoint.write(1)
            variable, = checkpoint.variables()
            self.assertEqual((240,), variable.shape)
            self.assertEqual(("own_0",), variable.dimensions)
            found = array.array("i", bytes(4 * 240))
            checkpoint.read_var("own", found)
            self.assertEqual(values, found)

    def test_arrays_of_any_length_are_written(self):
        def rank(number, ranks, job, work):
            with cairn.Checkpoint("lists", rank=number, ranks=ranks, job=job) as checkpoint:
                counts = array.array("q", [0] * (12 // ranks))
                lists = cairn.Counted(array.array("d"))
                cells = cairn.Counted(array.array("q"))
                speeds = cairn.Counted(array.array("d"))
                logs = [array.array("b")]

                def log(count):
                    if count is not None:
                        logs[0] = array.array("b", bytes(count))
                    return logs[0]

                checkpoint.define("counts", counts, shape=(12,), offset=(number * len(counts),))
                checkpoint.define("lists", lists, kind=cairn.Kind.RAGGED, over="counts")
                checkpoint.define("cells", cells, kind=cairn.Kind.PARTICLES, over="counts")
                checkpoint.define("speeds", speeds, kind=cairn.Kind.PARTICLES, over="counts",
                                  key="cells")
                checkpoint.define("log", log, kind=cairn.Kind.PER_RANK)
                work(checkpoint, number, counts, lists, cells, speeds, logs)

        def fill(checkpoint, number, counts, lists, cells, speeds, logs):
            own = range(number * 6, number * 6 + 6)
            counts[:] = array.array("q", [cell % 4 for cell in own])
            lists.array = array.array("d", [cell + k / 8 for cell in own for k in range(cell % 4)])
            cells.array = array.array("q", own)
            speeds.array = array.array("d", [cell / 2 for cell in own])
            logs[0] = array.array("b", [number] * (number + 1))
            checkpoint.write(1)

        def expect(checkpoint, number, counts, lists, cells, speeds, logs):
            checkpoint.read()
            own = range(number * 4, number * 4 + 4)
            self.assertEqual([cell + k / 8 for cell in own for k in range(cell % 4)],
                             list(lists.array))
            self.assertEqual([(cell, cell / 2) for cell in own],
                             sorted(zip(cells.array, speeds.array)))
            self.assertEqual([number] * (number + 1) if number < 2 else [], list(logs[0]))
            self.assertEqual([1, 2], checkpoint.counts("log"))
            variable = next(one for one in checkpoint.variables() if one.name == "speeds")
            self.assertEqual((cairn.Kind.PARTICLES, "counts", "cells"),
                             (variable.kind, variable.over, variable.key))

        for ranks, job, work in (2, "writers", fill), (3, "readers", expect):
            with concurrent.futures.ThreadPoolExecutor(ranks) as threads:
                for done in [
                        threads.submit(rank, number, ranks, job, work) for number in range(ranks)
                ]:
                    done.result()
        with cairn.Checkpoint("lists", fresh=True) as checkpoint:
            for wrong in {"kind": cairn.Kind.RAGGED, "shape": (1,)}, {"over": "counts"}, {}:
                with self.assertRaises(ValueError):
                    checkpoint.define("wrong", cairn.Counted(array.array("d")), **wrong)

    def test_versions_with_variables_of_their_own(self):
        always = array.array("q", [1])
        reached = []
        with cairn.Checkpoint("own", keep=4) as checkpoint:
            checkpoint.observe(lambda number, progress: reached.append((number, progress.level)))
            checkpoint.define("always", always)
            checkpoint.begin(1)
            checkpoint.write_var("once", array.array("d", [2.5, 3.5]), attributes={"units": "K"})
            checkpoint.write_var("always", array.array("q", [7]))
            checkpoint.commit()
            self.assertEqual((1, cairn.Level.LOCAL), reached[-1])
            checkpoint.observe(None)
            checkpoint.write(2)
            self.assertEqual(1, reached[-1][0])
            self.assertEqual(["always", "once"], [one.name for one in checkpoint.variables(1)])
            self.assertEqual(["always"], [one.name for one in checkpoint.variables(2)])
            self.assertEqual([7],
                             list(checkpoint.read_var("always", array.array("q", [0]), version=1)))
            self.assertEqual([1],
                             list(checkpoint.read_var("always", array.array("q", [0]), version=2)))
            checkpoint.drop(1)
            self.assertEqual([2], [one.number for one in checkpoint.versions()])
            with self.assertRaises(cairn.Error) as refused:
                checkpoint.drop(2)
            self.assertEqual(errno.EPERM, refused.exception.errno)
            with self.assertRaises(cairn.Error):
                checkpoint.commit()
        with cairn.Checkpoint("own", look=True) as checkpoint:
            checkpoint.drop(2, last=True)
            self.assertEqual([], checkpoint.versions())

    def test_a_function_says_where_an_array_is(self):
        now = [array.array("i", [1, 2])]
        with cairn.Checkpoint("getter") as checkpoint:
            checkpoint.define("values", lambda: now[0])
            checkpoint.write(1)
            now[0] = array.array("i", [0, 0])
            checkpoint.read()
            self.assertEqual([1, 2], list(now[0]))
            now.clear()
            with self.assertRaises(IndexError):
                checkpoint.write(2)
            now.append(array.array("i", [3, 4]))
            checkpoint.write(3)
            self.assertEqual([3, 1], [one.number for one in checkpoint.versions()])

    def test_ranks_wait_without_the_interpreter_lock(self):
        for ranks in 3, 2:
            def rank(number, ranks=ranks):
                first, end = 10 * number // ranks, 10 * (number + 1) // ranks
                mine = array.array("d", [-1] * (end - first))
                with cairn.Checkpoint("ranks", rank=number, ranks=ranks,
                                      job=f"test {os.getpid()} {ranks}") as checkpoint:
                    checkpoint.define("rows", mine, shape=(10,), offset=(first,))
                    if checkpoint.restart_test():
                        checkpoint.read()
                        self.assertEqual(list(range(first, end)), list(mine))
                    mine[:] = array.array("d", range(first, end))
                    checkpoint.write(ranks)

            with concurrent.futures.ThreadPoolExecutor(ranks) as threads:
                for future in [threads.submit(rank, number) for number in range(ranks)]:
                    future.result(timeout=100)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_every_dtype_of_numpy(self):
        names = [
            "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "F", "D", "G",
            "?", "S7", "U3", "V5", "M8[s]", [("id", "i4"), ("x", "f8")]
        ]
        arrays = {}
        for name in names:
            dtype = numpy.dtype(name)
            for shape in (), (3,), (2, 3), (2, 1, 2, 1, 2, 1, 2):
                values = numpy.arange(1, 17, dtype="i4").astype("i1")
                # The six bytes of a long double that carry no value are stored as zero.
                made = values[:numpy.prod(shape, dtype=int)].astype("S1" if dtype.kind in
                                                                    "V" else dtype)
                if dtype.kind == "V":
                    made = numpy.zeros(len(made), dtype)
                    made.view("u1")[:] = numpy.arange(made.nbytes) % 251
                arrays[f"{name} {shape}"] = made.reshape(shape).copy()
        expected = {name: one.copy() for name, one in arrays.items()}
        with cairn.Checkpoint("dtypes") as checkpoint:
            for name, one in arrays.items():
                checkpoint.define(name, one)
            checkpoint.write(1)
            for one in arrays.values():
                one[...] = numpy.zeros((), one.dtype)
            checkpoint.read()
            for name, one in arrays.items():
                self.assertTrue(numpy.array_equal(expected[name], one), name)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_views_of_numpy(self):
        whole = numpy.arange(80.0).reshape(8, 10)
        kept = whole.copy()
        with cairn.Checkpoint("views") as checkpoint:
            checkpoint.define("section", whole[6:1:-2, 1::3])
            checkpoint.define("fortran", numpy.asfortranarray(whole[:2, :3]))
            turned = whole[7:, :].T
            checkpoint.define("turned", turned, shape=(1, 10), axis=(1, 0))
            checkpoint.write(1)
            whole[...] = 0
            checkpoint.read()
            self.assertTrue(numpy.array_equal(kept[6:1:-2, 1::3], whole[6:1:-2, 1::3]))
            self.assertEqual(9 + 10, numpy.count_nonzero(whole))
            self.assertEqual([[1, 2], [11, 12]],
                             checkpoint.read_var("fortran", numpy.zeros((2, 2)),
                                                 offset=(0, 1)).tolist())
            with self.assertRaises(TypeError):
                checkpoint.define("big", numpy.zeros(2, ">f8"))
            with self.assertRaises(TypeError):
                checkpoint.define("objects", numpy.zeros(2, object))
            constant = numpy.zeros(2)
            constant.flags.writeable = False
            with self.assertRaises(ValueError):
                checkpoint.define("constant", constant)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_what_a_version_holds(self):
        rows = numpy.arange(12, dtype="f4").reshape(3, 4)
        flag = numpy.array(True)
        with cairn.Checkpoint("holds") as checkpoint:
            noted = {
                "units": "K", "dimensions": "y x", "_FillValue": numpy.array(-1, "f4"),
                "valid_range": [0.0, 400.5], "levels": 3, "raw": b"\1\2"
            }
            checkpoint.define("temperature", rows, attributes=noted)
            checkpoint.define("flag", flag, optional=True)
            checkpoint.set_attributes({"title": "a test", "time": 1.5})
            checkpoint.write(7)
        with cairn.Checkpoint("holds", look=True) as checkpoint:
            flag_found, found = checkpoint.variables()
            self.assertEqual(("flag", cairn.Type.LOGICAL8, (), "b1", {}),
                             (flag_found.name, flag_found.type, flag_found.shape, flag_found.dtype,
                              flag_found.attributes))
            self.assertEqual((True, False), (flag_found.optional, found.optional))
            self.assertEqual(("f4", (3, 4), ("y", "x")),
                             (found.dtype, found.shape, found.dimensions))
            self.assertEqual({**noted, "_FillValue": -1.0}, found.attributes)
            self.assertEqual({"title": "a test", "time": 1.5}, checkpoint.versions()[0].attributes)
            self.assertTrue(numpy.array_equal(rows, checkpoint.read_var("temperature")))
            with self.assertRaises(cairn.Error):
                checkpoint.read_var("pressure")
            with self.assertRaises(cairn.Error):
                checkpoint.write(8)
            if importlib.util.find_spec("xarray"):
                dataset = checkpoint.dataset()
                self.assertEqual(("y", "x"), dataset["temperature"].dims)
                self.assertEqual("K", dataset["temperature"].attrs["units"])
                self.assertEqual(("a test", 7), (dataset.attrs["title"], dataset.attrs["version"]))
                self.assertTrue(numpy.array_equal(rows, dataset["temperature"].values))
                self.assertEqual(["flag"], list(checkpoint.dataset(7, ["flag"])))

    def test_types_of_buffers(self):
        of = {"d": 8, "<i": 4, "l": 8, "Q": 8, "?": 1, "c": 1, "Zd": 16, "e": 2, "T{i:a:}": 4}
        types = [
            cairn.Type.FLOAT64, cairn.Type.INT32, cairn.Type.INT64, cairn.Type.UINT64,
            cairn.Type.LOGICAL8, cairn.Type.CHARACTER, cairn.Type.COMPLEX128, cairn.Type.FLOAT16,
            cairn.Type.OPAQUE
        ]
        self.assertEqual(types, [_types.of_format(code, size) for code, size in of.items()])
        with self.assertRaises(TypeError):
            _types.of_format(">d", 8)


if __name__ == "__main__":
    if os.environ.get("CAIRN_SANITIZE"):
        print("a sanitized library cannot be loaded into a program that is not")
        sys.exit(77)
    # The distribution's numpy may belong to another interpreter than the one that is first in PATH.
    if numpy is None and sys.executable != "/usr/bin/python3" and os.path.exists(
            "/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    unittest.main(verbosity=2)
