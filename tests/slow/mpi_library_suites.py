"""Gets the sources of HDF5, PnetCDF and netCDF as Debian packages them and builds their parallel
tests for Debian's MPIs. What was built stays below the build directory."""

import pathlib
import re
import shutil
import subprocess
import sys

# Built from one file each; testphdf5 from several.
HDF5 = ("t_mpi", "t_bigio", "t_cache_image", "t_pread", "t_pshutdown", "t_prestart", "t_init_term",
        "t_shapesame", "t_filters_parallel", "t_pflush1", "t_pflush2")
TESTPHDF5 = ("testphdf5", "t_dset", "t_file", "t_file_image", "t_mdset", "t_ph5basic",
             "t_coll_chunk", "t_span_tree", "t_chunk_alloc", "t_filter_read", "t_prop",
             "t_coll_md_read")
NETCDF = ("nc_test4/tst_mode", "nc_test4/tst_mpi_parallel", "nc_test4/tst_parallel",
          "nc_test4/tst_parallel3", "nc_test4/tst_parallel4", "nc_test4/tst_parallel5",
          "nc_test4/tst_parallel6", "nc_test4/tst_nc4perf", "nc_test4/tst_simplerw_coll_r",
          "nc_test4/tst_parallel_zlib", "nc_test4/tst_parallel_compress",
          "nc_test4/tst_quantize_par", "h5_test/tst_h_par", "h5_test/tst_h_par_compress")
# What these tests need of what netCDF's configure would find out.
NETCDF_CONFIG = """
#include <stdint.h>
#include <sys/time.h>
#define HAVE_MODE_T 1
#define HAVE_PTRDIFF_T 1
#define HAVE_SSIZE_T 1
#define HAVE_STRDUP 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HDF5_HAS_PAR_FILTERS 1
#define HDF5_SUPPORTS_PAR_FILTERS 1
#define USE_HDF5 1
#define USE_NETCDF4 1
#define USE_PARALLEL 1
#define USE_PARALLEL4 1
#define CHUNK_CACHE_NELEMS 4133
#define CHUNK_CACHE_PREEMPTION 0.75
#define CHUNK_CACHE_SIZE 16777216
#define TEMP_LARGE "."
"""


def need(command, seconds, what, **options):
    """Without it there is no test: that is a failure, and says so."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              errors="replace", timeout=seconds, check=False, **options)
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        sys.exit(f"{what}: failed: {error}")
    if done.returncode != 0:
        sys.exit(
            f"{what}: failed (scripts/setup.sh slow installs what is needed; a Debian mirror must"
            f" be reachable)\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


class Suites:
    def __init__(self, place):
        self.place = place
        self.libraries = pathlib.Path(
            "/usr/lib",
            need(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], 60, "dpkg").strip())
        place.mkdir(parents=True, exist_ok=True)

    def source(self, package, of=None):
        """The sources of `package`, in the version that the installed package `of` was built
        from."""
        wanted = package
        if of:
            wanted += "=" + need(["dpkg-query", "-W", "-f", "${source:Version}", of], 60,
                                 f"the version of {of}")
        unpacked = self.place / package
        said = unpacked / "complete"
        if said.exists() and said.read_text() == wanted:
            return unpacked
        for outdated in (unpacked, *self.place.glob(f"{package}-*")):
            shutil.rmtree(outdated, ignore_errors=True)
        fetched = self.place / f"{package}-fetched"
        fetched.mkdir()
        need([*self.apt(), "source", wanted], 600, f"apt-get source {wanted}", cwd=fetched)
        next(entry for entry in fetched.iterdir() if entry.is_dir()).rename(unpacked)
        shutil.rmtree(fetched)
        said.write_text(wanted)
        return unpacked

    def apt(self):
        """apt-get with lists of its own: the system's need not name sources, and stay as they
        are."""
        own = self.place / "apt"
        command = [
            "apt-get", "-q", "-o", f"Dir::Etc::SourceList={own}/sources.list", "-o",
            "Dir::Etc::SourceParts=-", "-o", f"Dir::State::Lists={own}/lists", "-o",
            f"Dir::Cache={own}/cache", "-o", "APT::Sandbox::User="
        ]
        if not (own / "complete").exists():
            for folder in ("lists/partial", "cache"):
                (own / folder).mkdir(parents=True, exist_ok=True)
            targets = need([
                "apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)",
                "Created-By: Packages", "Origin: Debian"
            ], 60, "apt-get indextargets")
            lines = sorted(set(
                targets.splitlines())) or ["http://deb.debian.org/debian bookworm main"]
            (own / "sources.list").write_text("".join(f"deb-src {line}\n" for line in lines))
            need([*command, "update"], 300, "apt-get update")
            (own / "complete").touch()
        return command

    def program(self, mpi, sources, flags, libraries, program):
        """One program, unless it is there."""
        if not program.exists():
            need([f"mpicc.{mpi}", "-O1", "-w", *flags, *sources, *libraries, "-o", program], 300,
                 f"{program.name} for {mpi}")

    def hdf5(self, mpi):
        """The programs of testpar/, linked to Debian's library, which exports what they need of its
        inside."""
        source, place = self.source("hdf5", f"libhdf5-{mpi}-dev"), self.place / f"hdf5-{mpi}"
        place.mkdir(exist_ok=True)
        (place / "H5srcdir_str.h").write_text('static const char *config_srcdir = ".";\n')
        # NDEBUG as in the library: structures that both look into depend on it.
        flags = [
            "-DNDEBUG", *(f"-I{folder}"
                          for folder in (place, source / "src", source / "test", source / "testpar",
                                         f"/usr/include/hdf5/{mpi}"))
        ]
        support = place / "libh5test.a"
        if not support.exists():
            objects = [place / f"{name}.o" for name in ("h5test", "testframe", "cache_common")]
            for compiled in objects:
                need([
                    f"mpicc.{mpi}", "-O1", "-w", *flags, "-c",
                    source / "test" / f"{compiled.stem}.c", "-o", compiled
                ], 300, f"{compiled.stem} for {mpi}")
            need(["ar", "rc", support, *objects], 60, "ar")
        libraries = [support, self.libraries / f"libhdf5_{mpi}.so", "-lz", "-ldl", "-lm"]
        for name in HDF5:
            self.program(mpi, [source / "testpar" / f"{name}.c"], flags, libraries, place / name)
        self.program(mpi, [source / "testpar" / f"{name}.c" for name in TESTPHDF5], flags,
                     libraries, place / "testphdf5")
        return place

    def netcdf(self):
        """The parallel tests of netCDF-4, linked to Debian's parallel library, which is Open MPI's.
        Its own source package differs from netcdf's in packaging only."""
        source, place = self.source("netcdf"), self.place / "netcdf-openmpi"
        installed, found = (re.search(r"(?:\d+:)?([\d.]+)", text).group(1) for text in (
            need(["dpkg-query", "-W", "-f", "${Version}", "libnetcdf-mpi-dev"], 60,
                 "the version of libnetcdf-mpi-dev"),
            need(["dpkg-parsechangelog", "-S", "Version", "-l", source /
                  "debian/changelog"], 60, "the version of netcdf")))
        if installed != found:
            sys.exit(f"netCDF {installed} is installed, and the sources are of {found}")
        place.mkdir(exist_ok=True)
        (place / "config.h").write_text(f'#define VERSION "{found}"{NETCDF_CONFIG}')
        flags = [
            "-include", place / "config.h",
            *(f"-I{folder}" for folder in (place, self.libraries / "netcdf/mpi/include",
                                           source / "include", "/usr/include/hdf5/openmpi"))
        ]
        libraries = [
            self.libraries / f"lib{name}.so"
            for name in ("netcdf_mpi", "hdf5_openmpi_hl", "hdf5_openmpi")
        ] + ["-lm"]
        for name in NETCDF:
            self.program("openmpi", [source / f"{name}.c"], flags, libraries,
                         place / pathlib.Path(name).name)
        return place

    def pnetcdf(self, mpi):
        """PnetCDF with its tests, which come with its tools and use its configuration."""
        source, place = self.source("pnetcdf"), self.place / f"pnetcdf-{mpi}"
        if (place / "complete").exists():
            return place
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if not (source / "configure").exists():
            need(["autoreconf", "-i"], 600, "autoreconf of PnetCDF", cwd=source)
        fortran = "-O1 -w -fallow-argument-mismatch"
        need([
            source / "configure", f"MPICC=mpicc.{mpi}", "MPICXX=no", f"MPIF77=mpif77.{mpi}",
            f"MPIF90=mpif90.{mpi}", "CFLAGS=-O1 -w", f"FFLAGS={fortran}", f"FCFLAGS={fortran}",
            "--disable-cxx", "--disable-doxygen", "--disable-shared", "--enable-burst-buffering",
            "--enable-subfiling"
        ], 900, f"configure of PnetCDF for {mpi}", cwd=place)
        need(["make", "-s", "-j2"], 1800, f"make of PnetCDF for {mpi}", cwd=place)
        need(["make", "-s", "-j2", "tests"], 1800, f"make tests of PnetCDF for {mpi}", cwd=place)
        (place / "complete").touch()
        return place
