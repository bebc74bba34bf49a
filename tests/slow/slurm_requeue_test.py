"""deploy/slurm/sedov.sbatch under a real Slurm: a job that is requeued goes on at another node,
with the same bits."""

import os
import pathlib
import re
import shutil
import subprocess

from slurm_cluster import BUILD, SOURCE, SlurmCase, main

PROGRAM = BUILD / "examples/openmpi/sedov"
WORDS = "--size 24 --time 1e90 --every 1"  # no run comes so far in the time that it has here


class Requeue(SlurmCase):
    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path(self.cluster.shared)
        shutil.copy(SOURCE / "deploy/slurm/sedov.sbatch", self.shared)
        self.environment += [
            f"SEDOV={PROGRAM}", "CAIRN_POOL_SIZE=64MiB", "OMPI_ALLOW_RUN_AS_ROOT=1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
        ]

    def submit(self, options, words):
        job = self.on_login(
            f"cd {self.shared} && sbatch --parsable --ntasks 2 --output job-%j {options} "
            f"sedov.sbatch {WORDS} {words}").stdout.strip()
        return job, self.shared / f"job-{job}"

    def node_of(self, job):
        return re.search(r" NodeList=(node\d)",
                         self.on_login(f"scontrol show job {job} -o").stdout)[1]

    def wait_for_line(self, output, pattern):
        found = self.wait_for(f"cat {output} || true", lambda text: re.search(pattern, text, re.M))
        return re.search(pattern, found, re.M)

    def wait_for_end(self, job):
        self.wait_for(f"squeue -h -j {job} -o %T || true", lambda text: not text.strip())

    def begin_again(self, job, changes=""):
        """Lets a job begin immediately once it is requeued; Slurm would wait for two minutes."""
        self.wait_for(f"scontrol show job {job} -o",
                      lambda text: "JobState=PENDING" in text and "Restarts=1" in text)
        self.on_login(f"scontrol update JobId={job} StartTime=now {changes}")

    def check_no_pools(self, nodes):
        for node in nodes:
            self.assertEqual(
                "",
                self.cluster.on(node, "sh", "-c", "ls -d /dev/shm/sedov-* || true").stdout)

    def check_the_end(self, job, output, nodes=("node0", "node1")):
        """Ends a job that has gone on, and compares what it saved with an undisturbed run."""
        reached = int(self.wait_for_line(output, r"^goes on after cycle (\d+)$")[1])
        self.assertGreater(reached, 0)
        self.on_login(f"scancel {job}")
        self.wait_for_end(job)
        saved = self.shared / f"sedov-{job}.nc"
        self.assertTrue(saved.exists(), output.read_text())
        self.check_no_pools(nodes)
        last = self.on_login(
            "export CAIRN_POOL_DIR=/dev/shm CAIRN_POOL_NAME=last && cairn pool create last --size"
            f" 64MiB && cairn ckpt import {saved} sedov && {PROGRAM} {WORDS} --cycles 0"
        ).stdout
        cycles = int(re.search(r"(?m)^cycles: (\d+),", last)[1])
        self.assertGreaterEqual(cycles, reached)
        undisturbed = [PROGRAM, *WORDS.split(), "--every", "0", "--cycles", str(cycles)]
        environment = {
            **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"
        }
        reference = subprocess.run(undisturbed, env=environment, capture_output=True, text=True,
                                   check=True).stdout
        self.assertEqual(
            re.search(r"(?m)^state: .*", reference)[0],
            re.search(r"(?m)^state: .*", last)[0])

    def test_a_requeued_job_goes_on_at_another_node(self):
        job, output = self.submit("", "--report 1")
        self.wait_for_line(output, r"^cycle \d+: ")
        node = self.node_of(job)
        self.on_login(f"scontrol requeue {job}")
        self.begin_again(job, f"ExcNodeList={node}")
        self.check_the_end(job, output)

    def test_the_end_of_its_time(self):
        job, output = self.submit("--time 1 --signal B:USR1@45", "--report 0")
        self.begin_again(job)
        self.check_the_end(job, output)

    def test_a_lost_node(self):
        self.environment.append("SAVE_EVERY=2")
        # An export needs a version that stays so long, while the program writes the next ones.
        job, output = self.submit("", "--report 0 --every 100")
        self.wait_for(f"ls {self.shared}", lambda names: f"sedov-{job}.nc\n" in names)
        node = self.node_of(job)
        self.cluster.change("kill", node)
        self.begin_again(job)
        self.check_the_end(job, output, [other for other in ("node0", "node1") if other != node])

    def test_a_finished_job_leaves_nothing(self):
        job, output = self.submit("", "--cycles 20")
        self.wait_for_end(job)
        self.assertRegex(output.read_text(), r"(?m)^state: [0-9a-f]{16}$")
        self.assertEqual([], list(self.shared.glob("*.nc")))
        self.check_no_pools(("node0", "node1"))


if __name__ == "__main__":
    main()
