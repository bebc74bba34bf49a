"""The parallel tests of HDF5, PnetCDF and netCDF-4 themselves, on files that Cairn serves, with
Debian's MPIs: `cairn run` around mpirun and around each rank. Files stay in the pool until all
tests of a library have run; then they are drained and must be what the same tests leave in a plain
directory."""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from mpi_library_suites import HDF5, Suites

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
BACKENDS = pathlib.Path(os.environ["CAIRN_LIB_DIR"]) / "cairn"
SUITES = Suites(pathlib.Path(os.environ["CAIRN_BUILD_DIR"]) / "mpi-libraries")
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl": "self,vader", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "HDF5_NOCLEANUP": "1", "LC_ALL": "C.UTF-8"
}
PNETCDF = tuple(f"test/{folder}" for folder in (
    "C", "cdf_format", "header", "testcases", "nonblocking", "F90", "subfile", "burst_buffer"))
PNETCDF_ALONE = tuple(f"test/{folder}"
                      for folder in ("C", "fandc", "nc_test", "cdf_format", "testcases",
                                     "nonblocking", "nf_test", "nf90_test", "F90"))
PNETCDF_EXAMPLES = ("examples/C", "examples/F77", "examples/F90", "examples/burst_buffer",
                    "examples/tutorial", "benchmarks/C", "benchmarks/FLASH-IO")
NETCDF = {
    "tst_mode": (1, ), "tst_parallel_compress": (1, 4), "tst_simplerw_coll_r": (1, 2, 4),
    "tst_h_par": (1, 2, 4), "tst_h_par_compress": (1, 2, 4)
}
# What the libraries or MPIs do without Cairn, too: (MPI, ranks or 0 for any number, program).
KNOWN = {
    (
        "openmpi",
        0,
        "t_pflush1",
    ): "ends without MPI_Finalize, as it means to; t_pflush2 looks at what it left",
    (
        "mpich",
        0,
        "t_pflush1",
    ): "ends without MPI_Finalize, as it means to; t_pflush2 looks at what it left",
    (
        "mpich",
        1,
        "testphdf5",
    ): "MPICH 4.0.2 asserts in MPI_Unpack of a byte onto itself (typerep_yaksa_pack.c:286)",
}
# Different from run to run: bytes that nobody set, without Cairn too; a place to which all ranks
# write values of their own, where Open MPI without Cairn has always the same one win.
NEVER_THE_SAME = {"test.nc", "bb_nonblocking.nc",
                  *(f"tst_parallel4_simplerw_coll_type_{kind}_fv_2.nc" for kind in (1, 2, 7))}
# It starts itself from the directory where it is run.
PROGRAM_IN_PLACE = "t_cache_image"
failures = []


class Place:
    """A directory for a suite's files and pools of its own, in memory. Form: plain, outer (mpirun
    in a run), inner (a run in each rank)."""

    def __init__(self, mpi, form):
        self.mpi, self.form = mpi, form
        self.scratch = tempfile.TemporaryDirectory(prefix="cairn-libraries-", dir="/dev/shm")
        self.work = os.path.join(self.scratch.name, "work")
        os.mkdir(self.work)
        self.environment = {
            **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(self.scratch.name, "pools"),
            "HDF5_PARAPREFIX": self.work
        }
        self.cairn = [
            str(CAIRN), "run", "--at", self.work, "--pool-size", "2GiB", "--drain", "never", "--"
        ]

    def launcher(self, ranks):
        return [f"mpirun.{self.mpi}", "-n", str(ranks)
                ] + (self.cairn if self.form == "inner" else [])

    def run(self, command, seconds):
        """Exit code and output; 124: it took too long, and all of it was ended."""
        outer = self.cairn if self.form == "outer" else []
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            job = subprocess.Popen([str(word) for word in [*outer, *command]], cwd=self.work,
                                   env=self.environment, stdout=said, stderr=said,
                                   stdin=subprocess.DEVNULL)
            try:
                code = job.wait(seconds)
            except subprocess.TimeoutExpired:
                job.terminate()  # mpirun ends its ranks
                try:
                    job.wait(20)
                except subprocess.TimeoutExpired:
                    job.kill()
                    job.wait()
                code = 124
            said.seek(0)
            return code, said.read()

    def changed(self):
        """When a name was last made or removed in the directory itself, beside what is served."""
        return os.stat(self.work).st_mtime_ns

    def files(self):
        return {
            str(path.relative_to(self.work))
            for path in pathlib.Path(self.work).rglob("*") if path.is_file()
        }

    def drain(self):
        return subprocess.run([CAIRN, "drain", self.work], env=self.environment,
                              capture_output=True, text=True, timeout=600, check=False)


def report(what, code, said, known=None):
    print(
        f"{what}:"
        f" {'ok' if code == 0 else f'{code}, known: {known}' if known else f'failed: {code}'}",
        flush=True,
    )
    if code != 0 and not known:
        failures.append(what)
        print(said[-4000:], flush=True)


def hdf5_programs(mpi, ranks):
    def run(place):
        built = SUITES.hdf5(mpi)
        for name in ("testphdf5", *HDF5):
            if name == PROGRAM_IN_PLACE and ranks > 1:
                # half an hour and more where ranks share processors, as t_cache, which wants three
                continue
            yield name, *place.run([*place.launcher(ranks), built / name], 900)
    return run


def netcdf_programs(place):
    built = SUITES.netcdf()
    for program in sorted(built.glob("tst_*")):
        for ranks in NETCDF.get(program.name, (4,)):
            yield f"{program.name}, {ranks} ranks", *place.run([*place.launcher(ranks), program],
                                                               900)


def pnetcdf_folders(mpi, target, folders):
    def run(place):
        built = SUITES.pnetcdf(mpi)
        sequential = " ".join(place.cairn) if place.form == "inner" else ""
        for folder in folders:
            yield folder, *place.run([
                "make", "-s", "-C", built / folder, target, f"TESTOUTDIR={place.work}",
                f"TESTMPIRUN={' '.join(place.launcher('NP'))}", f"TESTSEQRUN={sequential}"
            ], 1200)
    return run


def same(one, other, mpi):
    """The same bytes, or the same for the library's own tool: objects carry times, PnetCDF's tests
    write buffers that they never set, and Open MPI's own collective reads beyond the end say that
    they have read, so that add_var adds what it has moved."""
    if filecmp.cmp(one, other, shallow=False):
        return True
    if one.endswith(".meta"):  # PnetCDF's log of a burst buffer: it names the file
        return os.path.getsize(one) == os.path.getsize(other)
    with open(one, "rb") as file:
        classic = file.read(3) == b"CDF"
    tool = SUITES.pnetcdf(mpi) / "src/utils/ncmpidiff/ncmpidiff" if classic else "h5diff"
    return subprocess.run([tool, "-q", one, other], capture_output=True,
                          env={**os.environ,
                               **ENVIRONMENT}, timeout=300, check=False).returncode == 0


def suite(name, programs, mpi, ranks, form, against=None):
    """Runs it; all that it made was served, and is in the directory once it is drained, as in the
    place `against`."""
    place, what, begin = Place(mpi, form), f"{name}, {mpi}, {form}, {ranks} ranks", time.monotonic()
    if name == "HDF5":
        shutil.copy(SUITES.hdf5(mpi) / PROGRAM_IN_PLACE, place.work)
    if form != "plain":
        # claims it
        subprocess.run([*place.cairn, "true"], env=place.environment, timeout=60, check=True)
    unchanged = place.changed()
    for program, code, said in programs(place):
        known = KNOWN.get((mpi, ranks, program)) or KNOWN.get((mpi, 0, program))
        report(f"{what}: {program}", code, said, known)
    print(f"{what}: {time.monotonic() - begin:.0f} s", flush=True)
    if form == "plain":
        return place
    report(f"{what}: all files served", 0 if place.changed() == unchanged else 1,
           f"files came or went in the directory; there are {sorted(place.files())}\n")
    drained = place.drain()
    report(f"{what}: drained", drained.returncode, drained.stderr)
    made = place.files() - {PROGRAM_IN_PLACE}
    report(f"{what}: {len(made)} files", 0 if made else 1, "none: the tests went elsewhere\n")
    if against:
        left = against.files() - {PROGRAM_IN_PLACE}
        report(f"{what}: the same names", 0 if made == left else 1,
               f"only in one of the places: {sorted(made ^ left)}\n")
        different = [
            file for file in sorted((made & left) - NEVER_THE_SAME)
            if not same(os.path.join(place.work, file), os.path.join(against.work, file), mpi)
        ]
        report(f"{what}: the same contents", 1 if different else 0, f"different: {different}\n")
    return place


def compared(name, programs, mpi, ranks):
    suite(name, programs, mpi, ranks, "outer", against=suite(name, programs, mpi, ranks, "plain"))


for name in ("openmpi", "mpich"):
    if shutil.which(f"mpirun.{name}") is None or not (BACKENDS / f"mpiio_{name}.so").exists():
        failures.append(
            f"{name}: no mpirun.{name}, or no back end in this build (scripts/setup.sh test"
            " installs what it needs)"
        )
        continue
    compared("HDF5", hdf5_programs(name, 2), name, 2)
    suite("HDF5", hdf5_programs(name, 1), name, 1, "outer")
    if name == "openmpi":
        suite("HDF5", hdf5_programs(name, 4), name, 4, "inner")
        compared("PnetCDF", pnetcdf_folders(name, "ptest4", PNETCDF), name, 4)
        suite("PnetCDF", pnetcdf_folders(name, "check", PNETCDF_ALONE), name, 1, "outer")
        suite("PnetCDF", pnetcdf_folders(name, "ptest2", ("test/testcases",)), name, 2, "inner")
        compared("PnetCDF's examples", pnetcdf_folders(name, "ptest4", PNETCDF_EXAMPLES), name, 4)
        compared("netCDF-4", netcdf_programs, name, 4)
    else:  # its ranks spin where they wait
        suite("PnetCDF", pnetcdf_folders(name, "ptest4", PNETCDF), name, 4, "outer")
        suite("PnetCDF", pnetcdf_folders(name, "ptest2", ("test/testcases",)), name, 2, "inner")
if failures:
    sys.exit("\n".join(["failed:", *failures]))
