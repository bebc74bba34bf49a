"""cairn bench over the hosts of a virtual cluster: each kernel and layout on Cairn and on the plain
file system that all hosts share, verified; and reads of another node's data."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/cluster"))
# noqa: E402
from bench_layouts import EVERY_LAYOUT  # noqa: E402
from cluster_runner import SKIPPED, VirtualCluster, end_where_no_cluster_can_be_made  # noqa: E402

BUILD = pathlib.Path(os.environ["CAIRN_BUILD_DIR"])
CAIRN = BUILD / "bin/cairn"
# Not MPICH 4.0: over UCX and TCP it hangs in MPI_Finalize in many runs of any program.
KERNELS = BUILD / "lib/cairn/bench/openmpi"
HOSTS = 3
RANKS = 3
LIMIT_S = 1800

APART = """
  ior: {kernel: ior, api: MPIIO, block: 64KiB, transfer: 8KiB, fsync: true}
  hacc: {kernel: hacc, layout: file-per-process, particles: 1000}
  bdcats: {kernel: bdcats, api: MPIIO, particles: 1000}
  llmckpt: {kernel: llmckpt, model_scale: 0.00001, transfer: 64KiB, checkpoints: 2, reads: 1}
"""


class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(HOSTS)

    def bench(self, name, systems, kernels, head="", expect=0):
        """Runs a matrix from here, its ranks on the hosts; (results, what was printed)."""
        place = pathlib.Path(self.cluster.shared)
        launcher = " ".join(map(str, self.cluster.command("run", "--mpi", "openmpi", "-n",
                                                          "{ranks}", "--")))
        path = place / f"{name}.yaml"
        path.write_text(
            f"format: 1\nname: {name}\nrounds: 1\nwarmup: 0\nlimits: false\nranks: [{RANKS}]\n"
            f"launcher: '{launcher}'\n{head}\nsystems:\n{systems}\nkernels:{kernels}",
            encoding="utf-8")
        run = subprocess.run(
            [CAIRN, "bench", "run", path, "--output", place / name], cwd=place,
            env={**os.environ, "OMPI_MCA_btl": "self,tcp"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False)
        shown = run.stdout + run.stderr
        path = place / name / "results.jsonl"
        self.assertTrue(path.exists(), shown)
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        failed = [json.dumps(record, indent=1) for record in records
                  if record["record"] == "result" and record["status"] not in ("ok", "invalid")]
        self.assertEqual(expect, run.returncode, "\n".join([shown, *failed]))
        self.assertEqual("complete", records[-1]["reason"])
        self.assertEqual([], list(place.glob("cairn-bench-*")), "files are left")
        for host in range(HOSTS):
            left = self.cluster.on(f"node{host}", "sh", "-c", "ls /dev/shm/cairn-*/ || true")
            self.assertNotIn("cairn-bench", left.stdout)
        return [record for record in records if record["record"] == "result"], shown

    def system(self, name, more=""):
        return f"  {name}: {{directory: '{self.cluster.shared}', mpi: openmpi{more}}}"

    def verified(self, results, shown):
        wrong = {(each["kernel"], each["system"]): each["errors"]
                 for each in results if each["status"] != "ok"}
        self.assertEqual({}, wrong, shown)
        for each in results:
            self.assertEqual((RANKS, HOSTS), (each["output"]["ranks"], each["output"]["nodes"]))
            checked = sum(check["bytes"] for check in each["output"]["checks"])
            self.assertGreater(checked, 0, each["kernel"])

    def test_every_kernel_and_layout(self):
        systems = "\n".join([
            self.system("plain"),
            self.system("kept", ", cairn: kept, pool_size: 256MiB"),
            self.system("fresh", ", cairn: fresh, pool_size: 256MiB"),
        ])
        # The kernel's own pool would lie on the directory that the hosts share.
        head = "exclude: [{system: plain, kernel: palm-cairn}, {system: fresh, kernel: palm-cairn}]"
        results, shown = self.bench("all", systems, EVERY_LAYOUT, head)
        self.verified(results, shown)
        kernels = {each["kernel"] for each in results}
        self.assertGreaterEqual(len(kernels), 22)
        for system in ("plain", "kept", "fresh"):
            mine = {each["kernel"] for each in results if each["system"] == system}
            self.assertLessEqual(kernels - mine, {"palm-cairn"})

    def test_reads_of_another_node(self):
        systems = "\n".join([
            self.system("plain", ", reads: {by: next-node}"),
            self.system("cold", ", optional: true, reads: {after: drop, by: next-node}"),
            self.system("cairn", ", cairn: kept, pool_size: 256MiB, reads: {by: next-node}"),
            self.system("again", ", cairn: kept, pool_size: 256MiB, "
                        "reads: {after: remount, by: next-node}"),
        ])
        results, shown = self.bench("apart", systems, APART)
        self.verified(results, shown)
        self.assertLessEqual({"plain", "cairn", "again"}, {each["system"] for each in results})
        for each in results:
            self.assertEqual("next-node", each["output"]["parameters"]["readers"])
            self.assertEqual("next-node", each["reads"]["by"])
        page = (pathlib.Path(self.cluster.shared) / "apart/report.html").read_text("utf-8")
        self.assertIn("by a rank of the next node", page)

    def test_a_wrong_byte(self):
        kernels = ("\n  one: {kernel: ior, api: MPIIO, block: 64KiB, transfer: 8KiB, "
                   "options: [--corrupt, 70000]}\n")
        systems = self.system("plain") + "\n" + self.system("cairn", ", cairn: kept")
        results, shown = self.bench("wrong", systems, kernels, expect=1)
        self.assertEqual({"invalid"}, {each["status"] for each in results}, shown)
        self.assertIn("byte 70000 is", shown)


if __name__ == "__main__":
    if not (KERNELS / "ior").exists():
        print("no kernels for Open MPI")
        sys.exit(SKIPPED)
    end_where_no_cluster_can_be_made()
    unittest.main(verbosity=2)
