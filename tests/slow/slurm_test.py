"""cairn bench under a real Slurm: a controller and two nodes on one machine, from sbatch to the page."""

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["CAIRN_BUILD_DIR"])
sys.path.insert(0, str(SOURCE / "tests/cluster"))
from cluster_runner import VirtualCluster  # noqa: E402

NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "srun")
SKIPPED = 77
KERNELS = BUILD / "lib/cairn/bench"

CONF = """ClusterName=cairn
SlurmctldHost=login
SlurmUser=slurm
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
StateSaveLocation={state}
SlurmdSpoolDir={spool}/spool.%n
SlurmdPidFile={spool}/slurmd.%n.pid
SlurmctldPidFile={state}/slurmctld.pid
SlurmctldLogFile={state}/slurmctld.log
SlurmdLogFile={spool}/slurmd.%n.log
KillWait=5
SlurmdTimeout=10
SlurmdParameters=config_overrides
NodeName=node[0-1] CPUs=2 RealMemory=2000
PartitionName=all Nodes=node[0-1] Default=YES MaxTime=60 State=UP
"""


class Slurm(unittest.TestCase):
    def setUp(self):
        self.cluster = VirtualCluster()
        self.addCleanup(self.cluster.down)
        self.cluster.up(2)
        self.etc = pathlib.Path(tempfile.mkdtemp(prefix="cairn-slurm-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.etc, ignore_errors=True)
        self.etc.chmod(0o755)
        state, spool = self.etc / "state", self.etc / "spool"
        spool.mkdir()
        state.mkdir()
        user = pwd.getpwnam("slurm")
        os.chown(state, user.pw_uid, user.pw_gid)
        conf = self.etc / "slurm.conf"
        conf.write_text(CONF.format(state=state, spool=spool), encoding="utf-8")
        (self.etc / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n", encoding="utf-8")
        self.environment = [
            "env",
            f"SLURM_CONF={conf}",
            f"PATH={BUILD / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin",
            "OMPI_ALLOW_RUN_AS_ROOT=1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        ]
        socket = self.start_munge()
        with open(conf, "a", encoding="utf-8") as file:
            file.write(f"AuthInfo=socket={socket}\n")
        self.daemon("login", "slurmctld", "-D", "-f", str(conf))
        for number in range(2):
            self.daemon(f"node{number}", "slurmd", "-D", "-N", f"node{number}", "-f", str(conf))
        self.wait_for("sinfo -h -o %T", lambda text: "idle" in text and "*" not in text)

    def start_munge(self):
        """One for all hosts: they share the files of this machine. Returns its socket."""
        directory = self.etc / "munge"
        socket = directory / "socket"
        directory.mkdir(mode=0o755)
        key = directory / "key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        user = pwd.getpwnam("munge")
        for path in (directory, key):
            os.chown(path, user.pw_uid, user.pw_gid)
        names = {
            "--socket": socket,
            "--key-file": key,
            "--pid-file": directory / "pid",
            "--log-file": directory / "log",
            "--seed-file": directory / "seed",
        }
        words = [f"{name}={path}" for name, path in names.items()]
        process = subprocess.Popen(
            ["munged", "--foreground", "--force", *words],
            user="munge" if os.geteuid() == 0 else None,
            stdin=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        deadline = time.monotonic() + 60
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertTrue(socket.exists(), "munged has made no socket")
        return socket

    def daemon(self, host, *words):
        log = open(self.etc / f"{words[0]}.{host}.out", "w", encoding="utf-8")
        self.addCleanup(log.close)
        process = self.cluster.start(
            host, *self.environment, *words, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def on_login(self, text, expect=0):
        return self.cluster.on("login", *self.environment, "sh", "-c", text, expect=expect)

    def wait_for(self, command, found, seconds=120):
        deadline = time.monotonic() + seconds
        text = ""
        while time.monotonic() < deadline:
            run = self.on_login(command, expect=None)
            text = run.stdout + run.stderr
            if run.returncode == 0 and found(run.stdout):
                return run.stdout
            time.sleep(1)
        logs = [path.read_text(errors="replace")[-2000:] for path in self.etc.rglob("*.out")]
        self.fail(f"{command}: {text}\n" + "\n".join(logs))

    def test_from_sbatch_to_the_page(self):
        mpis = sorted(path.parent.name for path in KERNELS.glob("*/ior"))
        shared = pathlib.Path(self.cluster.shared)
        systems = "".join(f"  {mpi}: {{directory: {shared}, mpi: {mpi}}}\n" for mpi in mpis)
        (shared / "m.yaml").write_text(
            "format: 1\nname: job\nrounds: 2\nwarmup: 0\nranks: [2]\n"
            f"systems:\n{systems}"
            "kernels:\n  one: {kernel: ior, api: MPIIO, block: 64KiB, transfer: 8KiB}\n",
            encoding="utf-8",
        )
        submitted = self.on_login(
            f"cd {shared} && cairn bench submit m.yaml --output out --nodes 2 --ntasks 2 --time 10"
        ).stdout
        self.assertRegex(submitted, r"Submitted batch job \d+")
        job = submitted.split()[-1]
        self.wait_for(f"squeue -h -j {job} -o %T || true", lambda text: not text.strip(), 400)
        log = "".join(path.read_text(errors="replace") for path in shared.glob("out.*.log"))
        self.assertTrue((shared / "out/report.html").exists(), log)
        records = [
            json.loads(line)
            for line in (shared / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        self.assertEqual(job, records[0]["environment"]["job"], log)
        results = [record for record in records if record["record"] == "result"]
        self.assertEqual(2 * len(mpis), len(results))
        self.assertEqual({"ok"}, {record["status"] for record in results}, results)
        for record in results:
            self.assertEqual("srun", record["command"][0])
            self.assertEqual((2, 2), (record["output"]["ranks"], record["output"]["nodes"]))
        self.assertEqual("complete", records[-1]["reason"])


if __name__ == "__main__":
    missing = [name for name in NEEDED if not shutil.which(name, path="/usr/sbin:/usr/bin")]
    if missing or os.geteuid() != 0:
        print(f"missing: {', '.join(missing) or 'root'}")
        sys.exit(SKIPPED)
    unittest.main()
