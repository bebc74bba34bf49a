"""A real Slurm on the virtual cluster: a controller on login, and nodes that lose their memory when
they are killed."""

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
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

CONF = """ClusterName=cairn
SlurmctldHost=login
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket={munge}/socket
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
KillWait=60
SlurmdTimeout=20
SlurmdParameters=config_overrides
NodeName=node[0-{last}] CPUs=4 RealMemory=4000
PartitionName=all Nodes=node[0-{last}] Default=YES MaxTime=60 State=UP
"""


class SlurmCase(unittest.TestCase):
    nodes = 2

    def setUp(self):
        self.cluster = VirtualCluster()
        self.addCleanup(self.cluster.down)
        self.cluster.up(self.nodes)
        self.etc = pathlib.Path(tempfile.mkdtemp(prefix="cairn-slurm-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.etc, ignore_errors=True)
        self.etc.chmod(0o755)
        state, spool, munge = self.etc / "state", self.etc / "spool", self.etc / "munge"
        for directory, owner in ((state, "slurm"), (spool, "root"), (munge, "munge")):
            directory.mkdir(mode=0o755)
            shutil.chown(directory, owner)
        conf = self.etc / "slurm.conf"
        conf.write_text(CONF.format(state=state, spool=spool, munge=munge, last=self.nodes - 1),
                        encoding="utf-8")
        (self.etc / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n", encoding="utf-8")
        self.environment = [
            "env", f"SLURM_CONF={conf}", f"PATH={BUILD / 'bin'}:{PATH}", "SLURM_MPI_TYPE=pmix",
            "OMPI_MCA_btl=self,vader", "OMPI_MCA_mpi_yield_when_idle=1"
        ]
        self.start_munge(munge)
        self.daemon("login", "slurmctld", "-D", "-f", conf)
        for number in range(self.nodes):
            self.daemon(f"node{number}", "slurmd", "-D", "-N", f"node{number}", "-f", conf)
        self.wait_for("sinfo -h -o %T", lambda text: "idle" in text and "*" not in text)

    def start_munge(self, directory):
        """One for all hosts: they share the files of this machine."""
        key = directory / "key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        shutil.chown(key, "munge")
        names = {
            "--socket": "socket", "--key-file": "key", "--pid-file": "pid", "--log-file": "log",
            "--seed-file": "seed"
        }
        process = subprocess.Popen([
            "munged", "--foreground", "--force", *(f"{option}={directory / name}"
                                                   for option, name in names.items())
        ], user=pwd.getpwnam("munge").pw_uid, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        deadline = time.monotonic() + 60
        while not (directory / "socket").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertTrue((directory / "socket").exists(), "munged has made no socket")

    def daemon(self, host, *words):
        log = open(self.etc / f"{words[0]}.{host}.out", "w", encoding="utf-8")
        self.addCleanup(log.close)
        process = self.cluster.start(host, *self.environment, *map(str, words), stdout=log,
                                     stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def on_login(self, text, expect=0):
        return self.cluster.on("login", *self.environment, "sh", "-c", text, expect=expect)

    def wait_for(self, command, found, seconds=240):
        """Runs a command on login until found(output) is true; returns the output."""
        deadline = time.monotonic() + seconds
        text = ""
        while time.monotonic() < deadline:
            run = self.on_login(command, expect=None)
            text = run.stdout + run.stderr
            if run.returncode == 0 and found(run.stdout):
                return run.stdout
            time.sleep(0.5)
        logs = [path.read_text(errors="replace")[-2000:] for path in self.etc.rglob("*.out")]
        return self.fail(f"{command}: {text}\n" + "\n".join(logs))


def main():
    missing = [name for name in NEEDED if not shutil.which(name, path=PATH)]
    if missing or os.geteuid() != 0:
        print(f"missing: {', '.join(missing) or 'root'}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
