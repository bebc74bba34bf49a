"""Finds this installation's command and kernels, and the machine's MPI launchers."""

import functools
import os
import pathlib
import shlex
import shutil
import subprocess

MPIS = ("openmpi", "mpich")
# How srun talks to the ranks: Debian's MPICH has no PMIx, Open MPI no PMI-2.
SRUN_PROTOCOLS = {"openmpi": "pmix", "mpich": "pmi2"}

# What an MPI without kernels needs.
REBUILD = "build Cairn again with this MPI's mpicc in PATH"


def library():
    """lib/cairn, as the command says; else from where this file lies, or `cairn` in PATH."""
    given = os.environ.get("CAIRN_BENCH_LIB")
    if given:
        return pathlib.Path(given)
    around = pathlib.Path(__file__).absolute().parents[3]
    command_in_path = shutil.which("cairn")
    if (around / "bench").is_dir() or command_in_path is None:
        return around
    return pathlib.Path(command_in_path).resolve().parents[1] / "lib/cairn"


def command():
    return os.environ.get("CAIRN_BENCH_COMMAND") or str(library().parents[1] / "bin/cairn")


def kernel(mpi, name):
    return library() / "bench" / mpi / name


@functools.cache
def launcher(mpi):
    """The words before -n, or None."""
    named = shutil.which(f"mpirun.{mpi}")
    if named:
        return named
    plain = shutil.which("mpirun")
    return plain if plain and belongs_to(plain, mpi) else None


def launch_words(mpi, ranks, template=None, nodes=None):
    """The words that start so many ranks: mpirun's, or those of a launcher. nodes: None: any."""
    if template is None:
        return [launcher(mpi) or "mpirun", "-n", str(ranks)]
    if template == "srun":
        on_nodes = [] if nodes is None else ["-N", str(nodes)]
        return ["srun", f"--mpi={SRUN_PROTOCOLS[mpi]}", *on_nodes, "-n", str(ranks)]
    template = template.replace("{nodes}", str(nodes or 1))
    return [word.replace("{ranks}", str(ranks)) for word in shlex.split(template)]


def belongs_to(mpirun, mpi):
    text = first_line([mpirun, "--version"], lines=3)
    return (
        ("Open MPI" in text or "OpenRTE" in text)
        if mpi == "openmpi"
        else ("HYDRA" in text or "MPICH" in text)
    )


@functools.cache
def found(command):
    """A program of others in PATH, or None."""
    return shutil.which(command)


@functools.cache
def fio_engines():
    text = first_line([found("fio") or "fio", "--enghelp"], lines=100)
    return {line.strip() for line in text.split("\n")}


def first_line(words, lines=1):
    try:
        run = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "\n".join((run.stdout + run.stderr).strip().split("\n")[:lines])


def usable(mpi, template=None):
    """template: a launcher that stands for mpirun."""
    return (template or launcher(mpi)) is not None and has_kernels(mpi)


def has_kernels(mpi):
    return any((library() / "bench" / mpi).glob("*.json"))


def what_lacks(mpi, template=None):
    """Why an MPI cannot be used, for people."""
    where = library() / "bench" / mpi
    if launcher(mpi) is not None or template is not None:
        return f"{where}: no kernels there; {REBUILD}"
    what_else = "" if has_kernels(mpi) else f", then {REBUILD}"
    return f"no mpirun of {mpi} in PATH; install it{what_else}; or leave the system out"
