"""Where the demo's programs run: on a disk, on tmpfs, and under `cairn run`."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAIRN = str(pathlib.Path(os.environ.get("CAIRN_BIN_DIR", ROOT / "build/release/bin")) / "cairn")
MIB = 1 << 20


def medium(directory):
    """The file system of a directory and what it is mounted from, as /proc says."""
    best = ("", "?", "?")
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ", 1)
        point, (kind, source) = left.split()[4], right.split()[:2]
        inside = point == "/" or str(directory) == point or str(directory).startswith(point + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind, source)
    return f"{best[1]} {best[2]}" if best[2].startswith("/") else best[1]


def kill_tree(process):
    """Kills a process and all that descend from it, at the same moment as far as that is
    possible."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    tree = [process.pid]
    for pid in tree:
        tree += children.get(pid, [])
    for signal_number in [signal.SIGSTOP, signal.SIGKILL]:
        for pid in tree:
            try:
                os.kill(pid, signal_number)
            except ProcessLookupError:
                pass
    process.wait()


class Places:
    """A scratch directory on the disk that holds the sources and one in /dev/shm, both removed at
    the end."""

    def __enter__(self):
        disk = ROOT / "build"
        disk.mkdir(exist_ok=True)
        self.disk = pathlib.Path(tempfile.mkdtemp(prefix="demo-", dir=disk))
        self.memory = pathlib.Path(tempfile.mkdtemp(prefix="cairn-demo-", dir="/dev/shm"))
        kept = {
            k: v
            for k, v in os.environ.items() if not k.startswith("CAIRN_") and k != "LD_PRELOAD"
        }
        # Open MPI leaves files behind when it is killed: they go with the scratch directory.
        self.environment = dict(kept, OMPI_MCA_btl_vader_backing_directory=str(self.memory),
                                OMPI_MCA_orte_tmpdir_base=str(self.memory), HOME=str(self.disk),
                                LC_ALL="C", CAIRN_POOL_DIR=str(self.memory / "pools"),
                                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.memory, ignore_errors=True)
        shutil.rmtree(self.disk, ignore_errors=True)

    def memory_left(self):
        return shutil.disk_usage(self.memory).free

    def directory(self, place, name):
        """An empty directory in that place. Cairn's lies on the disk: that is where it writes back
        to."""
        directory = (self.memory if place == "tmpfs" else self.disk) / place.replace(
            ", ", "-").lower() / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return directory

    def command(self, place, directory, command):
        if place != "Cairn":
            return command
        return [CAIRN, "run", "--at", str(directory), "--", *command]

    def run(self, command, **options):
        """Runs a command to its end and returns its output; ends the demo if it fails."""
        options.setdefault("stdin", subprocess.DEVNULL)
        environment = dict(self.environment, **options.pop("environment", {}))
        run = subprocess.run(command, env=environment, capture_output=True, text=True,
                             errors="replace", check=False, **options)
        if run.returncode != 0:
            sys.exit(
                f"demo: {' '.join(map(str, command))}: exit code"
                f" {run.returncode}\n{run.stdout}{run.stderr}"
            )
        return run.stdout


def say(text):
    print(text, flush=True)


def table(heading, rows):
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [heading, *rows]) for i in range(len(heading))]
    return [
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in [heading, *rows]
    ]
