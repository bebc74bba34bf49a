"""A cluster: its directory, what stands there, and what can be done to its hosts.

DIR/cluster.json   the login node's first process, and for each node its own, and whether it is cut
or stopped DIR/lock           held while the cluster changes DIR/hosts          /etc/hosts on every
host DIR/nodes          the nodes' names, one per line: what MPIs call a hostfile DIR/HOST/
what a host mounts """

import contextlib
import fcntl
import json
import os
import shutil
import signal
import time

import host
import launch
from cluster_error import ClusterError

DEAD_S = 10  # within which a killed host has gone


def started_at(pid, proc="/proc"):
    """When a process began, which tells it from a later one of the same ID; None if there is
    none."""
    try:
        with open(f"{proc}/{pid}/stat", encoding="ascii", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else words[19]


class Cluster:
    def __init__(self, directory):
        self.directory = os.path.abspath(directory)
        self.state = None

    def path(self, name):
        return os.path.join(self.directory, name)

    @contextlib.contextmanager
    def locked(self):
        with open(self.path("lock"), "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def load(self):
        """Reads the state; says whether there is a cluster that lives."""
        try:
            with open(self.path("cluster.json"), encoding="utf-8") as file:
                self.state = json.load(file)
        except FileNotFoundError:
            return False
        return self.is_inside() or started_at(self.state["pid"]) == self.state["started"]

    def save(self):
        with open(self.path("cluster.json.new"), "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.rename(file.name, self.path("cluster.json"))

    def require(self):
        if not self.load():
            raise ClusterError(f"no cluster in {self.directory}: vcluster up makes one")

    def is_inside(self):
        """Whether we run on the login node, as what an MPI calls to reach the nodes does."""
        return os.readlink("/proc/self/ns/pid") == self.state["pid_namespace"]

    def way_to(self, name):
        """The process IDs by which a host is entered."""
        way = [] if self.is_inside() else [self.state["pid"]]
        return way if name == host.LOGIN else way + [self.node(name)["pid"]]

    def node(self, name):
        if name not in self.state["nodes"]:
            raise ClusterError(
                f"no host {name}: there are {', '.join([host.LOGIN, *self.state['nodes']])}")
        return self.state["nodes"][name]

    def up(self, count, name, memory, program):
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        if os.stat(self.directory).st_uid != os.geteuid():
            raise ClusterError(f"{self.directory} belongs to somebody else")
        with self.locked():
            if self.load():
                raise ClusterError(f"the cluster in {self.directory} is up already")
            self.remove_files()
            os.mkdir(self.path("tmp"), mode=0o700)
            names = [f"node{number}" for number in range(count)]
            with open(self.path("hosts"), "w", encoding="ascii") as file:
                file.write("127.0.0.1 localhost\n")
                for number, node in [(None, host.LOGIN), *enumerate(names)]:
                    file.write(f"{host.address(number)} {node}\n")
            with open(self.path("nodes"), "w", encoding="ascii") as file:
                file.writelines(f"{node}\n" for node in names)
            launch.write_agent(self, program)
            title = f"vcluster:{name}:"
            login = host.Start(self.directory, host.LOGIN, None, memory, title + host.LOGIN)
            self.state = {
                "pid": login.pid, "started": started_at(login.pid), "name": name, "memory": memory,
                "pid_namespace": os.readlink(f"/proc/{login.pid}/ns/pid"), "nodes": {}
            }
            starts = [login]
            for number, node in enumerate(names):
                starts.append(self.start_node(node, number))
                self.state["nodes"][node] = new_node(number, starts[-1].pid)
            self.save()
            for start in starts:
                start.settle()

    def start_node(self, name, number):
        start = host.Start(self.directory, name, number, self.state["memory"],
                           f"vcluster:{self.state['name']}:{name}", self.state["pid"])
        self.on(host.LOGIN, lambda: host.ip("link", "set", name, "master", host.BRIDGE, "up"))
        return start

    def on(self, name, function):
        """Calls a function in a host, in a process of its own, so that we stay where we are."""
        way = self.way_to(name)
        child = os.fork()
        if child == 0:
            os._exit(host.call(way, function) & 0xff)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            raise ClusterError(f"that went wrong on {name}, with exit code {code}")

    def set_link(self, name, state):
        self.on(host.LOGIN, lambda: host.ip("link", "set", name, state))

    def is_alive(self, node):
        """Looked up in the login node's own /proc, where the process IDs of nodes count."""
        proc = "/proc" if self.is_inside() else f"/proc/{self.state['pid']}/root/proc"
        return started_at(node["pid"], proc) is not None

    def living(self, name):
        node = self.node(name)
        if not self.is_alive(node):
            raise ClusterError(f"{name} is dead: vcluster join {name} starts it anew")
        return node

    def require_reachable(self, name):
        """For a new command on a host."""
        if name != host.LOGIN and self.living(name)["stopped"]:
            raise ClusterError(f"{name} is stopped: vcluster continue {name}")

    def require_connected(self, name):
        if name != host.LOGIN and self.living(name)["cut"]:
            raise ClusterError(f"{name}: no route to host: it is cut off the network")

    def stop(self, name):
        self.living(name)["stopped"] = True
        self.save()  # first, so that nothing new is started there
        self.on(name, lambda: signal_everybody(signal.SIGSTOP))

    def resume(self, name):
        self.living(name)["stopped"] = False
        self.on(name, lambda: signal_everybody(signal.SIGCONT))
        self.save()

    def cut(self, name):
        self.living(name)["cut"] = True
        self.set_link(name, "down")
        self.save()

    def kill(self, name):
        """As when its plug is pulled: its network goes first, so that the others hear no
        farewell."""
        node = self.living(name)
        self.set_link(name, "down")
        self.on(host.LOGIN, lambda: os.kill(node["pid"], signal.SIGKILL))
        wait_until(lambda: not self.is_alive(node))
        self.on(host.LOGIN, lambda: host.remove_link(name))

    def join(self, name):
        node = self.node(name)
        if self.is_alive(node):
            self.set_link(name, "up")
            node["cut"] = False
            self.save()
            return
        start = self.start_node(name, node["number"])
        self.state["nodes"][name] = new_node(node["number"], start.pid)
        self.save()
        start.settle()

    def down(self):
        if not os.path.isdir(self.directory):
            return
        with self.locked():
            if self.load():
                pid = self.state["pid"]
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: started_at(pid) != self.state["started"])
            self.remove_files()
        shutil.rmtree(self.directory)

    def remove_files(self):
        for entry in os.scandir(self.directory):
            if entry.is_dir():
                shutil.rmtree(entry.path)
            elif entry.name != "lock":
                os.unlink(entry.path)

    def table(self):
        rows = [(host.LOGIN, host.address(None), "up")]
        for name, node in self.state["nodes"].items():
            marks = [mark for mark in ("cut", "stopped") if node[mark]] or ["up"]
            rows.append((name, host.address(node["number"]),
                         " ".join(marks) if self.is_alive(node) else "dead"))
        return rows


def new_node(number, pid):
    return {"number": number, "pid": pid, "cut": False, "stopped": False}


def signal_everybody(number):
    """On the host that we are on, but its first process and ourselves: all at once, whatever they
    start meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, number)


def wait_until(condition):
    end = time.monotonic() + DEAD_S
    while not condition():
        if time.monotonic() > end:
            raise ClusterError(f"a process that was killed is still there after {DEAD_S} s")
        time.sleep(0.01)
