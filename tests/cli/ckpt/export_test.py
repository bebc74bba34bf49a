"""cairn ckpt export, import and diff: what other libraries read in the file, and the way back."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import ckpt_case
from ckpt_case import CkptCase

READER = pathlib.Path(__file__).with_name("read_export.py")
CRAFTED = pathlib.Path(__file__).with_name("crafted_files.py")


def interpreter(*modules):
    """A Python with these modules: the distribution's may belong to another one than is first in
    PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import " + ", ".join(modules)],
                                                     stderr=subprocess.DEVNULL,
                                                     check=False).returncode == 0:
            return python
    return None


PYTHON = interpreter("h5py", "netCDF4", "numpy")
COUNT = list(range(24))


class Export(CkptCase):
    def setUp(self):
        super().setUp()
        self.writer("field", 2)
        self.file = self.path("field.nc")
        run = self.cairn("ckpt", "export", "field", self.file, expect=None)
        if "libhdf5 is missing" in run.err:
            self.skipTest("no libhdf5")
        self.assertEqual(run.returncode, 0, run.err)

    def read(self, path=None, *readers):
        if PYTHON is None:
            self.skipTest("no h5py and netCDF4")
        run = subprocess.run([PYTHON, "-B", READER, path or self.file, *readers],
                             capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_h5py(self):
        found = self.read()["read_h5py"]
        notes = found["attributes"]
        self.assertEqual((notes["title"], notes["cairn_set"], notes["cairn_version"],
                          notes["cairn_step"], notes["cairn_code_version"], notes["time"]),
                         ("a test", "field", [2], [20], "writer 1", [1.0]))
        self.assertEqual(found["u"]["values"], [2000.0 + i for i in COUNT])
        self.assertEqual(found["u"]["type"], "float64")
        self.assertEqual(found["u"]["dims"], [["/y"], ["/x"]])
        self.assertTrue(found["x"]["scale"])
        self.assertEqual(found["i64"]["values"], [2 + i for i in COUNT])
        self.assertEqual(found["i64"]["type"], "int64")
        self.assertEqual(found["u64"]["type"], "uint64")
        self.assertEqual(found["f32"]["shape"], [2, 3, 4])
        self.assertEqual(found["count"]["shape"], [])
        self.assertEqual(found["nothing"]["shape"], [0, 3])
        self.assertNotIn("wide", found)
        # Names come in the order in which they were made.
        self.assertIn("x", found["order"])
        # Large data would begin at a page; all of it has a place.
        self.assertIsNotNone(found["u"]["offset"])
        self.assertIsNone(found["nothing"]["offset"])

    def test_netcdf4(self):
        found = self.read()["read_netcdf4"]
        variables = found["variables"]
        self.assertEqual(found["dimensions"]["y"], 4)
        self.assertEqual(found["dimensions"]["x"], 6)
        self.assertEqual(found["dimensions"]["pair"], 2)
        self.assertEqual(variables["u"]["dims"], ["y", "x"])
        self.assertEqual(variables["u"]["attributes"],
                         {"_FillValue": -9999, "long_name": "velocity", "units": "m s-1"})
        self.assertEqual(variables["x"]["dims"], ["x"])
        self.assertEqual(variables["x"]["attributes"]["valid_range"], [0, 2.5])
        self.assertEqual(variables["y"]["dims"], ["pair"])
        self.assertEqual(variables["y"]["values"], [2, 3])
        self.assertEqual(variables["i16"]["dims"], ["dim_4", "dim_6"])
        self.assertEqual(variables["i16"]["attributes"], {"units": ""})
        self.assertEqual(variables["square"]["dims"], ["dim_3", "dim_3_2"])
        for name, kind in (("i8", "int8"), ("i16", "int16"), ("i32", "int32"), ("u8", "uint8"),
                           ("u16", "uint16"), ("u32", "uint32"), ("f32", "float32"),
                           ("half", "float32"), ("brain", "float32")):
            self.assertEqual(variables[name]["type"], kind, name)
        self.assertEqual(variables["half"]["values"], [1, -2, 2 ** -24, float("inf")])
        self.assertEqual(variables["half"]["attributes"], {"cairn_type": "float16"})
        self.assertEqual(variables["brain"]["values"][:2], [1, -2])
        self.assertEqual(variables["c64"]["values"], [[1, 2], [3, -4]])
        self.assertEqual(variables["c128"]["values"], [[1, 2], [3, -4]])
        self.assertEqual(variables["flags"]["values"], [0, 1, 1])
        self.assertEqual(variables["flags"]["attributes"],
                         {"cairn_type": "logical32", "dtype": "bool"})
        self.assertEqual(variables["names"]["values"], list("northsouth"))
        self.assertEqual(variables["letter"]["values"], list("abc"))
        self.assertEqual(variables["struct"]["values"], [1, 2, 3, 4, 5, 6])
        self.assertEqual(variables["struct"]["shape"], [2, 3])
        self.assertEqual(variables["count"]["values"], [2])
        self.assertEqual(variables["nothing"]["shape"], [0, 3])
        self.assertNotIn("wide", variables)

    def test_types_that_netcdf_has_not_stand_beside(self):
        # netCDF's library crashes on it, which is why it stands beside.
        found = self.read(self.file + ".long-double.h5", "read_h5py")["read_h5py"]
        self.assertEqual(found["wide"]["values"], [1, 4 / 3, 5 / 3])
        self.assertNotIn("u", found)

    def test_xarray(self):
        found = self.read()["read_xarray"]
        if found is None:
            self.skipTest("no xarray")
        self.assertEqual(found["sum_of_u"], sum(2000 + i for i in COUNT))
        self.assertEqual(found["variables"]["flags"]["type"], "bool")
        self.assertEqual(found["variables"]["u"]["dims"], ["y", "x"])

    def test_h5dump_and_ncdump(self):
        for tool, words in (("h5dump", ["-H"]), ("ncdump", ["-h"])):
            if not shutil.which(tool):
                continue
            run = subprocess.run([tool, *words, self.file], capture_output=True, text=True,
                                 timeout=60, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("velocity" if tool == "ncdump" else 'DATASET "u"', run.stdout)

    def test_nothing_is_replaced_or_left(self):
        self.refused("ckpt", "export", "field", self.file, code=1,
                     says=["exists already", "--force"])
        before = os.stat(self.file).st_ino
        shown = self.json("ckpt", "export", "field", "1", self.file, "--force")
        self.assertEqual((shown["version"], shown["file"]), (1, self.file))
        self.assertNotEqual(os.stat(self.file).st_ino, before)
        self.refused("ckpt", "export", "field", "7", self.path("none.nc"), code=1,
                     says="has no version 7")
        self.refused("ckpt", "export", "field", self.path("none/none.nc"), code=1, says="none")
        self.refused("ckpt", "export", "field", code=2, says="missing FILE")
        self.refused("ckpt", "export", "field", "2", code=2, says="missing FILE after VERSION 2")
        os.symlink("/nowhere", self.path("link.nc"))
        self.refused("ckpt", "export", "field", self.path("link.nc"), "--force", code=1,
                     says="is not a file")
        self.assertEqual(sorted(os.listdir(self.scratch)),
                         ["field.nc", "field.nc.long-double.h5", "link.nc"])

    def test_a_damaged_version_gives_no_file(self):
        self.damage(1)
        self.refused("ckpt", "export", "field", "1", self.path("one.nc"), code=1,
                     says="differ from their checksum")
        self.assertFalse([name for name in os.listdir(self.scratch) if name.startswith("one")])

    def test_names_that_do_not_fit_are_not_used(self):
        self.writer("misnamed", "misnamed")
        file = self.path("misnamed.nc")
        said = self.cairn("ckpt", "export", "misnamed", file).err
        for line in (
            "variable 'many': attribute dimensions is not used: names 2 of 1 dimensions",
            (
                "variable 'other': attribute dimensions is not used: 'time' has 4 elements,"
                " elsewhere 3"
            ),
            "variable 'word': attribute dimensions is not used: has the invalid name 'a/b'",
        ):
            self.assertIn(line, said)
        found = self.read(file, "read_h5py")["read_h5py"]
        self.assertEqual(found["time"]["dims"], [[]])  # it is the coordinate itself
        self.assertEqual([found[name]["dims"] for name in ("many", "other", "word")],
                         [[["/dim_5"]], [["/dim_4"]], [["/dim_2"]]])

    def test_the_way_back(self):
        warned = self.cairn("ckpt", "import", self.file, "restored").err
        self.assertEqual(warned, "")
        versions = self.json("ckpt", "ls", "restored")
        self.assertEqual([(one["version"], one["step"]) for one in versions], [(2, 20)])
        self.assertEqual(versions[0]["attributes"], {"time": 1.0, "title": "a test"})
        self.assertEqual(versions[0]["code_version"], "writer 1")
        before = {one["name"]: one for one in self.json("ckpt", "show", "field")["variables"]}
        after = {one["name"]: one for one in self.json("ckpt", "show", "restored")["variables"]}
        self.assertEqual(sorted(before), sorted(after))
        for name, one in before.items():
            self.assertEqual(
                (one["type"], one["shape"], one["element_bytes"]),
                (after[name]["type"], after[name]["shape"], after[name]["element_bytes"]), name)
        self.assertEqual(after["u"]["attributes"], before["u"]["attributes"])
        self.assertEqual(after["i16"]["attributes"]["units"], "")
        self.assertEqual(self.json("ckpt", "diff", "field", "restored")["variables"], [])
        self.refused("ckpt", "import", self.file, "restored", code=1, says="has versions already")
        # The file beside has to be of the same version.
        self.cairn("ckpt", "export", "field", "1", self.path("one.nc"))
        os.rename(self.path("one.nc.long-double.h5"), self.file + ".long-double.h5")
        warned = self.cairn("ckpt", "import", self.file, "alone").err
        self.assertIn(".long-double.h5: is not imported: it is not of the version", warned)
        self.cairn("ckpt", "import", self.file + ".long-double.h5", "beside", "--number", "7")
        self.assertEqual(self.json("ckpt", "ls", "beside")[0]["version"], 7)
        self.refused("ckpt", "import", self.path("none"), "new", code=1, says="none")
        self.refused("ckpt", "import", self.write("text", "no HDF5"), "new", code=1, says="text")


class Counted(CkptCase):
    """Variables of which each rank has any number of elements."""

    COUNTS = [(cell + 2) % 3 for cell in range(12)]
    VALUES = [2000.0 + 10 * cell + k for cell in range(12) for k in range((cell + 2) % 3)]
    CELLS = [(cell + 5) % 12 for cell in range(12)]

    def setUp(self):
        super().setUp()
        self.writer("field", "counted", 3)

    def export(self, version):
        file = self.path(f"{version}.nc")
        run = self.cairn("ckpt", "export", "field", str(version), file, expect=None)
        if "libhdf5 is missing" in run.err:
            self.skipTest("no libhdf5")
        self.assertEqual(run.returncode, 0, run.err)
        return file

    def read(self, file):
        if PYTHON is None:
            self.skipTest("no h5py and netCDF4")
        run = subprocess.run([PYTHON, "-B", READER, file, "read_netcdf4"], capture_output=True,
                             text=True, timeout=100, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["read_netcdf4"]

    def test_ragged_arrays_of_the_conventions(self):
        found = self.read(self.export(2))
        self.assertEqual(
            found["dimensions"], {
                "y": 4, "x": 3, "counts_values": len(self.VALUES), "particles": 12,
                "particles_2": 5, "rain": 5, "own_elements": 5, "ranks": 2
            })
        expected = {
            "counts": (["y", "x"], self.COUNTS, {"sample_dimension": "counts_values"}),
            "dealt": (["y", "x"], list(range(200, 212)), {}),
            "values": (["counts_values"], self.VALUES,
                       {"units": "kg", "cairn_kind": "ragged", "cairn_over": "counts"}),
            "cell": (["particles"], self.CELLS, {
                "instance_dimension": "y x", "cairn_kind": "particles", "cairn_over": "counts"
            }), "mass": (["particles"], [cell + 2.0 for cell in self.CELLS], {
                "units": "kg", "cairn_kind": "particles", "cairn_over": "counts",
                "cairn_key": "cell"
            }), "plain": (["particles_2"], [0, 1, 10, 11, 12], {"cairn_kind": "particles"}),
            "drops": (["rain"], [0, 1, 10, 11, 12], {"cairn_kind": "particles"}),
            "own": (["own_elements"], [0, 1, 16, 17, 18], {"cairn_kind": "per_rank"}),
            "own_count": (["ranks"], [2, 3], {"sample_dimension": "own_elements"})
        }
        self.assertEqual(sorted(found["variables"]), sorted(expected))
        for name, (dimensions, values, attributes) in expected.items():
            one = found["variables"][name]
            self.assertEqual((one["dims"], one["values"], one["attributes"]),
                             (dimensions, values, attributes), name)
        self.assertEqual(found["variables"]["cell"]["type"], "int64")

    def test_an_array_that_is_dealt_out(self):
        shown = {one["name"]: one for one in self.json("ckpt", "show", "field")["variables"]}
        self.assertEqual((shown["dealt"]["kind"], shown["dealt"]["shape"]), ("darray", [4, 3]))
        self.assertIn("block-cyclic", self.cairn("ckpt", "show", "field").out)
        self.assertEqual(self.json("ckpt", "diff", "field@3", "field@3")["variables"], [])
        self.cairn("ckpt", "verify", "field")

    def test_versions_without_elements(self):
        file = self.export(3)
        found = self.read(file)["variables"]
        self.assertEqual((found["values"]["shape"], found["mass"]["shape"], found["own"]["shape"]),
                         ([0], [0], [0]))
        self.assertEqual((found["counts"]["values"], found["own_count"]["values"]),
                         ([0] * 12, [0, 0]))
        self.cairn("ckpt", "import", file, "empty")
        self.assertEqual(
            {one["name"]: one["shape"]
             for one in self.json("ckpt", "show", "empty")["variables"]}["mass"], [0])

    def test_ncdump(self):
        if not shutil.which("ncdump"):
            self.skipTest("no ncdump")
        run = subprocess.run(["ncdump", self.export(2)], capture_output=True, text=True, timeout=60,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ('counts:sample_dimension = "counts_values" ;',
                     'cell:instance_dimension = "y x" ;', "double values(counts_values) ;",
                     "mass = 7, 8, 9, 10, 11, 12, 13, 2, 3, 4, 5, 6 ;"):
            self.assertIn(text, run.stdout)

    def test_the_way_back(self):
        file = self.export(2)
        self.cairn("ckpt", "import", file, "restored")
        found = self.json("ckpt", "diff", "field@2", "restored", expect=1)
        self.assertEqual(found["variables"],
                         [{"name": "own_count", "problem": "is in the second one only"}])
        shown = {one["name"]: one for one in self.json("ckpt", "show", "restored")["variables"]}
        self.assertEqual([(shown[name].get("kind"), shown[name].get("over"), shown[name].get("key"))
                          for name in ("values", "cell", "mass", "plain", "own")],
                         [("ragged", "counts", None), ("particles", "counts", None),
                          ("particles", "counts", "cell"), ("particles", None, None),
                          (None, None, None)])
        self.assertEqual(shown["counts"]["attributes"], {"dimensions": "y x"})
        self.assertEqual(shown["values"]["attributes"],
                         {"dimensions": "counts_values", "units": "kg"})
        # What is exported again is the same.
        self.cairn("ckpt", "export", "restored", self.path("again.nc"))
        again = self.read(self.path("again.nc"))["variables"]
        before = self.read(file)["variables"]
        for name in ("counts", "values", "cell", "mass", "plain", "drops"):
            self.assertEqual(again[name], before[name], name)

    def test_show_and_diff(self):
        shown = {one["name"]: one for one in self.json("ckpt", "show", "field", "2")["variables"]}
        self.assertEqual((shown["values"]["shape"], shown["values"]["kind"], shown["own"]["shape"],
                          shown["mass"]["bytes"]), ([12], "ragged", [5], 48))
        text = self.cairn("ckpt", "show", "field", "2").out
        self.assertIn("values  float64  12  ragged over counts\n", text)
        self.assertIn("mass  float32  12  particles over counts by cell\n", text)
        found = {
            one["name"]: one
            for one in self.json("ckpt", "diff", "field@1", "field@2", expect=1)["variables"]
        }
        self.assertEqual(found["mass"]["elements"], 12)
        self.assertNotIn("cell", found)


class Crafted(CkptCase):
    """Files of which nobody knows who made them."""

    def setUp(self):
        super().setUp()
        if interpreter("h5py", "numpy") is None:
            self.skipTest("no h5py")
        run = subprocess.run([interpreter("h5py", "numpy"), "-B", CRAFTED, self.scratch],
                             capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        # What the allocator has freed holds no zeros, and what lies behind an allocation is
        # checked.
        self.env = dict(self.env, MALLOC_CHECK_="3", MALLOC_PERTURB_="165")

    def imported(self, name):
        run = self.cairn("ckpt", "import", self.path(name + ".h5"), name, expect=None)
        if "libhdf5 is missing" in run.err:
            self.skipTest("no libhdf5")
        self.assertEqual(run.returncode, 0, run.err)
        return {one["name"]: one for one in self.json("ckpt", "show", name)["variables"]}

    def test_lists_of_dimensions_of_another_form(self):
        for name in ("text", "opaque", "integers", "numbers", "many", "none"):
            with self.subTest(name):
                found = self.imported(name)["u"]
                self.assertEqual((found["shape"], found["attributes"]), ([2, 3], {"units": "m"}))

    def test_names_and_logicals(self):
        said = self.cairn("ckpt", "import", self.path("names.h5"), "names", expect=None)
        if "libhdf5 is missing" in said.err:
            self.skipTest("no libhdf5")
        self.assertEqual(said.returncode, 0, said.err)
        self.assertIn("dataset '.hidden': a checkpoint has no such name; left out", said.err)
        self.assertIn("attribute '.note': a checkpoint has no such name; left out", said.err)
        found = {one["name"]: one for one in self.json("ckpt", "show", "names")["variables"]}
        self.assertEqual({name: one["type"] for name, one in found.items()},
                         {"dtype": "logical8", "flags": "logical8"})
        self.cairn("ckpt", "export", "names", self.path("again.nc"))
        self.cairn("ckpt", "import", self.path("again.nc"), "again")
        self.cairn("ckpt", "diff", "names", "again")

    def test_what_is_left_out_is_told(self):
        said = self.cairn("ckpt", "import", self.path("groups.h5"), "groups", expect=None)
        if "libhdf5 is missing" in said.err:
            self.skipTest("no libhdf5")
        self.assertEqual(said.returncode, 0, said.err)
        for text in ("group 'inner': datasets in groups are not imported; left out: inner/deep/v",
                     "dataset 'nothing': has no value (a null dataspace); left out",
                     "attribute 'none': has no value; left out",
                     "attribute 'text': a checkpoint has no such type; left out"):
            self.assertIn(text, said.err)
        self.assertNotIn("empty", said.err)
        self.assertNotIn("a_type", said.err)
        found = self.json("ckpt", "show", "groups")["variables"]
        self.assertEqual([one["name"] for one in found], ["u"])

    def test_numbers_of_two_bytes(self):
        found = self.imported("halves")
        self.assertEqual({name: one["type"] for name, one in found.items()},
                         {"half": "float16", "other_order": "float16"})
        self.assertEqual(found["half"]["attributes"], {"_FillValue": -2})
        self.cairn("ckpt", "export", "halves", self.path("again.h5"))
        run = subprocess.run([
            interpreter("h5py", "numpy"), "-c", "import h5py, sys; file = h5py.File(sys.argv[1]); "
            "print([list(file[name][:].astype('f2')) for name in ('half', 'other_order')])",
            self.path("again.h5")
        ], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(run.stdout, str([[1.0, -2.0, 6e-8, float("inf")]] * 2) + "\n", run.stderr)

    def test_an_import_that_fails_leaves_no_set(self):
        self.refused("ckpt", "import", self.path("too_many.h5"), "too_many", code=1,
                     says="at most 15")
        self.assertNotIn("too_many", [one["set"] for one in self.json("ckpt", "ls")])

    def test_a_list_of_dimensions(self):
        self.assertEqual(self.imported("dimensions")["u"]["attributes"], {"dimensions": "y x"})

    def test_a_list_of_dimensions_with_that_of_an_element(self):
        found = self.imported("texts")["names"]
        self.assertEqual((found["shape"], found["element_bytes"], found["attributes"]),
                         ([3], 2, {"dimensions": "x"}))

    def test_numbers_of_the_other_byte_order(self):
        found = self.imported("order")
        two = [-9999, 258]
        self.assertEqual(found["u"]["attributes"],
                         {"_FillValue": two, "least": two, "narrow": two, "range": two,
                          "root": struct.pack("<2d", 1.5, -2.0).hex()})
        self.assertEqual(found["roots"]["type"], "complex128")
        self.cairn("ckpt", "export", "order", self.path("again.h5"))
        run = subprocess.run([
            interpreter("h5py", "numpy"), "-c", "import h5py, sys; file = h5py.File(sys.argv[1]); "
            "print(file['roots'][1].item(), file['u'][1, 2])",
            self.path("again.h5")
        ], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(run.stdout, "(1.5-2j) 5.0\n", run.stderr)

    def test_more_elements_than_64_bits_count(self):
        self.refused("ckpt", "import", self.path("large.h5"), "large", code=1,
                     says=["dataset 'u': more than 2^48 bytes: 4294967296 x 4294967296"])


class Diff(CkptCase):
    def test_versions(self):
        self.writer("field", 2)
        self.assertEqual(self.cairn("ckpt", "diff", "field", "field@2").out, "")
        found = {
            one["name"]: one
            for one in self.json("ckpt", "diff", "field@1", "field@2", expect=1)["variables"]
        }
        self.assertEqual(found["u"],
                         {"name": "u", "elements": 24, "of": 24, "first": [0, 0], "most": 1000.0})
        self.assertEqual(found["i8"]["most"], 1.0)
        self.assertNotIn("x", found)
        self.assertNotIn("names", found)
        text = self.cairn("ckpt", "diff", "default:field@1", "field@2", expect=1).out
        self.assertIn("u: 24 of 24 elements differ by at most 1000, the first at [0, 0]\n", text)
        self.refused("ckpt", "diff", "field", "field@9", code=1, says="has no version 9")


if __name__ == "__main__":
    ckpt_case.main()
