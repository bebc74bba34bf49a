"""How MPI programs are started over the nodes: the settings that each MPI's own launcher needs
here."""

import os
import re
import shutil
import subprocess
import sys

from cluster_error import ClusterError

# What a login over ssh would set, and nothing of whoever runs the launcher.
LOGIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


# Where this tree's own build has its commands.
BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/bin")


def with_cairn(path):
    """A PATH on which `cairn` is found by name: the one that whoever calls us finds, or else this
    tree's."""
    if shutil.which("cairn", path=path):
        return path
    for command in (shutil.which("cairn"),
                    os.path.join(os.environ.get("CAIRN_BIN_DIR") or BUILT, "cairn")):
        if command and os.access(command, os.X_OK):
            return f"{path}:{os.path.dirname(os.path.realpath(command))}"
    return path


def own_environment():
    return {**os.environ, "PATH": with_cairn(os.environ.get("PATH", LOGIN_PATH))}


def own_directory(cluster):
    """Launchers keep files there under the names of host and process, which hosts of two clusters
    have in common."""
    return {"TMPDIR": cluster.path("tmp")}


def login_environment(cluster):
    """What a command finds on a host that it has reached from another one."""
    return {
        "PATH": with_cairn(LOGIN_PATH), "SHELL": "/bin/sh", **own_directory(cluster), **{
            name: os.environ[name]
            for name in ("HOME", "USER", "LOGNAME", "LANG", "ASAN_OPTIONS") if name in os.environ
        }
    }


def environment(cluster):
    """For launchers on the login node: where the nodes are, and how they are reached. What an MPI
    needs beyond that to communicate between hosts is set by who runs it, as on any cluster."""
    agent, nodes = cluster.path("ssh"), cluster.path("nodes")
    return {
        **own_environment(),
        **own_directory(cluster),
        # Open MPI 4
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_orte_default_hostfile": nodes,
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        # The nodes share the machine's processors: bound to "their" first one, the ranks of all
        # would be on the same.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        # Open MPI 5, whose launcher is PRRTE
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_prte_default_hostfile": nodes,
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        # MPICH, whose launcher is Hydra
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_HOST_FILE": nodes,
    }


def write_agent(cluster, program):
    """What launchers call in place of ssh; they take the name of one program, without arguments."""
    with open(cluster.path("ssh"), "w", encoding="utf-8") as file:
        file.write(
            f'#!/bin/sh\nexec "{sys.executable}" "{program}" ssh --dir "{cluster.directory}" --'
            ' "$@"\n'
        )
    os.chmod(file.name, 0o755)


def ssh_command(words):
    """(host, command line) of ssh's arguments; options are of no use here."""
    while words and words[0].startswith("-"):
        words = words[1:]
    if len(words) < 2:
        raise ClusterError("ssh: HOST COMMAND…")
    return words[0], ["/bin/sh", "-c", " ".join(words[1:])]


def mpirun_command(mpirun, ranks, per_node, settings):
    """Blocks of `per_node` ranks on the nodes, one after the other."""
    try:
        version = subprocess.run([mpirun, "--version"], env=settings, capture_output=True,
                                 text=True, check=False, timeout=60).stdout
    except OSError as error:
        raise ClusterError(f"{mpirun}: {error.strerror}") from error
    if "HYDRA" in version:
        return [mpirun, "-n", str(ranks), "-ppn", str(per_node)]
    found = re.search(r"\((?:Open MPI|OpenRTE)\) (\d+)", version)
    if not found:
        raise ClusterError(
            f"{mpirun} is neither Open MPI's nor MPICH's: run it on the login node, by vcluster"
            " exec"
        )
    over = ":oversubscribe" if int(found.group(1)) >= 5 else ""
    return [mpirun, "-n", str(ranks), "--map-by", f"ppr:{per_node}:node{over}"]
