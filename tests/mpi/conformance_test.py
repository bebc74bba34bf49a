"""The conformance program under `cairn run`, with every MPI that was found."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
PROGRAMS = sorted((pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "mpi").glob("*/conformance"))
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}
# tests/slow/conformance_test.py runs more of them.
RANKS = [int(ranks) for ranks in os.environ.get("CAIRN_CONFORMANCE_RANKS", "1 4").split()]

if not PROGRAMS:
    print("no MPI was found when this was built")
    sys.exit(77)
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
scratch = tempfile.mkdtemp(prefix="cairn-mpi-", dir=memory)
seed = int(os.environ.get("CAIRN_SEED", time.time()))
print("seed", seed)
failed = False
try:
    for program in PROGRAMS:
        mpi = program.parent.name
        # Debian has several side by side; elsewhere the one that is loaded has the plain name.
        launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        for ranks in RANKS:
            directory = os.path.join(scratch, f"{mpi}-{ranks}")
            os.mkdir(directory)
            environment = {
                **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(scratch, "pools"),
                "CAIRN_LOG_LEVEL": "info"
            }
            done = subprocess.run([
                CAIRN, "run", "--at", ".", "--pool-size", "128MiB", "--", launcher, "-n",
                str(ranks), program, "all",
                str(seed)
            ], cwd=directory, env=environment, capture_output=True, text=True, errors="replace",
                                  timeout=300, check=False)
            told = len(
                re.findall(
                    r"^cairn: MPI-IO: [\d.]+ ms added to MPI_Init, [\d.]+ ms to MPI_Finalize$",
                    done.stderr, re.M))
            ended = (
                "ok"
                if done.returncode == 0 and told == ranks
                else f"failed: {done.returncode}\n{done.stdout[:4000]}{done.stderr[:4000]}"
            )
            print(f"{mpi}, {ranks} ranks: {ended}", flush=True)
            failed = failed or ended != "ok"
            shutil.rmtree(directory)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
sys.exit(failed)
