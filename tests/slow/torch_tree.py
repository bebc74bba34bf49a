"""PyTorch without CUDA, as Debian 13 packages it (2.6): its distribution unpacked below the build
directory at the first run (network, root, 1.4 GB). Programs run inside with the sources and the
build at their own places."""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["CAIRN_BUILD_DIR"])
LIBRARIES = pathlib.Path(os.environ["CAIRN_LIB_DIR"])
CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
SKIPPED = 77
SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
SYSTEM = pathlib.Path("/usr/lib/x86_64-linux-gnu")
# Of this machine's Open MPI, which programs inside use: its parts, and what they are linked with.
MPI = SYSTEM / "libmpi.so.40"
MPI_PARTS = (SYSTEM / "openmpi/lib/openmpi3", SYSTEM / "pmix2/lib/pmix")
ENTER = """
set -e
mount --bind "$tree" "$tree"
mount -t proc proc "$tree/proc"
mount --rbind /dev "$tree/dev"
mount --rbind /sys "$tree/sys"
mount -t tmpfs tmpfs "$tree/tmp"
for place in "$source" "$build" "$folder"; do
  mkdir -p "$tree$place"
  mount --rbind "$place" "$tree$place"
done
for place in $parts; do
  mkdir -p "$tree$place"
  mount --bind "$place" "$tree$place"
done
cp /etc/hosts "$tree/etc/hosts"
cd "$tree$folder"
exec chroot "$tree" sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"""


class Tree:
    def __init__(self):
        self.root = BUILD / "torch" / SUITE
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            print("skipped: needs root and debootstrap (scripts/setup.sh slow)")
            sys.exit(SKIPPED)
        if not (self.root / "complete").exists():
            self._make()
        self._copy_libraries()

    def _make(self):
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        made = subprocess.run([
            "debootstrap", "--variant=minbase", "--include=python3-torch", SUITE, self.root, MIRROR
        ], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            sys.exit(
                "debootstrap: failed (Debian's packages must be"
                f" reachable)\n{made.stdout[-2000:]}{made.stderr[-2000:]}"
            )
        for folder in ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc",
                       "usr/share/locale", "usr/lib/libtorch-test"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        (self.root / "complete").touch()

    def _copy_libraries(self):
        """What the command, and Open MPI, are linked with here and Debian 13 has not."""
        own = BUILD / "torch" / "libraries"
        own.mkdir(parents=True, exist_ok=True)
        users = [CAIRN, MPI, *(part for folder in MPI_PARTS for part in folder.glob("*.so"))]
        shown = subprocess.run(["ldd", *users], capture_output=True, text=True, check=True).stdout
        for line in shown.splitlines():
            name, arrow, path = line.strip().partition(" => ")
            path = path.split(" ")[0]
            has = any((self.root / folder / name).exists()
                      for folder in ("usr/lib/x86_64-linux-gnu", "usr/lib"))
            if arrow and path.startswith("/") and not has and not path.startswith(str(BUILD)):
                shutil.copy(path, own / name)
        shutil.copy(MPI, own / MPI.name)

    def command(self, command, folder, environment):
        """That of a process inside, in a directory of this machine."""
        place = {
            "tree": self.root, "source": SOURCE, "build": BUILD, "folder": folder,
            "parts": " ".join(map(str, MPI_PARTS))
        }
        inside = {
            "CAIRN_LIBRARY": LIBRARIES / "libcairn.so", "PYTHONPATH": SOURCE / "bindings/python",
            "LD_LIBRARY_PATH": BUILD / "torch" / "libraries", "USE_LIBUV": "0",
            "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment
        }
        return [
            "env", *(f"{name}={value}" for name, value in place.items()), "unshare", "-m",
            "--propagation", "private", "bash", "-c", ENTER, "enter", "env",
            *(f"{name}={value}" for name, value in inside.items()), *map(str, command)
        ]

    def start(self, command, folder, environment, **options):
        return subprocess.Popen(self.command(command, folder, environment), **options)
