"""The README's commands on a machine that has nothing but Debian: what `make` installs itself must
do, in whatever order its targets come. The trees are unpacked below the build directory (network,
root, 8 GB while it runs). CAIRN_BARE keeps what a run made in the named directory. With
CAIRN_BARE_CCACHE, which names this machine's cache of ccache, it takes minutes, and the machine is
a little less bare.

`make test` is ended once it compiles: the suite itself runs wherever else the tests do."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
PLACE = pathlib.Path(os.environ.get("CAIRN_BARE") or
                     pathlib.Path(os.environ["CAIRN_BUILD_DIR"]) / "bare")
SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
CACHE = os.environ.get("CAIRN_BARE_CCACHE", "")
MAKE = f"apt-get -qq update; apt-get -qq -y install make {'ccache' if CACHE else ''}"
SECONDS = 3600
SKIPPED = 77
ENTER = """
set -e
mount --bind "$tree" "$tree"
mount -t proc proc "$tree/proc"
mount --rbind /dev "$tree/dev"
mount -t tmpfs tmpfs "$tree/dev/shm"
mount -t tmpfs tmpfs "$tree/tmp"
if [ -n "$cache" ]; then
  mkdir -p "$tree/root/.cache/ccache"
  mount --bind "$cache" "$tree/root/.cache/ccache"
fi
exec chroot "$tree" env -i HOME=/root LANG=C.UTF-8 \
  PATH=/root/.local/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1 CCACHE_READONLY=1 \
  bash -eu -o pipefail -c "cd /root/cairn; $1"
"""


def need(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{words[0]}: failed\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def source_files():
    """Those of a release: what git knows, or all but the build where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
        capture_output=True, text=True, check=False)
    names = (listed.stdout.split("\0") if listed.returncode == 0 else
             [path.relative_to(SOURCE) for path in SOURCE.rglob("*")])
    return [name for name in map(pathlib.Path, filter(None, names))
            if name.parts[:1] not in (("build",), ()) and (SOURCE / name).is_file()]


def end(process):
    """Ends a script inside; ninja then ends its compilers."""
    os.killpg(process.pid, signal.SIGTERM)
    return process.communicate()[0]


class Machine:
    """A tree of Debian, with the sources in /root/cairn."""

    def __init__(self, name):
        self.root = PLACE / name

    def make_anew(self):
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.parent.mkdir(parents=True, exist_ok=True)
        need(["debootstrap", "--variant=minbase", SUITE, self.root, MIRROR])
        # This machine's way to the packages.
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        settings = need(["apt-config", "dump", "Acquire"])
        (self.root / "etc/apt/apt.conf.d/99way").write_text(settings)
        sources = self.root / "root/cairn"
        sources.mkdir()
        for name in source_files():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, sources / name, follow_symlinks=False)
        return self

    def copy(self, name):
        other = Machine(name)
        shutil.rmtree(other.root, ignore_errors=True)
        need(["cp", "-a", "--reflink=auto", self.root, other.root])
        return other

    def start(self, script, **options):
        return subprocess.Popen(
            ["unshare", "-m", "--propagation", "private", "bash", "-c", ENTER, "enter", script],
            env={**os.environ, "tree": str(self.root), "cache": CACHE}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            **options)

    def run(self, script):
        """Exit code and output; what it took is shown."""
        began = time.monotonic()
        process = self.start(script)
        try:
            text, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            text = end(process) + f"\nended after {SECONDS} s"
        print(f"== {script}: {time.monotonic() - began:.0f} s, exit code {process.returncode}")
        print(text[-3000:], flush=True)
        return process.returncode, text


class BareMachine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bare = Machine("bare").make_anew()
        cls.made = cls.bare.copy("made")
        cls.need_make()

    @classmethod
    def tearDownClass(cls):
        if "CAIRN_BARE" not in os.environ:
            shutil.rmtree(PLACE, ignore_errors=True)

    @classmethod
    def need_make(cls):
        code, cls.said = cls.made.run(f"{MAKE}; make")
        if code != 0:
            raise AssertionError("make: failed")

    def last_lines(self, text):
        """Those that `make` and `make install` end with."""
        lines = text.splitlines()[-3:]
        for line, start in zip(lines, ("MPIs served: ", "cairn bench: ", "missing: "), strict=True):
            self.assertTrue(line.startswith(start), text[-500:])
        return lines

    def test_1_make_says_what_is_missing(self):
        served, kernels, missing = self.last_lines(self.said)
        self.assertIn("none", served)
        self.assertIn("no kernels", kernels)
        self.assertIn("Open MPI (mpicc.openmpi)", missing)
        self.assertIn("run scripts/setup.sh build bench, then make again", missing)

    def test_2_demo_after_make(self):
        """The demo installs an MPI, which the build did not see."""
        code, said = self.made.copy("demo").run("make demo")
        self.assertEqual(code, 0)
        self.assertIn("checkpoint", said)

    def test_3_install_then_bench(self):
        machine = self.made.copy("install")
        code, said = machine.run("make install")
        self.assertEqual(code, 0)
        self.last_lines(said)
        code, said = machine.run("cairn bench run noise || echo refused")
        self.assertRegex(said, r"Python|kernels")
        self.assertTrue(said.endswith("refused\n"))
        command = re.search("run (scripts/setup.sh [a-z ]*), then make again", self.said)[1]
        code, said = machine.run(f"{command}; make install")
        self.assertEqual(code, 0)
        served, kernels, missing = self.last_lines(said)
        self.assertIn("Open MPI and MPICH", served)
        self.assertIn("Open MPI and MPICH, with HDF5", kernels)
        self.assertEqual(missing, "missing: nothing")
        code, said = machine.run("cd /root; cairn bench run noise --rounds 2")
        self.assertEqual(code, 0)
        code, said = machine.run("make uninstall; ! find /usr/local -name '*cairn*' | grep .")
        self.assertEqual(code, 0)

    def test_4_test_on_a_bare_machine(self):
        """Until it compiles: by then its set-up and configuration are over."""
        began = time.monotonic()
        process = self.bare.start(f"{MAKE}; make test")
        text = ""
        for line in process.stdout:
            text += line
            if re.match(r"\[[0-9]+/[0-9]+\] Building", line):
                break
        print(f"== make test compiles after {time.monotonic() - began:.0f} s", flush=True)
        end(process)
        self.assertRegex(text, r"\[[0-9]+/[0-9]+\] Building", text[-3000:])
        code, said = self.bare.run("ctest --test-dir build/release -N | tail -1")
        self.assertEqual(code, 0)
        self.assertGreater(int(said.split(":")[1]), 300)


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("skipped: needs root and debootstrap (scripts/setup.sh slow)")
        sys.exit(SKIPPED)
    if os.environ.get("CAIRN_SANITIZE"):
        print("skipped: it builds a release of its own")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
