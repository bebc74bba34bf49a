"""The environment of a run, as a reader needs it to judge the figures: machine, MPIs, mounts."""

import os
import pathlib
import platform
import re

from . import installation, space


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def processor():
    for line in (read("/proc/cpuinfo") or "").splitlines():
        if line.startswith(("model name", "Model")):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def system_name():
    for line in (read("/etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def environment(name=None):
    """name: what the user calls this machine."""
    memory = next(
        (
            int(line.split()[1]) * 1024
            for line in (read("/proc/meminfo") or "").splitlines()
            if line.startswith("MemTotal")
        ),
        None,
    )
    return {
        **({"machine_name": name} if name else {}),
        "host": platform.node(),
        "system": system_name(),
        "linux": platform.release(),
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": memory,
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "huge_pages": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "load_before": list(os.getloadavg()),
        "python": platform.python_version(),
        "job": os.environ.get("SLURM_JOB_ID"),
        "nodes": os.environ.get("SLURM_JOB_NODELIST"),
        "cairn": installation.first_line([installation.command(), "--version"]) or None,
    }


def mount(directory):
    point, kind, source, options = space.mount_of(directory)
    return {
        "directory": str(directory),
        "mount_point": point,
        "type": kind,
        "source": source,
        "options": options,
    }


def mpi_version(mpi):
    """mpirun (Open MPI) 4.1.4, MPICH 4.0.2"""
    launcher = installation.launcher(mpi)
    if not launcher:
        return mpi
    told = installation.first_line([launcher, "--version"], lines=3)
    of_hydra = re.search(r"^\s*Version:\s*(\S+)", told, re.M)  # behind a line without a number
    return f"MPICH {of_hydra.group(1)}" if of_hydra else told.split("\n")[0]


def describe(system):
    """What a record says about a system of the matrix."""
    found = {
        "given": system.given,
        "mpi": system.mpi,
        "mpi_version": mpi_version(system.mpi),
        "directory": mount(system.directory),
        "memory_before_write": system.memory_before_write,
    }
    if system.cairn:
        found["pool_directory"] = mount(system.pool_directory)
    return found
