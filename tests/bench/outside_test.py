"""Programs of others under cairn bench: recorded outputs, real fio, and one that is missing."""

import json
import pathlib
import shutil
import stat
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
from cairn_bench.plan import outside  # noqa: E402

OUTPUTS = pathlib.Path(__file__).parent / "outputs"
SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(
    {**SCHEMA, "oneOf": [{"$ref": "#/$defs/output"}], "required": []}
)
MIB = 1 << 20


def recorded(name):
    return (OUTPUTS / name).read_text(encoding="utf-8")


def figures(program, name, ranks=4):
    """[(access, repetition, bytes, seconds, rate, unit)] of a recording."""
    found = outside.output_of(program, recorded(name), ranks)
    VALIDATOR.validate(found)
    return [
        (
            each["access"],
            each["repetition"],
            each["bytes"],
            each["seconds"],
            each["rate"],
            each["unit"],
        )
        for each in found["accesses"]
    ]


class Parsers(unittest.TestCase):
    def test_ior(self):
        found = figures("ior", "ior-posix-fpp.txt")
        self.assertEqual(("write", 0, 64 * MIB, 0.039820, 1607.23, "MiB/s"), found[0])
        self.assertEqual(["write", "read"] * 3, [each[0] for each in found])
        self.assertEqual(6, len(figures("ior", "ior-mpiio-shared.txt")))
        output = outside.output_of("ior", recorded("ior-mpiio-shared.txt"), 4)
        self.assertEqual(("MPIIO", "4.1.0+dev"), (output["api"], output["version"]))
        self.assertEqual(
            {"least": None, "most": 0.288140}, output["accesses"][0]["phases_s"]["transfer"]
        )
        self.assertEqual(MIB, output["accesses"][0]["transfer_bytes"])
        found = figures("ior", "ior-mpiio-shared.csv")
        self.assertEqual(("write", 1, 0.1287, 497.2537), (*found[2][:2], *found[2][3:5]))
        found = figures("ior", "ior-mpiio-shared.json")
        self.assertEqual(("read", 1, 64 * MIB, 0.0403, 1590.022, "MiB/s"), found[3])

    def test_mdtest(self):
        found = {each[0]: each for each in figures("mdtest", "mdtest.txt")}
        self.assertEqual((293121.676, "ops/s"), found["create"][4:])
        self.assertEqual(293089.797, found["remove"][4])
        self.assertEqual(20321.616, found["tree create"][4])
        self.assertAlmostEqual(2000 / 895150.649, found["stat"][3])

    def test_hacc_io(self):
        write, read = figures("hacc_io", "hacc-shared.txt")
        self.assertEqual(("write", 0, 101165824, 0.272464, 354.099, "MiB/s"), write)
        # HACC-IO counts the header on every rank: that is its figure, and stays.
        self.assertEqual(176663296, read[2])
        output = outside.output_of("hacc_io", recorded("hacc-fpp.txt"), 4)
        self.assertEqual((True, 0), (output["valid"], output["checks"][0]["wrong"]))
        self.assertEqual(176663296, output["checks"][0]["bytes"])

    def test_wrong_data(self):
        """The program's own line is the reason; none of its bytes counts as verified."""
        cases = {
            # IOR 4 with -R, whose exit code is the number of errors; IOR 3; and IOR with -q.
            ("ior", recorded("ior-wrong-read.txt"), ""): (
                2048, "WARNING: Incorrect data on read (2048 errors found).", 6,
            ),
            ("ior", "WARNING: incorrect data on write (8 errors found).\nno figures", ""): (
                8, "WARNING: incorrect data on write (8 errors found).", 0,
            ),
            ("ior", "[1] FAILED comparison of buffer containing 8-byte ints:\n",
             "ERROR: data check error, aborting execution, (ior.c:358)\n"): (
                1, "ERROR: data check error, aborting execution, (ior.c:358)", 0,
            ),
            ("mdtest", recorded("mdtest.txt") + "\nERROR: verifying the data on read (3 errors)! "
             "Take the performance values with care!\n", ""): (
                3, "ERROR: verifying the data on read (3 errors)! Take the performance values "
                "with care!", 6,
            ),
            ("hacc_io", recorded("hacc-fpp.txt").split(" CONTENTS")[0]
             + " Values Don't Match Index:7\n", ""): (1, "Values Don't Match Index:7", 2),
            ("fio", recorded("fio-psync.json").replace('"error" : 0', '"error" : 84'),
             "verify: bad magic header 0, wanted acca at file /x offset 0, length 4096\n"): (
                1, "verify: bad magic header 0, wanted acca at file /x offset 0, length 4096", 1,
            ),
            ("io500", "WARNING: Incorrect data on read (9 errors found).\n", ""): (
                9, "WARNING: Incorrect data on read (9 errors found).", 0,
            ),
        }
        for (program, text, errors), (wrong, line, accesses) in cases.items():
            with self.subTest(program=program, line=line):
                output = outside.output_of(program, text, 4, errors=errors)
                self.assertFalse(output["valid"])
                (check,) = output["checks"]
                self.assertEqual((wrong, line, 0),
                                 (check["wrong"], check["first_wrong"], check["bytes"]))
                self.assertEqual(accesses, len(output["accesses"]))
                VALIDATOR.validate(output)

    def test_what_was_compared(self):
        """The bytes of the accesses that IOR checks; a program that compares nothing has none."""
        text = recorded("ior-posix-fpp.txt")
        self.assertEqual([], outside.output_of("ior", text, 4)["checks"])
        compared = outside.output_of("ior", text.replace(" -w -r ", " -w -r -R "), 4)["checks"]
        self.assertEqual([64 * MIB] * 3, [check["bytes"] for check in compared])
        for program, name in (("rdbench", "rdbench.json"), ("mdtest", "mdtest.txt")):
            self.assertEqual([], outside.output_of(program, recorded(name), 4)["checks"])

    def test_whether_a_program_syncs(self):
        """Its words or its output say so; otherwise nobody knows, and the key is missing."""
        quiet = recorded("ior-posix-fpp.txt").replace(" -e ", " ")
        csv = recorded("ior-mpiio-shared.csv")
        options = '"job options" : {'
        for program, text, words, expected in (
            ("ior", recorded("ior-posix-fpp.txt"), [], True), ("ior", quiet, [], None),
            ("ior", csv, ["-a", "POSIX", "-e"], True), ("ior", csv, ["-Y"], True),
            ("ior", csv, ["-O", "fsync=1"], True), ("ior", csv, ["-O", "fsync=0"], None),
            ("ior", csv, ["-E", "-o", "/e"], None), ("ior", csv, [], None),
            ("ior", recorded("ior-mpiio-shared.json"), [], True),
            ("fio", recorded("fio-psync.json"), [], None),
            ("fio", recorded("fio-psync.json").replace(options, options + '"fsync": "1",'), [],
             True),
            ("fio", recorded("fio-psync.json").replace(options, options + '"end_fsync": "0",'),
             [], None),
            ("mdtest", recorded("mdtest.txt"), ["-y"], True),
            ("mdtest", recorded("mdtest.txt"), [], None),
            ("rdbench", recorded("rdbench.json"), [], True),
            ("hacc_io", recorded("hacc-fpp.txt"), [], None),
        ):
            with self.subTest(program=program, words=words):
                output = outside.output_of(program, text, 4, words)
                self.assertEqual(expected, output["parameters"].get("fsync"))
        direct = outside.output_of("ior", csv, 4, ["-B"])["parameters"]
        self.assertEqual({"direct": True}, direct)

    def test_vpic_io_and_bd_cats_io(self):
        ((_, _, size, seconds, rate, _),) = figures("vpicio_uni", "vpicio.txt")
        self.assertEqual((4 * MIB * 32, 0.596294), (size, seconds))
        self.assertAlmostEqual(128 / 0.596294, rate)
        ((name, _, size, seconds, _, _),) = figures("dbscan_read", "bdcats.txt")
        self.assertEqual(("read+subset", 4194304 * 24, 0.852824), (name, size, seconds))

    def test_h5bench(self):
        for kind in ("txt", "csv"):
            raw, observed = figures("h5bench_write", f"h5bench-write.{kind}")
            self.assertEqual(("write", 256 * MIB, 0.825), (raw[0], *raw[2:4]))
            self.assertEqual(("write+metadata", 0.892), (observed[0], observed[3]))
            raw, observed = figures("h5bench_read", f"h5bench-read.{kind}")
            self.assertEqual(("read", 0.704, 0.715), (raw[0], raw[3], observed[3]))

    def test_rdbench_and_lulesh(self):
        ((_, _, size, seconds, _, _),) = figures("rdbench", "rdbench.json")
        self.assertEqual((10485760, 0.150015289), (size, seconds))
        ((name, _, _, seconds, rate, unit),) = figures("lulesh", "lulesh-mpi8.txt", 8)
        self.assertEqual(("run", 0.56, 364.33933, "z/s"), (name, seconds, rate, unit))
        output = outside.output_of("lulesh", recorded("lulesh-mpi8.txt"), 8)
        self.assertEqual("3.319724e+05", output["parameters"]["final_origin_energy"])
        ((_, _, _, seconds, rate, _),) = figures("lulesh", "lulesh-serial.txt", 1)
        self.assertEqual((1.5, 232.22131), (seconds, rate))

    def test_fio(self):
        ((name, _, size, _, rate, _),) = figures("fio", "fio-psync.json", 1)
        self.assertEqual(("write", 32 * MIB), (name, size))
        self.assertAlmostEqual(1118481066 / MIB, rate)
        access = outside.output_of("fio", recorded("fio-psync.json"), 1)["accesses"][0]
        for name, value in {"p50": 1400, "p99": 1992, "p99.9": 14400}.items():
            self.assertEqual(value, access["latency_ns"][name])

    def test_io500(self):
        # Lines in the form that IO500 prints; a whole run takes hours.
        text = (
            "[RESULT]       ior-easy-write        0.344202 GiB/s : time 37.080 seconds [INVALID]\n"
            "[RESULT]    mdtest-easy-write        2.500000 kIOPS : time 12.000 seconds\n"
            "[SCORE ] Bandwidth 0.412 GiB/s : IOPS 3.1 kiops : TOTAL 1.13 [INVALID]\n"
        )
        output = outside.output_of("io500", text, 4)
        self.assertAlmostEqual(0.344202 * 1024, output["accesses"][0]["rate"])
        self.assertEqual(
            (2500, "ops/s"), (output["accesses"][1]["rate"], output["accesses"][1]["unit"])
        )
        self.assertEqual("1.13", output["parameters"]["score"])
        self.assertIn("300 s", output["parameters"]["broken_rule"])

    def test_what_has_no_figures(self):
        for program in outside.PROGRAMS:
            for text in ("", "command not found\n", "{", '{"jobs": 1}'):
                with self.subTest(program=program, text=text):
                    self.assertRaises(outside.Unreadable, outside.output_of, program, text, 2)


class Programs(BenchCase):
    def run_matrix(self, kernels, expect=0):
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: outside\nrounds: 2\nwarmup: 0\nranks: [2]\nlimits: false\n"
            f"systems:\n  here: {{directory: .}}\nkernels:\n{kernels}",
            encoding="utf-8",
        )
        return self.run_words(
            [CAIRN, "bench", "run", path, "--output", "out"], expect=expect, timeout=120
        )

    def records(self):
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        return [record for record in found if record["record"] == "result"]

    def fake(self, name, text, code=0):
        """A program of that name in PATH, which prints a recording."""
        directory = self.scratch / "bin"
        directory.mkdir(exist_ok=True)
        (self.scratch / f"{name}.out").write_text(text, encoding="utf-8")
        path = directory / name
        path.write_text(
            f"#!/bin/sh\ncat '{self.scratch}/{name}.out'\nexit {code}\n", encoding="utf-8"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        if str(directory) not in self.environment["PATH"]:
            self.environment["PATH"] = f"{directory}:{self.environment['PATH']}"

    @unittest.skipUnless(shutil.which("fio"), "no fio")
    def test_real_fio(self):
        shown = self.run_matrix(
            "  psync:\n    kernel: program\n    program: fio\n    bytes: 4MiB\n    transfer: 4KiB\n"
            "    arguments: [--output-format=json, --name=t, --ioengine=psync, --rw=write,\n"
            "                --bs=4k, --size=4m, '--directory={dir}']\n"
        )
        self.assertRegex(shown.stdout, r"psync +write .* MiB/s")
        for record in self.records():
            (access,) = record["output"]["accesses"]
            self.assertEqual((4 * MIB, 1024), (access["bytes"], access["calls"]))
            self.assertGreater(access["rate"], 0)
            self.assertIn("p99", access["latency_ns"])
            self.assertTrue(record["command"][0].endswith("/fio"), record["command"])

    def test_a_program_of_others(self):
        self.fake("hacc_io", "")
        self.fake("rdbench", recorded("rdbench.json"))
        entry = "  mine: {{kernel: program, program: {}, arguments: ['{{dir}}/x', 4]}}\n"
        # Both ranks print; a recording of one line is read from the first.
        self.run_matrix(entry.format("rdbench"))
        one, _ = self.records()
        self.assertEqual(["-n", "2"], one["command"][1:3])
        self.assertRegex(one["command"][4], r"/run-\d+/x$")
        self.assertEqual("rdbench", one["output"]["kernel"])

    def test_an_output_without_figures_fails_the_cell(self):
        self.fake("fio", "no figures here\n")
        shown = self.run_matrix("  f: {kernel: program, program: fio}\n", expect=1)
        self.assertIn("FAILED", shown.stdout)
        (record,) = self.records()
        self.assertIn("output not understood: no JSON", record["errors"])
        self.assertIn("no figures here", record["errors"])

    def test_wrong_data_void_the_cell(self):
        self.fake("fio", "")
        self.fake("hacc_io", recorded("hacc-fpp.txt").replace("Success", "Failed"))
        shown = self.run_matrix("  h: {kernel: program, program: hacc_io}\n", expect=1)
        self.assertIn("INVALID", shown.stdout)
        self.assertEqual(["invalid"], [record["status"] for record in self.records()])

    def test_wrong_data_with_an_exit_code(self):
        """IOR's exit code is the number of errors, and mpirun tells much of that."""
        self.fake("fio", "")
        self.fake("ior", recorded("ior-wrong-read.txt"), code=3)
        shown = self.run_matrix("  real: {kernel: program, program: ior}\n", expect=1)
        self.assertIn("INVALID", shown.stdout)
        self.assertNotIn("FAILED", shown.stdout)
        line = "WARNING: Incorrect data on read (2048 errors found)."
        self.assertIn(f"invalid; not run again: {line}", shown.stderr)
        (record,) = self.records()
        self.assertEqual(("invalid", True), (record["status"], record["exit_code"] != 0))
        self.assertTrue(record["errors"].startswith(line + "\n"), record["errors"])

    def test_a_program_that_is_missing(self):
        entry = "  gone: {kernel: program, program: io500}\n"
        run = self.run_matrix(entry, expect=2)
        self.assertIn("gone on here, 2 ranks: no io500 in PATH", run.stderr)
        run = self.run_matrix(
            "  gone: {kernel: program, program: io500, optional: true}\n"
            "  one: {kernel: ior, block: 64KiB, transfer: 8KiB}\n"
        )
        self.assertIn("left out: gone on here", run.stderr)


if __name__ == "__main__":
    bench_case.main()
