"""A host: the first process of namespaces of its own, which live as long as it does.

The login node is one too, and the cluster's nodes lie inside it: its PID namespace holds theirs,
its network namespace holds the bridge between them. So when its first process ends, everything
ends, and nothing of a cluster can be seen outside or collide with anything there. """

import json
import os
import signal
import subprocess
import uuid

import namespaces
from cluster_error import ClusterError

LOGIN = "login"
BRIDGE = "cluster"
FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1,
             signal.SIGUSR2)


def address(number):
    """Of node `number`, or of the login node (None)."""
    return "10.77.255.254" if number is None else f"10.77.{number // 250}.{number % 250 + 1}"


def ip(*words):
    try:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
    except FileNotFoundError as error:
        raise ClusterError(
            "the command ip is missing (package iproute2; scripts/setup.sh test)") from error
    if done.returncode != 0:
        raise ClusterError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def make_network(name, number):
    """In the new network namespace that we are in. On the bridge, a node's end of the link has the
    node's name."""
    ip("link", "set", "lo", "up")
    if number is None:
        device = BRIDGE
        ip("link", "add", device, "type", "bridge")
    else:
        device = "eth0"
        ip("link", "add", device, "type", "veth", "peer", "name", name, "netns", "1")
    ip("address", "add", f"{address(number)}/16", "dev", device)
    ip("link", "set", device, "up")


def remove_link(name):
    """On the login node, when the node has gone: at once, where the kernel takes its time."""
    try:
        ip("link", "delete", name)
    except ClusterError:
        if os.path.exists(f"/sys/class/net/{name}"):
            raise


def mount_all(directory, name, memory):
    """What a host has of its own in the file system that is otherwise shared: /proc, /sys (or UCX
    sees the network devices of others), memory, and what tells it from other machines."""
    own = os.path.join(directory, name)
    cgroups = os.path.join(own, "cgroup")
    os.makedirs(cgroups, exist_ok=True)
    with open(os.path.join(own, "boot_id"), "w", encoding="ascii") as boot_id:
        boot_id.write(f"{uuid.uuid4()}\n")
    plain = namespaces.MS_NOSUID | namespaces.MS_NODEV
    system = plain | namespaces.MS_NOEXEC
    namespaces.mount("proc", "/proc", "proc", system)
    namespaces.mount("/sys/fs/cgroup", cgroups, None, namespaces.MS_BIND | namespaces.MS_REC)
    namespaces.mount("sysfs", "/sys", "sysfs", system)
    namespaces.mount(cgroups, "/sys/fs/cgroup", None, namespaces.MS_MOVE)
    namespaces.mount("tmpfs", "/dev/shm", "tmpfs", plain, f"mode=1777,{memory}")
    namespaces.mount(boot_id.name, "/proc/sys/kernel/random/boot_id", None, namespaces.MS_BIND)
    namespaces.mount(os.path.join(directory, "hosts"), "/etc/hosts", None, namespaces.MS_BIND)


def sleep_forever(title):
    """As a first process. It ignores the ends of its children, so orphans leave no zombies."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    os.execvp("sleep", [title, "infinity"])


class Start:
    """A new host's first process, which waits for our word before it settles down. When we end
    without a word, for whatever reason, it ends too: a start that breaks off leaves nothing
    behind."""

    def __init__(self, directory, name, number, memory, title, inside=None):
        """inside: the process ID of the login node's first process, None to make the login node
        itself. Afterwards `pid` is the new process's ID as it is seen there."""
        reports, self.report = os.pipe()
        self.wait, self.word = os.pipe()
        maker = os.fork()
        if maker == 0:
            os.close(reports)
            os.close(self.word)
            try:
                self.make(directory, name, number, memory, title, inside)
            except (OSError, ClusterError) as error:
                self.tell(error=str(error))
            finally:
                os._exit(1)
        os.close(self.report)
        os.close(self.wait)
        with os.fdopen(reports, "rb") as file:
            told = {key: value for line in file for key, value in json.loads(line).items()}
        os.waitpid(maker, 0)
        if not told.get("ready"):
            os.close(self.word)
            raise ClusterError(f"{name}: {told.get('error', 'ended while it was made')}")
        self.pid = told["pid"]

    def make(self, directory, name, number, memory, title, inside):
        if inside is not None:
            namespaces.enter(inside)
            inner = os.fork()  # to be in its PID namespace
            if inner != 0:
                os.waitpid(inner, 0)
                return
        self.make_namespaces(new_user=inside is None and os.geteuid() != 0)
        namespaces.mount(None, "/", None, namespaces.MS_REC | namespaces.MS_PRIVATE)
        namespaces.set_hostname(name)
        make_network(name, number)
        namespaces.unshare("pid")
        first = os.fork()
        if first != 0:
            self.tell(pid=first)
            return
        mount_all(directory, name, memory)
        self.tell(ready=True)
        os.close(self.report)
        if os.read(self.wait, 1):
            sleep_forever(title)

    def make_namespaces(self, new_user):
        try:
            if new_user:
                namespaces.become_root_of_new_user_namespace()
            namespaces.unshare("net", "uts", "ipc", "mnt")
        except OSError as error:
            raise ClusterError(
                f"namespaces cannot be made here ({error.strerror}). It takes root with"
                " CAP_SYS_ADMIN, or a system that lets users make user namespaces"
                " (user.max_user_namespaces)"
            ) from error

    def tell(self, **what):
        os.write(self.report, json.dumps(what).encode() + b"\n")

    def settle(self):
        os.write(self.word, b"!")
        os.close(self.word)


def call(pids, function):
    """Calls a function in a host, which is entered by way of the hosts it lies in, and returns its
    exit code, or minus the signal that ended it. pids: of their first processes, each as it is seen
    from the one before."""
    namespaces.enter(*pids)
    child = os.fork()
    if child == 0:
        namespaces.die_with_parent()
        code = 125
        try:
            code = function()
        except (OSError, ClusterError) as error:
            os.write(2, f"vcluster: {error}\n".encode())
        finally:
            os._exit(code or 0)
    for number in FORWARDED:
        signal.signal(number, lambda number, _: os.kill(child, number))
    # Not by WUNTRACED: who runs a command on a host that is stopped waits until it goes on.
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
