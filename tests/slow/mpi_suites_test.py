"""ROMIO's and MPICH's own tests for files, on covered files, with Debian's Open MPI and MPICH: with
as many ranks as their authors start them with, in three forms and without Cairn; with 1, 2, 4 and 7
where they can; and, with Open MPI, on two hosts (MPICH 4.0 does not get out of MPI_Finalize between
hosts in many runs of any program). The sources are fetched at the first run (network).
CAIRN_SUITES_ONLY=romio/misc,f77 chooses tests by parts of their names."""

import atexit
import os
import pathlib
import shutil
import sys

import mpi_suites_build as suites
import mpi_suites_run as runs

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
from cluster_runner import VirtualCluster  # noqa: E402

PLACE = pathlib.Path(os.environ["CAIRN_BUILD_DIR"]) / "mpi-suites"
ONLY = [word for word in os.environ.get("CAIRN_SUITES_ONLY", "").split(",") if word]
RANKS = (1, 2, 4, 7)
MEMORY_NEEDED = 12 << 30  # for those that write gigabytes: their buffers and the pool
NOT_ATOMIC = "Open MPI's own I/O is not atomic where a view has gaps"
HANDLER = (
    "Open MPI returns the code that its handler has been given, also if that puts another one there"
)
THROWS = "Debian's Open MPI is built without exceptions in its C++ functions"
VIEW = "File::Get_view of Open MPI's C++ functions does not give back the view"
NEGATIVE = "Open MPI's own I/O reads at a negative offset"
HINTS = "it reads back hints of a file that the variable ROMIO_HINTS names"
# What an MPI fails by itself, and why; with Cairn these pass, but for those below.
FAILS_ALONE = {
    ("openmpi", "romio/error"): "Open MPI takes a view whose displacement is negative",
    ("openmpi", "romio/external32"): "Open MPI has no external32",
    ("openmpi", "romio/syshints"): HINTS + ", which Open MPI's own I/O does not know",
    ("openmpi", "mpich/io/tst_fileview"): "Open MPI says MPI_ERR_TYPE where MPICH says MPI_ERR_IO",
    ("openmpi", "mpich/errors/io/fileerrret"): HANDLER,
    ("openmpi", "mpich/errors/cxx/io/fileerrretx"): THROWS,
    ("openmpi", "mpich/errors/cxx/io/throwtestfilex"): THROWS,
    ("openmpi", "mpich/cxx/io/filemiscx"): VIEW,
    ("openmpi", "mpich/errors/f77/io/uerrhandf"): NEGATIVE,
    ("openmpi", "mpich/errors/f90/io/uerrhandf90"): NEGATIVE,
    ("openmpi", "mpich/errors/f08/io/uerrhandf08"): NEGATIVE,
    ("openmpi", "mpich/f77/io/atomicityf"): NOT_ATOMIC,
    ("openmpi", "mpich/f90/io/atomicityf90"): NOT_ATOMIC,
    ("openmpi", "mpich/f08/io/atomicityf90"): NOT_ATOMIC,
}
# What fails with Cairn, and may.
FAILS_WITH_CAIRN = {
    ("", "romio/syshints"): HINTS +
    ": Cairn has no use for them, and the standard lets it ignore them",
    ("openmpi", "mpich/errors/io/fileerrret"): HANDLER + "; so does Cairn there",
    ("openmpi", "mpich/errors/cxx/io/fileerrretx"): THROWS,
    ("openmpi", "mpich/errors/cxx/io/throwtestfilex"): THROWS,
    ("openmpi", "mpich/cxx/io/filemiscx"): VIEW,
}
# They open no file that is there.
OPENS_NOTHING = ("mpich/errors/io/fileerrret", "mpich/errors/cxx/io/fileerrretx",
                 "mpich/cxx/io/seekavail")
# Their array is distributed over 4 processes; that more of them make the type is an error, which
# MPICH does not see.
OWN_RANKS_ONLY = ("romio/darray_read", "mpich/io/i_darray_read")
# They pass a token round, so that the order of writes is known; but two ranks, each of whom has the
# other on both sides, pass none.
NOT_BY_TWO = tuple(f"mpich/cxx/io/{name}x"
                   for name in ("writesh", "iwritesh", "writeshnos", "iwriteshnos"))
# A rank of them reads what another has written, without atomic mode and without MPI_File_sync. The
# standard promises them nothing; on several hosts Cairn shows such writes where it is told to
# (docs/user/mpi-multi-node.md).
READS_UNSYNCED = ("romio/shared_fp",)
failures = []
counts = {}


def name_of(test):
    return f"{test.suite}/{test.name}"


def reason(table, mpi, test):
    return table.get((mpi.name, name_of(test))) or table.get(("", name_of(test)))


def memory_free():
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def count(mpi, suite, what):
    counts.setdefault((mpi.name, suite), {}).setdefault(what, 0)
    counts[mpi.name, suite][what] += 1


def fail(what, outcome):
    failures.append(what)
    print(f"{what}: FAILED\n{outcome.why}", flush=True)


def check(mpi, test, ranks, form, library, cluster=None):
    """One run with Cairn; true: it passed, as far as it can."""
    settings = {"CAIRN_MPI_VISIBILITY": "immediate"} if name_of(test) in READS_UNSYNCED else {}
    outcome = runs.run(mpi, test, ranks, form, library, PLACE, cluster, settings)
    what = f"{mpi.name}: {name_of(test)}, {ranks} ranks, {form}"
    if not outcome.passed:
        known = reason(FAILS_WITH_CAIRN, mpi, test)
        if known:
            print(f"{what}: fails, as it must: {known}", flush=True)
            return False
        if ranks != test.ranks and not runs.run(mpi, test, ranks, runs.PLAIN, library).passed:
            print(f"{what}: not for so many, without Cairn neither", flush=True)
            return True
        fail(what, outcome)
        return False
    if outcome.opened <= 0 and name_of(test) not in OPENS_NOTHING:
        outcome.why = "Cairn opened no file for it"
        fail(what, outcome)
        return False
    return True


def alone(mpi, test, library):
    outcome = runs.run(mpi, test, test.ranks, runs.PLAIN, library, PLACE)
    known = reason(FAILS_ALONE, mpi, test)
    if not outcome.passed:
        count(mpi, test.suite, "failed without Cairn")
        print(f"{mpi.name}: {name_of(test)} fails without Cairn: {known or outcome.why}",
              flush=True)
    elif known:
        print(f"{mpi.name}: {name_of(test)} passes without Cairn, which was not expected: {known}",
              flush=True)


def one(mpi, test, library, cluster):
    if test.why_not:
        failures.append(f"{mpi.name}: {name_of(test)}: not built")
        print(f"{mpi.name}: {name_of(test)}: not built: {test.why_not}", flush=True)
        count(mpi, test.suite, "not built")
        return
    if test.memory and memory_free() < MEMORY_NEEDED:
        print(
            f"{mpi.name}: {name_of(test)}: not run: {MEMORY_NEEDED >> 30} GiB of memory must be"
            " free for it",
            flush=True,
        )
        count(mpi, test.suite, "not run")
        return
    alone(mpi, test, library)
    forms = [runs.OUTSIDE, runs.INSIDE] + ([runs.PREFIX] if "FILE" in test.arguments else [])
    good = all([check(mpi, test, test.ranks, form, library) for form in forms])
    if not test.memory and name_of(test) not in OWN_RANKS_ONLY:
        others = [
            ranks for ranks in RANKS
            if ranks != test.ranks and not (ranks == 2 and name_of(test) in NOT_BY_TWO)
        ]
        good = all([check(mpi, test, ranks, runs.OUTSIDE, library) for ranks in others]) and good
    if cluster and test.ranks > 1 and not test.memory:
        good = check(mpi, test, test.ranks, runs.HOSTS, library, cluster) and good
    known = reason(FAILS_WITH_CAIRN, mpi, test)
    count(mpi, test.suite, "passed" if good else "failed, as they must" if known else "failed")


def two_hosts():
    """None, and said, where none can be made."""
    hosts = VirtualCluster()
    try:
        hosts.up(2)
    except AssertionError as error:
        print(f"not run on two hosts: {error}", flush=True)
        hosts.down()
        return None
    atexit.register(hosts.down)
    return hosts


PLACE.mkdir(parents=True, exist_ok=True)
sources = suites.fetch(PLACE)
witness = runs.witness(PLACE)
nodes = two_hosts()
for kind in ("openmpi", "mpich"):
    wrappers = [f"{word}.{kind}" for word in ("mpicc", "mpirun", "mpicxx", "mpif77", "mpifort")]
    if not all(map(shutil.which, wrappers)):
        failures.append(
            f"{kind} is not here with all its compilers (scripts/setup.sh test installs it)")
        continue
    one_mpi = suites.Mpi(kind, *wrappers)
    for each in suites.Builder(one_mpi, sources, PLACE / kind).build():
        if not ONLY or any(word in name_of(each) for word in ONLY):
            one(one_mpi, each, witness, nodes if kind == "openmpi" else None)
for (kind, suite), numbers in counts.items():
    print(f"{kind}, {suite}: " + ", ".join(f"{number} {what}"
                                           for what, number in sorted(numbers.items())))
if failures:
    sys.exit("\n".join(["failed:", *failures]))
