"""MPI-IO test suites that nobody here wrote, fetched and built: ROMIO's own tests and those of
MPICH for files, in C, C++ and Fortran. Both come in MPICH's source package."""

import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from dataclasses import dataclass

VERSION = "4.0.2"
ARCHIVE = f"mpich_{VERSION}.orig.tar.xz"
SHA256 = "b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860"
MIRROR = "http://deb.debian.org/debian/pool/main/m/mpich/"
MPICH_FOLDERS = ("io", "errors/io", "f77/io", "f90/io", "f08/io", "cxx/io", "errors/f77/io",
                 "errors/f90/io", "errors/f08/io", "errors/cxx/io")
FORTRAN = (".f", ".f90")


@dataclass
class Mpi:
    """Compiler wrappers and the launcher; one that is empty is not there."""
    name: str
    cc: str
    mpirun: str
    cxx: str = ""
    f77: str = ""
    fc: str = ""


@dataclass
class Test:
    suite: str
    name: str
    ranks: int  # as its authors start it
    arguments: tuple = ()
    memory: bool = False  # it needs gigabytes
    says: bool = True  # "No Errors", if there are none
    program: pathlib.Path = None
    why_not: str = ""  # not built: what the compiler says
    files: tuple = ()  # it wants to find in its directory
    inside: bool = False  # it reads its own program, which lies there then


# ROMIO's: how runtests.in starts them, with FILE for the file's name; those that it does not name,
# as their README says.
ROMIO = {
    "simple": (4, "-fname FILE"), "psimple": (4, "-fname FILE"), "perf": (4, "-fname FILE"),
    "async": (4, "-fname FILE"), "async-multiple": (4, "-fname FILE"), "atomicity": (8,
                                                                                     "-fname FILE"),
    "coll_test": (4, "-fname FILE"), "coll_perf": (4, "-fname FILE"), "misc": (4, "-fname FILE"),
    "file_info": (4, "-fname FILE"), "excl": (4, "-fname FILE"), "creat_excl": (4, "-fname FILE"),
    "large_array": (1, "-fname FILE"), "large_file": (1, "-fname FILE"),
    "noncontig": (2, "-fname FILE"), "i_noncontig": (2, "-fname FILE"),
    "noncontig_coll": (2, "-fname FILE"), "noncontig_coll2": (4, "-fname FILE"),
    "split_coll": (4, "-fname FILE"), "shared_fp": (4, "-fname FILE"),
    "ordered_fp": (4, "-fname FILE"), "error": (1, "-fname FILE"), "status": (1, "-fname FILE"),
    "aggregation1": (4, "-h -f FILE"), "aggregation2": (4, "FILE"), "hindexed": (4, "FILE"),
    "types_with_zeros": (2, "FILE"), "darray_read": (4, "FILE"), "big_extents": (4, "FILE"),
    "external32": (1, ""), "syshints": (1, "test_hintfile"), "fcoll_test": (4, "-fname FILE"),
    "pfcoll_test": (4, "-fname FILE"), "fmisc": (4, "-fname FILE"), "fperf": (4, "-fname FILE"),
}
ROMIO_LARGE = ("large_array", "large_file")
# Slips in the sources, because of which they compile nowhere; 14 GB to write are made 220 MB; a
# file in /tmp becomes one that is covered.
REPAIRS = {
    "file_errhdl.c": (("/tmp/datafile", "datafile"), ), "coll_perf.c": (("= 128 *", "= 32 *"), ),
    "uerrhandf08.f90": (("MPI_Errhandles", "MPI_Errhandler"), ("integer fh\n",
                                                               "type(MPI_File) fh\n")),
    "c2f902cio.c": (("return MTestReturnValue(errs)", "return 0"), )
}
# Of the harness that makes many of MPICH's tests: files of 4000 pieces with messages in between for
# each, for which MPICH's ranks wait by spinning, which takes minutes where they share processors.
# 100 pieces do.
FEWER = "1,100,  4000,8,"
# What MPI 3.0 and MPICH 5 have removed, for tests that still use it, as far as they do.
REMOVED = """
#include <mpi.h>
#define MPIO_Request MPI_Request
#define MPIO_Wait MPI_Wait
#define MPIO_Test MPI_Test
#undef MPI_LB
#undef MPI_UB
#define MPI_LB MPI_CHAR
#define MPI_UB MPI_SHORT
static int create_bounded(int count, int* lengths, MPI_Aint* places, MPI_Datatype* types,
                          MPI_Datatype* made) {
  MPI_Datatype inner;
  if (count != 3 || types[0] != MPI_LB || types[2] != MPI_UB) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Type_create_struct(1, lengths + 1, places + 1, types + 1, &inner);
  return MPI_Type_create_resized(inner, places[0], places[2] - places[0], made);
}
#define MPI_Type_create_struct create_bounded
"""
# What ROMIO's configure puts into its templates.
TEMPLATE = {
    "@F77MPIOINC@": "", "@FORTRAN_MPI_OFFSET@": "integer*8", "@F77IARGC@": "iargc()",
    "@F77GETARG@": "call getarg(i,str)", "@LL@": "lld"
}


def fetch(place):
    """The unpacked sources. Ends the test where they cannot be had: without them it says
    nothing."""
    tree = place / f"mpich-{VERSION}"
    if (tree / "complete").exists():
        return tree
    archive = place / ARCHIVE
    if not archive.exists() or hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        download(archive)
    shutil.rmtree(tree, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(place)
    (tree / "complete").touch()
    return tree


def mirrors():
    """Where apt gets packages of that name from, then Debian itself."""
    asked = subprocess.run(["apt-get", "--print-uris", "download", "mpich"], capture_output=True,
                           text=True, check=False, cwd="/") if shutil.which("apt-get") else None
    found = re.findall(r"'(https?://\S+/)mpich_\S+\.deb'", asked.stdout) if asked else []
    return [*found, MIRROR]


def download(archive):
    tried = []
    for mirror in mirrors():
        try:
            with urllib.request.urlopen(mirror + ARCHIVE, timeout=300) as source:
                content = source.read()
        except OSError as error:
            tried.append(f"{mirror + ARCHIVE}: {error}")
            continue
        if hashlib.sha256(content).hexdigest() == SHA256:
            archive.write_bytes(content)
            return
        tried.append(f"{mirror + ARCHIVE}: another file than was expected")
    sys.exit("the sources of MPICH's tests cannot be had (put them into " + str(archive) + "):\n" +
             "\n".join(tried))


def command(words, folder, seconds=600, log=None):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=seconds, check=False)
    if log is not None:
        log.write_text(done.stdout + done.stderr)
    return done


class Builder:
    """Builds both suites for one MPI below a folder of its own."""

    def __init__(self, mpi, sources, place):
        self.mpi = mpi
        self.sources = sources
        self.place = place
        self.tests = []
        self.mpich = place / "mpich"
        self.theirs = sources / "test/mpi"
        self.objects = {}

    def build(self):
        self.configure()
        self.romio()
        for folder in MPICH_FOLDERS:
            self.mpich_folder(folder)
        return self.tests

    def compile(self, test, sources, flags=(), helpers=()):
        """One program of one or two languages: linked by the compiler of the first source's."""
        test.program = self.place / "programs" / test.suite.replace("/", "-") / test.name
        self.tests.append(test)
        if test.program.exists():
            return
        test.program.parent.mkdir(parents=True, exist_ok=True)
        objects = []
        for source in sources:
            made = self.object(source, flags, test.program.parent / f"{test.name}-{source.stem}.o")
            if isinstance(made, str):
                test.why_not = made
                return
            objects.append(made)
        if helpers and not all(isinstance(helper, pathlib.Path) for helper in helpers):
            test.why_not = next(helper for helper in helpers if isinstance(helper, str))
            return
        linked = command([self.compiler(sources[0]), *objects, *helpers, "-lm", "-o", test.program],
                         self.place)
        if linked.returncode != 0:
            test.why_not = linked.stderr[-1000:]

    def compiler(self, source):
        return {".c": self.mpi.cc, ".cxx": self.mpi.cxx, ".f": self.mpi.f77,
                ".f90": self.mpi.fc}[source.suffix]

    def object(self, source, flags, at):
        """Its place, or why there is none."""
        compiler = self.compiler(source)
        if not compiler:
            return f"{self.mpi.name} has no compiler for {source.suffix}"
        text = source.read_text(errors="replace")
        repaired = text
        for wrong, right in REPAIRS.get(source.name, ()):
            repaired = repaired.replace(wrong, right)
        if "fparms" in text:
            repaired = repaired.replace("1,4000,  4000,8,", FEWER)
        if repaired != text:
            source = at.parent / source.name
            source.write_text(repaired)
        if source.suffix in FORTRAN:
            flags = (*flags, "-fallow-argument-mismatch", "-J", at.parent)
        compile_it = [compiler, "-g", "-O1", "-w", *flags, "-c", source, "-o", at]
        done = command(compile_it, at.parent)
        if done.returncode != 0 and ("MPI_LB" in text or "MPIO_Request" in text):
            header = at.parent / "removed.h"
            header.write_text(REMOVED)
            done = command([*compile_it, "-include", header], at.parent)
        return at if done.returncode == 0 else done.stderr[:1000]

    # ---- ROMIO's
    # -----------------------------------------------------------------------------------

    def romio(self):
        folder = self.sources / "src/mpi/romio/test"
        made = self.place / "romio"
        made.mkdir(parents=True, exist_ok=True)
        for name, (ranks, arguments) in ROMIO.items():
            source = folder / f"{name}.c"
            for suffix in (".c", ".f"):
                template = folder / f"{name}{suffix}.in"
                if template.exists():
                    source = made / f"{name}{suffix}"
                    text = template.read_text()
                    for word, value in TEMPLATE.items():
                        text = text.replace(word, value)
                    source.write_text(text)
            files = (folder / "test_hintfile",) if name == "syshints" else ()
            says = "No Errors" in source.read_text()
            test = Test("romio", name, ranks, tuple(shlex.split(arguments)), name in ROMIO_LARGE,
                        says, files=files)
            self.compile(test, [source])

    # ---- MPICH's
    # -----------------------------------------------------------------------------------

    def configure(self):
        """Their configure makes headers, lists of tests, and what makes sources out of
        templates."""
        if (self.mpich / "config.status").exists():
            return
        self.mpich.mkdir(parents=True, exist_ok=True)
        mpi = self.mpi
        fortran = [
            f"MPIF77={mpi.f77}", f"MPIFC={mpi.fc}", f"F77={mpi.f77}", f"FC={mpi.fc}",
            "FFLAGS=-fallow-argument-mismatch", "FCFLAGS=-fallow-argument-mismatch"
        ] if mpi.fc else ["--disable-fortran"]
        cxx = [f"MPICXX={mpi.cxx}", f"CXX={mpi.cxx}"] if mpi.cxx else ["--disable-cxx"]
        done = command([
            self.theirs / "configure", f"--srcdir={self.theirs}", "--with-mpi=/usr",
            "--disable-spawn", "--disable-dependency-tracking", f"MPICC={mpi.cc}", f"CC={mpi.cc}",
            *cxx, *fortran
        ], self.mpich, 1200, self.place / "configure.log")
        if done.returncode != 0:
            sys.exit(
                f"{mpi.name}: their configure failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def helpers(self, suite):
        """What their tests are linked with; each once."""
        kind = next((word for word in ("f77", "f90", "f08", "cxx") if word in suite.split("/")),
                    "c")
        if kind not in self.objects:
            sources = {
                "c": ("mtest_single.c", "mtest.c", "mtest_common.c"), "f77": ("mtest_f77.f", ),
                "f90": ("mtest_f90.f90", ), "f08": ("mtest_f08.f90", ),
                "cxx": ("mtest_cxx.cxx", "mtest_common.c")
            }[kind]
            made = self.place / "helpers" / kind
            made.mkdir(parents=True, exist_ok=True)
            self.objects[kind] = [
                self.object(self.theirs / "util" / name, self.flags(suite, made),
                            made / f"{name}.o") for name in sources
            ]
        return self.objects[kind]

    def flags(self, suite, here=None):
        own = self.mpich / suite
        folders = [own, self.theirs / suite, self.mpich / "include", self.theirs / "include",
                   self.theirs / "dtpools/include", self.mpich / "dtpools/include"]
        if "cxx" in suite and here is not None:
            # Windows are none of ours, and not every MPI's C++ has all of them.
            config = (self.mpich / "include/mpitestconf.h").read_text()
            (here / "mpitestconf.h").write_text(config.replace("#define HAVE_MPI_WIN_CREATE", "//"))
            folders.insert(0, here)
        return [f"-I{folder}" for folder in folders]

    def mpich_folder(self, suite):
        own = self.mpich / suite
        lists = [folder / "testlist"
                 for folder in (own, self.theirs / suite)] + [self.theirs / suite / "testlist.in"]
        listed = next(path for path in lists if path.exists()).read_text()
        if (own / "Makefile").exists() and "gen-src-stamp:" in (own / "Makefile").read_text():
            command(["make", "gen-src-stamp"], own)
        for line in listed.splitlines():
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            arguments = tuple(word[4:] for word in words[2:] if word.startswith("arg="))
            memory = any(word.startswith("mem=") for word in words[2:])
            test = Test(f"mpich/{suite}", words[0], int(words[1]), arguments, memory,
                        inside=words[0] == "zero_count")
            sources = self.sources_of(suite, words[0])
            if not sources:
                test.why_not = "there is no source of it"
                self.tests.append(test)
                continue
            plain_c = all(source.suffix == ".c" for source in sources)
            self.compile(test, sources, self.flags(suite), self.helpers("" if plain_c else suite))

    def sources_of(self, suite, name):
        beside = {"c2f2ciof": "c2f2cio.c", "c2f2ciof90": "c2f902cio.c"}.get(name)
        for folder in (self.mpich / suite, self.theirs / suite):
            for suffix in (".c", ".cxx", *FORTRAN):
                if (folder / (name + suffix)).exists():
                    return [folder /
                            (name + suffix)] + ([self.theirs / suite / beside] if beside else [])
        return []
