"""The virtual cluster (testbeds/virtual-cluster): its hosts are apart, MPI programs run over them,
and what is done to a host happens to it.

CAIRN_CLUSTER=compose runs the tests that hold for both on containers instead, where there is a
Docker engine. """

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import yaml

from cluster_runner import TESTBED, Compose, VirtualCluster, end_where_no_cluster_can_be_made

COMPOSE = os.environ.get("CAIRN_CLUSTER") == "compose"
PROGRAMS = pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "cluster"
PORT = 7700
# Waits for one connection, and answers what comes with the same.
SERVER = f"""
import socket
server = socket.create_server(("", {PORT}))
print("listening", flush=True)
connection = server.accept()[0]
while data := connection.recv(100):
    connection.sendall(data)
"""
# Sends a line for every line it is given, and says what came back within a second.
CLIENT = f"""
import socket, sys
connection = socket.create_connection(("node1", {PORT}), timeout=1)
for line in sys.stdin:
    try:
        connection.sendall(line.encode())
        print(connection.recv(100).decode(), end="", flush=True)
    except TimeoutError:
        print("nothing", flush=True)
"""


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.05)


def processes_of(text):
    """Process IDs whose command line has the text in it, but ours."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = pathlib.Path(entry.path, "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in line:
                found.append(int(entry.name))
    return found


def users_of(namespaces):
    """IDs of processes that are in one of the namespaces, given as /proc shows them. Not of those
    that have ended and wait for this machine's first process to take note."""
    found = set()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if pathlib.Path(
                        entry.path,
                        "stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z":
                    continue
                if {os.readlink(f"{entry.path}/ns/{kind}")
                        for kind in ("net", "mnt", "pid")} & namespaces:
                    found.add(int(entry.name))
    return found


class OnTwoNodes(unittest.TestCase):
    """Holds for containers too."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Compose() if COMPOSE else VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(2)

    def text(self, name, *command, **more):
        return self.cluster.on(name, *command, **more).stdout.strip()

    def shared(self, name):
        return os.path.join(self.cluster.shared, name)

    def beat(self):
        """Starts a process on node1 that counts in a shared file; returns what reads the count."""
        file = self.shared("beat")
        self.cluster.on("node1", "rm", "-f", file)
        beating = self.cluster.start(
            "node1", "sh", "-c", f"i=0; while sleep 0.02; do i=$((i + 1)); echo $i > {file}; done")
        self.addCleanup(beating.wait)
        self.addCleanup(beating.kill)
        count = lambda: int(self.text("node0", "sh", "-c", f"cat {file} 2> /dev/null || true") or 0)
        wait_for(lambda: count() > 1, "the process on node1 counts")
        return count

    def test_each_has_its_own_name_memory_and_objects(self):
        self.assertEqual([self.text(name, "hostname") for name in ("node0", "node1")],
                         ["node0", "node1"])
        self.cluster.on("node0", "sh", "-c", "echo 1 > /dev/shm/only-here; ipcmk -Q > /dev/null")
        self.assertEqual(self.text("node0", "ls", "/dev/shm"), "only-here")
        self.assertEqual(self.text("node1", "ls", "/dev/shm"), "")
        self.assertNotEqual(self.text("node0", "cat", "/proc/sysvipc/msg"),
                            self.text("node1", "cat", "/proc/sysvipc/msg"))
        self.assertEqual(self.text("node0", "stat", "-f", "-c", "%T", "/dev/shm"), "tmpfs")
        self.cluster.on("node0", "rm", "/dev/shm/only-here")

    def test_all_see_the_shared_directory(self):
        self.cluster.on("node0", "sh", "-c", f"echo from node0 > {self.shared('note')}")
        self.assertEqual(self.text("node1", "cat", self.shared("note")), "from node0")

    def test_exit_codes_are_the_commands(self):
        self.assertEqual(self.cluster.on("node0", "sh", "-c", "exit 7", expect=None).returncode, 7)

    def test_mpi_programs_run_over_the_nodes(self):
        settings = {"OMPI_MCA_osc": "ucx"}  # without which Open MPI 4 makes no window here
        windows = ("create", "allocate", "dynamic")
        mpis = sorted(program.parent.name for program in PROGRAMS.glob("*/one_sided_program"))
        self.assertTrue(mpis, "no MPI was found when this was built")
        for mpi in mpis:
            program = self.shared(f"one_sided_{mpi}")
            shutil.copy(PROGRAMS / mpi / "one_sided_program",
                        getattr(self.cluster, "here", self.cluster.shared) + f"/one_sided_{mpi}")
            with self.subTest(mpi=mpi):
                if mpi == "openmpi" and os.environ.get("CAIRN_SANITIZE"):
                    self.skipTest("its launcher does not hand on that strangers' leaks are theirs")
                out = self.cluster.mpi(mpi, 2, program, "multiple", "test", *windows,
                                       settings=settings).stdout
                places = dict(re.findall(r"^rank (\d) on (\S+)$", out, re.M))
                self.assertEqual(places, {"0": "node0", "1": "node1"}, out)
                done = re.findall(r"^(\w+) \w+ ok \d+$", out, re.M)
                self.assertEqual({window: done.count(window)
                                  for window in windows}, dict.fromkeys(windows, 7), out)

    def test_a_stopped_node_does_nothing_until_it_goes_on(self):
        count = self.beat()
        self.cluster.change("stop", "node1")
        before = count()
        time.sleep(0.5)
        self.assertEqual(count(), before)
        self.cluster.change("continue", "node1")
        wait_for(lambda: count() > before, "the process goes on")

    def test_a_killed_node_is_dead_and_comes_back_empty(self):
        count = self.beat()
        self.cluster.on("node1", "sh", "-c", "echo 1 > /dev/shm/lost")
        self.cluster.change("kill", "node1")
        before = count()
        time.sleep(0.3)
        self.assertEqual(count(), before)
        self.assertNotEqual(self.cluster.on("node1", "true", expect=None).returncode, 0)
        self.assertEqual(self.text("node0", "hostname"), "node0")
        self.cluster.change("join", "node1")
        self.assertEqual(self.text("node1", "ls", "/dev/shm"), "")
        self.assertIn("10." if not COMPOSE else ".", self.text("node0", "getent", "hosts", "node1"))

    def test_a_node_that_is_cut_off_hears_nothing_and_says_nothing(self):
        server = self.cluster.start("node1", "python3", "-c", SERVER, stdout=subprocess.PIPE)
        self.assertEqual(server.stdout.readline(), "listening\n")
        client = self.cluster.start("node0", "python3", "-c", CLIENT, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE)

        def ask(line):
            client.stdin.write(line)
            client.stdin.flush()
            return client.stdout.readline()

        self.assertEqual(ask("here\n"), "here\n")
        self.cluster.change("cut", "node1")
        self.assertEqual(ask("lost\n"), "nothing\n")
        self.cluster.change("join", "node1")
        wait_for(lambda: ask("again\n") != "nothing\n", "what was sent arrives", 60)
        client.communicate()
        server.communicate()


@unittest.skipIf(COMPOSE, "is about namespaces")
class Namespaces(unittest.TestCase):
    def cluster(self, **more):
        made = VirtualCluster(**more)
        self.addCleanup(made.down)
        return made

    def seen_outside(self, directory):
        """Whatever of the cluster this machine's own network, mounts and files show."""
        links = set(os.listdir("/sys/class/net")) & {"cluster", "node0", "node1"}
        mounts = [
            line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
            if directory in line
        ]
        return links, mounts

    def test_down_leaves_nothing(self):
        cluster = self.cluster()
        cluster.up(2)
        namespaces = set()
        for name in ("login", "node0", "node1"):
            namespaces |= set(
                cluster.on(name, "sh", "-c",
                           "readlink /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/pid").stdout.
                split())
        self.assertEqual(len(namespaces), 9)
        # One that the command's end leaves, as daemons do.
        cluster.on("node1", "sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 &")
        self.assertEqual(len(users_of(namespaces)), 4)
        self.assertEqual(self.seen_outside(cluster.directory), (set(), []))
        cluster.do("down")
        self.assertEqual(users_of(namespaces), set())
        self.assertEqual(self.seen_outside(cluster.directory), (set(), []))
        self.assertFalse(os.path.exists(cluster.directory))
        cluster.do("down")  # of nothing is no error

    def test_an_up_that_breaks_off_leaves_nothing(self):
        cluster = self.cluster()
        broken = 0
        for delay in (0.1, 0.2, 0.3, 0.4):
            starting = subprocess.Popen(cluster.command("up", 4), stdin=subprocess.DEVNULL)
            time.sleep(delay)
            starting.send_signal(signal.SIGKILL)
            starting.wait()
            if cluster.do("list", expect=None).returncode == 0:
                cluster.do("down")
            else:
                broken += 1
            wait_for(lambda: not processes_of(cluster.directory), "its processes have gone")
        self.assertGreater(broken, 0)
        cluster.up(2)
        self.assertEqual(cluster.on("node1", "hostname").stdout, "node1\n")

    def test_clusters_side_by_side(self):
        first, second = self.cluster(), self.cluster()
        first.up(1)
        second.up(1)
        first.on("node0", "touch", "/dev/shm/first")
        self.assertEqual(second.on("node0", "ls", "/dev/shm").stdout, "")
        first.do("down")
        self.assertEqual(second.on("node0", "hostname").stdout, "node0\n")

    def test_what_a_host_is_told_apart_by(self):
        cluster = self.cluster()
        cluster.up(2)
        boot_id = lambda name: cluster.on(name, "cat", "/proc/sys/kernel/random/boot_id").stdout
        before = boot_id("node0"), boot_id("node1")
        self.assertEqual(
            len({*before, pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()}), 3)
        cluster.change("kill", "node1")
        cluster.change("join", "node1")
        self.assertEqual(boot_id("node0"), before[0])
        self.assertNotEqual(boot_id("node1"), before[1])
        self.assertEqual(
            cluster.on("node0", "sh", "-c", "ls /sys/class/net").stdout.split(), ["eth0", "lo"])
        cluster.on("node1", "sh", "-c", "setsid sleep 1234 > /dev/null 2>&1 &")
        cluster.on("node1", "pgrep", "-f", "sleep 1234")
        cluster.on("node0", "pgrep", "-f", "sleep 1234", expect=1)

    def test_options_and_refusals(self):
        cluster = self.cluster()
        self.assertIn("no cluster", cluster.do("list", expect=125).stderr)
        cluster.up(2, "--memory", "64m", "--huge")
        self.assertIn(
            "huge=always",
            cluster.on("node1", "grep", " /dev/shm ", "/proc/mounts").stdout.splitlines()[-1])
        size = cluster.on("node1", "stat", "-f", "-c", "%b %S", "/dev/shm").stdout.split()
        self.assertEqual(int(size[0]) * int(size[1]), 64 << 20)
        self.assertIn("up already", cluster.up(2, expect=125).stderr)
        self.assertIn("no host node7", cluster.change("stop", "node7", expect=125).stderr)
        cluster.change("stop", "node1")
        self.assertIn("stopped", cluster.on("node1", "true", expect=125).stderr)
        cluster.change("cut", "node1")
        self.assertIn("no route", cluster.do("ssh", "--", "node1", "true", expect=125).stderr)
        self.assertRegex(cluster.do("list").stdout, r"node1 +10\.77\.0\.2 +cut stopped\n")
        cluster.change("kill", "node1")
        self.assertRegex(cluster.do("list").stdout, r"node1 +10\.77\.0\.2 +dead\n")
        self.assertEqual(cluster.on("node0", "no-such-program", expect=None).returncode, 127)

    def test_options_stand_before_the_action_or_after_it(self):
        """Those before it were taken for the action."""
        cluster = self.cluster()
        call = [*cluster.start_by, cluster.program]
        where = ["--dir", cluster.directory]

        def vcluster(*words, code=0):
            done = subprocess.run([*map(str, call), *words], capture_output=True, text=True,
                                  check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            return done

        vcluster(*where, "up", "2", "--memory", "64m")
        for words in (["list", *where], [*where,
                                         "list"], [*where, "--name", "any",
                                                   "list"], ["list", "--name", "any", *where]):
            self.assertIn("node1", vcluster(*words).stdout)
        for words in (["exec", "node1", *where], ["exec", *where,
                                                  "node1"], [*where, "exec", "node1"]):
            self.assertEqual(vcluster(*words, "--", "hostname").stdout, "node1\n")
        for words in (["stop", "node1", *where], [*where, "continue", "node1"]):
            vcluster(*words)
        # Of the two, the one nearer to the action counts.
        self.assertIn(
            "no cluster",
            vcluster(*where, "list", "--dir", cluster.directory + "-none", code=125).stderr)
        self.assertIn("-- COMMAND is missing",
                      vcluster("exec", "node1", *where, "hostname", code=125).stderr)
        self.assertIn("not known: --nmae", vcluster("list", *where, "--nmae", "x", code=125).stderr)
        self.assertIn("invalid choice", vcluster("lits", code=125).stderr)
        vcluster("down", *where)

    def test_cairn_is_found_by_name_on_every_host(self):
        cluster = self.cluster()
        cluster.up(2)
        path = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep)
                               if not os.access(f"{each}/cairn", os.X_OK))
        for name in ("login", "node0", "node1"):
            self.assertRegex(
                cluster.on(name, "cairn", "--version", env={**os.environ, "PATH": path}).stdout,
                r"\d+\.\d+")
        for mpi, launcher in (("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")):
            if shutil.which(launcher):
                done = cluster.do("run", "--mpi", mpi, "-n", 2, "--", "cairn", "--version",
                                  env={**os.environ, "PATH": path})
                self.assertEqual(len(set(done.stdout.split("\n"))), 2, done.stdout)
                self.assertEqual(done.stdout.count("cairn"), 2, done.stdout)

    def test_the_commands_in_the_readme(self):
        """All of them in one bash, as they stand."""
        script = re.search(r"^```sh\n(.*?)^```", (TESTBED / "README.md").read_text(),
                           re.M | re.S).group(1)
        scratch = tempfile.mkdtemp(prefix="cairn-cluster-", dir="/tmp")
        self.addCleanup(shutil.rmtree, scratch)
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", script], cwd=scratch, capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": scratch,
                 "PATH": f"{TESTBED}:{os.environ['PATH']}"}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r" 2 node0\n +2 node1\n", done.stderr)
        self.assertEqual(sorted(os.listdir(scratch)), ["who"])

    def test_an_ordinary_user_may_where_the_system_lets_users(self):
        if os.geteuid() != 0:
            return  # all the others have shown it
        # Neither a Python nor a checkout in root's home directory is any use to others.
        python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
        user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        cluster = self.cluster(start=(*user, python, "-B"))
        copy = os.path.join(cluster.scratch, "testbed")
        shutil.copytree(TESTBED, copy)
        cluster.program = os.path.join(copy, "vcluster")
        os.chown(cluster.scratch, 65534, 65534)
        if subprocess.run([*user, "unshare", "--user", "--map-root-user", "--net", "true"],
                          check=False).returncode != 0:
            self.assertIn("lets users make user namespaces", cluster.up(2, expect=125).stderr)
            return
        cluster.up(2)
        self.assertEqual(cluster.on("node1", "hostname").stdout, "node1\n")
        self.assertEqual(set(cluster.mpi("mpich", 2, "hostname").stdout.split()),
                         {"node0", "node1"})


class ComposeFile(unittest.TestCase):
    def test_its_nodes_are_what_the_image_and_the_tests_expect(self):
        services = yaml.safe_load((TESTBED / "compose.yaml").read_text())["services"]
        self.assertEqual(list(services), [f"node{number}" for number in range(4)])
        image = (TESTBED / "Dockerfile").read_text()
        for name, service in services.items():
            self.assertEqual(service["hostname"], name)
            self.assertIn("${CAIRN_SHARED:-shared}:/shared", service["volumes"])
            self.assertEqual(service["build"]["dockerfile"], "testbeds/virtual-cluster/Dockerfile")
            self.assertTrue(
                (TESTBED / service["build"]["context"] / service["build"]["dockerfile"]).is_file())
        for package in ("openmpi-bin", "mpich", "openssh-server", "openssh-client"):
            self.assertIn(package, image)


def main():
    if not COMPOSE:
        end_where_no_cluster_can_be_made()
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
