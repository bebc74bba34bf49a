"""Clusters that tests run on: namespaces of this machine, or containers. Both have nodes node0,
node1 and so on.

A cluster has a directory `shared` that all its hosts see under the same path, and these functions:

    up(nodes), down()
    on(host, command…)        runs a command there, waits, and returns it as subprocess.run does
    start(host, command…)     starts one and returns its Popen
    mpi(mpi, ranks, command…) runs an MPI program over the nodes, with mpi "openmpi" or "mpich"
    change(action, host)      action: stop, continue, kill, cut or join
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
TESTBED = SOURCE / "testbeds/virtual-cluster"
TIMEOUT_S = 120
SKIPPED = 77


class Cluster:
    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix="cairn-cluster-", dir="/tmp")
        os.chmod(self.scratch, 0o755)
        self.shared = os.path.join(self.scratch, "shared")
        os.mkdir(self.shared)

    def do(self, *words, expect=0, **more):
        done = subprocess.run(self.command(*words), capture_output=True, text=True,
                              errors="replace", check=False, timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL, **more)
        if expect is not None and done.returncode != expect:
            raise AssertionError(
                f"{' '.join(map(str, words))}: exit code {done.returncode}, not {expect}\n"
                f"{done.stdout}{done.stderr}")
        return done

    def on(self, name, *command, **more):
        return self.do(*self.enter(name), *command, **more)

    def start(self, name, *command, **more):
        return subprocess.Popen(self.command(*self.enter(name), *command), text=True, **more)


class VirtualCluster(Cluster):
    def __init__(self, start=(sys.executable, "-B")):
        """start: what the program is run by."""
        super().__init__()
        self.program, self.start_by = TESTBED / "vcluster", start
        self.directory = os.path.join(self.scratch, "cluster")

    def command(self, action, *words):
        return [
            *self.start_by,
            str(self.program), action, "--dir", self.directory, *map(str, words)
        ]

    def enter(self, name):
        return "exec", name, "--"

    def up(self, nodes, *options, **more):
        return self.do("up", nodes, *options, **more)

    def down(self):
        self.do("down")
        shutil.rmtree(self.scratch)

    def mpi(self, mpi, ranks, *command, settings=None):
        return self.do("run", "--mpi", mpi, "-n", ranks, "--", *command,
                       env={**os.environ, **(settings or {})})

    def change(self, action, name, **more):
        return self.do(action, name, **more)


class Compose(Cluster):
    """testbeds/virtual-cluster/compose.yaml: its containers see the shared directory as /shared."""

    ACTIONS = {"stop": "pause", "continue": "unpause", "kill": "kill"}
    PROJECT = "cairn-cluster-test"

    def __init__(self):
        super().__init__()
        self.here, self.shared = self.shared, "/shared"
        self.cut = set()

    def command(self, *words):
        return ["env", f"CAIRN_SHARED={self.here}", "docker", "compose", "-p", self.PROJECT, "-f",
                str(TESTBED / "compose.yaml"), *map(str, words)]

    def enter(self, name):
        return "exec", "-T", name

    def up(self, nodes):
        self.do("up", "--detach", "--wait", *[f"node{number}" for number in range(nodes)])
        self.on("node0", "sh", "-c",
                f"printf 'node%d\\n' $(seq 0 {nodes - 1}) > /etc/cluster-nodes")

    def down(self):
        self.do("down", "--volumes")
        shutil.rmtree(self.scratch)

    def mpi(self, mpi, ranks, *command, settings=None):
        launcher = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}[mpi]
        given = [f"{name}={value}" for name, value in (settings or {}).items()]
        return self.on("node0", "env", *given, launcher, "-n", ranks, *command)

    def change(self, action, name):
        network, container = f"{self.PROJECT}_default", f"{self.PROJECT}-{name}-1"
        if action in self.ACTIONS:
            self.do(self.ACTIONS[action], name)
        elif action == "cut":
            subprocess.run(["docker", "network", "disconnect", network, container], check=True)
            self.cut.add(name)
        elif name in self.cut:
            subprocess.run(["docker", "network", "connect", "--alias", name, network, container],
                           check=True)
            self.cut.remove(name)
        else:
            self.do("start", name)


def end_where_no_cluster_can_be_made():
    """Ends a test as skipped where the system lets nobody make namespaces."""
    cluster = VirtualCluster()
    made = cluster.up(1, expect=None)
    cluster.down()
    if made.returncode == 125 and "cannot be made here" in made.stderr:
        print(made.stderr)
        sys.exit(SKIPPED)
