"""Running the suites of mpi_suites_build.py: without Cairn, and in three ways with it."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it; some tests of error handlers make a window, which Debian's Open MPI can with UCX only.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_osc": "ucx", "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"
}
# A run around the launcher, one around each rank, and names that only Cairn knows; and around each
# rank on two hosts.
PLAIN, OUTSIDE, INSIDE, PREFIX, HOSTS = "plain", "outside", "inside", "prefix", "two hosts"
# A library in between. It notes each file that the adapter opens, for which that copies a
# communicator, as it does once at the start of a job on several hosts; programs do it by another
# name. And it gives the processor away where MPICH's ranks would spin while others want it.
WITNESS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
/* Handles are ints or pointers, which pass through alike. */
int PMPI_Comm_idup(void* from, void* to, void* request) {
  static int (*next)(void*, void*, void*);
  const char* log = getenv("CAIRN_TEST_WITNESS");
  if (next == NULL) next = (int (*)(void*, void*, void*))dlsym(RTLD_NEXT, "PMPI_Comm_idup");
  if (log != NULL) {
    const int fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) {
      if (write(fd, "x", 1) != 1) abort();
      close(fd);
    }
  }
  return next(from, to, request);
}
unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (next == NULL) next = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned done = next(worker);
  if (done == 0) sched_yield();
  return done;
}
"""


@dataclass
class Outcome:
    passed: bool
    why: str
    opened: int  # files that Cairn served through MPI-IO
    seconds: float


def witness(place):
    library = place / "witness.so"
    (place / "witness.c").write_text(WITNESS)
    subprocess.run([
        os.environ.get("CAIRN_CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
        place / "witness.c", "-ldl"
    ], check=True)
    return library


def judge(test, done):
    """Why it has failed; empty: it has not. As MPICH's runtests does it."""
    said = done.stdout + done.stderr
    if done.returncode == 124:
        return "it took too long"
    if done.returncode != 0:
        return f"it ended with {done.returncode}"
    if re.search(r"[Ff]ound +[1-9]\d* +errors?", said):
        return "it found errors"
    if test.says and not re.search(r"No Errors|Test [Pp]assed", said):
        return "it does not say that there are no errors"
    return ""


def in_group(command, seconds, **options):
    """Ended with all that it has started, when it takes too long."""
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        with subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, start_new_session=True,
                              **options) as started:
            try:
                code = started.wait(seconds)
            except subprocess.TimeoutExpired:
                code = 124
                os.killpg(started.pid, signal.SIGKILL)
        out.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), "")


def run(mpi, test, ranks, form, library, disk=None, cluster=None, settings=None, seconds=600):
    """One test in a fresh directory: in memory, on `disk` if it writes gigabytes, where all of the
    cluster's hosts see it if the form is HOSTS. settings: of its environment on those hosts."""
    large = test.memory and disk is not None
    place = cluster.shared if form == HOSTS else disk if large else MEMORY
    with tempfile.TemporaryDirectory(prefix="cairn-suites-", dir=place) as scratch:
        work = os.path.join(scratch, "work")
        os.mkdir(work)
        for file in test.files:
            shutil.copy(file, work)
        log = os.path.join(scratch, "witness")
        pathlib.Path(log).touch()
        name = "cairn:testfile" if form == PREFIX else "testfile"
        program = [shutil.copy(test.program, work) if test.inside else test.program,
                   *(name if word == "FILE" else word for word in test.arguments)]
        launch = [mpi.mpirun, "-n", ranks]
        cairn = [
            CAIRN, "run", "--at", work, "--pool-size", "6GiB" if test.memory else "512MiB", "--"
        ]
        environment = {
            **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(scratch, "pools"),
            "CAIRN_TEST_WITNESS": log, "LD_PRELOAD": str(library)
        }
        if form == HOSTS:
            # Each host has a pool in memory of its own; a login there knows nothing of this
            # environment.
            del environment["CAIRN_POOL_DIR"], environment["LD_PRELOAD"]
            there = [
                f"{name}={value}" for name, value in {**ENVIRONMENT, **(settings or {})}.items()
            ]
            launch = cluster.command("run", "--mpi", mpi.name, "-n", ranks, "--", "env", "-C", work,
                                     *there, f"CAIRN_TEST_WITNESS={log}", f"LD_PRELOAD={library}")
        command = {PLAIN: launch, OUTSIDE: cairn + launch,
                   PREFIX: cairn + launch}.get(form, launch + cairn)
        if large:
            environment["CAIRN_POOL_DIR"] = tempfile.mkdtemp(prefix="cairn-suites-", dir=MEMORY)
        begun = time.monotonic()
        try:
            done = in_group(command + program, seconds, cwd=work, env=environment)
        finally:
            if large:
                shutil.rmtree(environment["CAIRN_POOL_DIR"], ignore_errors=True)
        why = judge(test, done)
        opened = os.path.getsize(log) - (ranks if form == HOSTS else 0)
        return Outcome(not why, f"{why}\n{done.stdout[-3000:]}" if why else done.stdout[-300:],
                       opened,
                       time.monotonic() - begun)
