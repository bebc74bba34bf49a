"""cairn bench submit: the batch script, and from sbatch to the page with stand-ins for Slurm."""

import json
import pathlib
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, MPIS

bench_case.use_package()

# Runs the script at once, as a job of that number.
SBATCH = """#!/bin/sh
echo "Submitted batch job 4711"
SLURM_JOB_ID=4711 SLURM_JOB_NODELIST=node0 bash "$1" > job.log 2>&1
"""
# srun --mpi=PROTOCOL -n N PROGRAM ...
SRUN = """#!/bin/sh
echo "$@" >> srun.log
shift
exec {mpirun} "$@"
"""


class Slurm(BenchCase):
    def command(self, name, text):
        directory = self.scratch / "bin"
        directory.mkdir(exist_ok=True)
        path = directory / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        if str(directory) not in self.environment["PATH"]:
            self.environment["PATH"] = f"{directory}:{self.environment['PATH']}"

    def matrix(self):
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: job\nrounds: 1\nwarmup: 0\nlimits: false\n"
            f"systems: {{here: {{directory: ., mpi: {MPIS[0]}}}}}\n"
            "kernels: {one: {kernel: ior, block: 64KiB, transfer: 8KiB}}\n",
            encoding="utf-8",
        )
        return path

    def submit(self, *words, expect=0):
        return self.run_words(
            [CAIRN, "bench", "submit", self.matrix(), "--output", "out", *words],
            expect=expect,
            timeout=120,
        )

    def test_the_script(self):
        text = self.submit("--print", "--nodes", 2, "--time", "10", "--", "--rounds", 3).stdout
        self.assertTrue(text.startswith("#!/bin/bash\n"))
        for line in (
            "#SBATCH --job-name=cairn-bench-job",
            "#SBATCH --nodes=2",
            "#SBATCH --time=10",
        ):
            self.assertIn(f"{line}\n", text)
        self.assertNotIn("--partition", text)
        self.assertRegex(
            text,
            r"(?m)^exec \S+/cairn bench run \S+/m\.yaml --launcher srun --output \S+ --rounds 3$",
        )
        self.assertFalse((self.scratch / "out.sbatch").exists())

    def test_from_sbatch_to_the_page(self):
        self.command("sbatch", SBATCH)
        self.command("srun", SRUN.format(mpirun=f"mpirun.{MPIS[0]}"))
        shown = self.submit()
        self.assertEqual("Submitted batch job 4711\n", shown.stdout)
        log = self.scratch / "job.log"
        self.assertTrue((self.scratch / "out/report.html").exists(), log.read_text())
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        run, result = json.loads(lines[0]), json.loads(lines[1])
        self.assertEqual(
            ("4711", "node0"), tuple(run["environment"][key] for key in ("job", "nodes"))
        )
        self.assertEqual("ok", result["status"])
        self.assertEqual("srun", result["command"][0])
        protocol = {"mpich": "pmi2", "openmpi": "pmix"}[MPIS[0]]
        self.assertEqual([f"--mpi={protocol}", "-n", "2"], result["command"][1:4])

    def test_an_interrupted_run_goes_on_as_a_job(self):
        self.command("sbatch", SBATCH)
        self.command("srun", SRUN.format(mpirun=f"mpirun.{MPIS[0]}"))
        self.submit()
        lines = (self.scratch / "out/results.jsonl").read_bytes().splitlines(keepends=True)
        (self.scratch / "out/results.jsonl").write_bytes(lines[0])  # killed in the first round
        words = [CAIRN, "bench", "submit", "--resume", "out", "--time", 5]
        shown = self.run_words([*words, "--print"]).stdout
        self.assertRegex(shown, r"(?m)^exec \S+/cairn bench run --resume /\S+/out$")
        self.assertIn("#SBATCH --time=5\n#", shown.replace("\ncd", "\n#"))
        self.assertIn("--job-name=cairn-bench-job", shown)
        self.run_words(words, timeout=120)
        records = [json.loads(line)
                   for line in (self.scratch / "out/results.jsonl").read_bytes().splitlines()]
        self.assertEqual(["run", "resume", "result", "end"], [each["record"] for each in records])
        self.assertEqual("srun", records[2]["command"][0])
        for more, text in (([], "this run is complete; nothing to resume"),
                           (["--output", "x"], "--output: not with --resume"),
                           (["--", "--rounds", 2], "words after --: not with --resume")):
            shown = self.run_words([*words, *more], expect=2)
            self.assertIn(text, shown.stderr)
        shown = self.run_words([CAIRN, "bench", "submit"], expect=2)
        self.assertIn("missing MATRIX and --output DIR, or --resume DIR", shown.stderr)

    def test_a_matrix_is_checked_before_it_is_queued(self):
        self.command("sbatch", "#!/bin/sh\ntouch queued\n")
        path = self.scratch / "bad.yaml"
        path.write_text(
            "format: 1\nname: job\nsystems: {here: {directory: /of/the/job, mpi: mpcih}}\n"
            "kernels: {one: {kernel: ior, blok: 256KiB}}\n",
            encoding="utf-8",
        )
        words = [CAIRN, "bench", "submit", path, "--output", "out", "--", "--ranks", "x"]
        shown = self.run_words(words, expect=2).stderr
        for text in (f"{path}:3: systems.here.mpi: unknown value 'mpcih'",
                     f"{path}:4: unknown key blok in kernels.one; did you mean block?",
                     "--ranks: invalid numbers 'x'"):
            self.assertIn(text, shown)
        self.assertIn("--roundz", self.submit("--", "--roundz", 3, expect=2).stderr)
        self.assertEqual([], list(self.scratch.glob("out*")))
        self.assertFalse((self.scratch / "queued").exists())
        # A directory that only the job has is no mistake here.
        path.write_text(path.read_text().replace(", mpi: mpcih", "").replace("blok", "block"))
        self.run_words(words[:6])
        self.assertTrue((self.scratch / "queued").exists())

    def test_mistakes(self):
        self.command("sbatch", "#!/bin/sh\necho 'invalid partition specified' >&2\nexit 1\n")
        self.assertIn("sbatch: invalid partition", self.submit(expect=1).stderr)
        self.environment["PATH"] = self.environment["PATH"].split(":", 1)[1]
        if pathlib.Path("/usr/bin/sbatch").exists():
            return
        self.assertIn("no sbatch in PATH; the script is", self.submit(expect=2).stderr)

    def test_another_launcher(self):
        self.run_words(
            [
                *(CAIRN, "bench", "run", self.matrix(), "--output", "out"),
                *("--launcher", f"env A=1 mpirun.{MPIS[0]} -n {{ranks}}"),
            ],
            timeout=120,
        )
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        command = json.loads(lines[1])["command"]
        self.assertEqual(["env", "A=1", f"mpirun.{MPIS[0]}", "-n", "2"], command[:5])

    def test_a_launcher_of_another_mpi(self):
        if len(MPIS) < 2:
            self.skipTest("one MPI only")
        shown = self.run_words(
            [
                *(CAIRN, "bench", "run", self.matrix(), "--output", "out"),
                *("--launcher", f"mpirun.{MPIS[1]} -n {{ranks}}"),
            ],
            expect=1,
            timeout=120,
        )
        # Each process is a job of its own; they may also meet in one file, and fail in it.
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        self.assertEqual("failed", json.loads(lines[1])["status"])
        self.assertRegex(
            shown.stderr, rf"jobs of 1 ranks and not one of 2; use that of {MPIS[0]}|failed"
        )


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
