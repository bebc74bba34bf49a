"""Tests in a virtual machine with an NVDIMM (testbeds/nvdimm-vm): start, work, pull the plug,
look."""

import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["CAIRN_BUILD_DIR"])
CAIRN = BUILD / "bin/cairn"
PROGRAMS = pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "vm"
CACHE = os.environ.get("CAIRN_VM_CACHE", str(SOURCE / "build/nvdimm-vm"))


class Failed(Exception):
    pass


def require(condition, what, detail=""):
    if not condition:
        raise Failed(f"{what}\n{detail}")


class Machine:
    """One NVDIMM, and machines that are started on it one after the other."""

    def __init__(self, mode, size=256, **options):
        self.scratch = tempfile.TemporaryDirectory(prefix="cairn-vm-")
        self.image = pathlib.Path(self.scratch.name) / "nvdimm.img"
        self.options = [f"--mode={mode}", f"--size={size}"]
        self.options += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        self.starts = 0

    def run(self, script, expect=0, **options):
        """Runs a bash script inside; returns its output. expect: its exit code, None for any."""
        self.starts += 1
        console = pathlib.Path(self.scratch.name) / f"console.{self.starts}"
        command = [
            sys.executable, SOURCE / "testbeds/nvdimm-vm/nvdimm_vm.py", f"--image={self.image}",
            f"--cache={CACHE}", f"--console={console}", "--timeout=3600", *self.options
        ]
        command += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        path = f"{CAIRN.parent}:/usr/sbin:/usr/bin:/sbin:/bin"
        command += [f"--env=PATH={path}", "--env=HOME=/root", "--", "bash", "-c", script]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False,
                              preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGTERM))
        last = console.read_text(errors="replace").splitlines()[-20:] if console.exists() else []
        require(expect is None or done.returncode == expect,
                f"exit code {done.returncode}, not {expect}: {script}",
                done.stdout[-6000:] + "\n-- console --\n" + "\n".join(last))
        print(f"-- start {self.starts} -- {script.strip().splitlines()[-1]}\n{done.stdout[-300:]}",
              flush=True)
        return done.stdout

    def write_until_the_plug(self, pool, durability, first, steps, before=""):
        """Lets power_program work from step `first` on, and pulls the plug after `steps` more;
        returns the last step that was acknowledged."""
        out = self.run(f"{before}\n{PROGRAMS}/power_program write {pool} {durability} {first}",
                       expect=137, pull_plug_on=f"ack {first + steps}\n", pull_plug_delay=0.3)
        acks = [int(n) for n in re.findall(r"^ack (\d+)\r?\n", out, re.M)]
        require(acks == list(range(first, first + len(acks))) and len(acks) >= steps,
                "steps are missing", out[-2000:])
        return acks[-1]


def verify(pool, last):
    """A script that must succeed after the plug was pulled."""
    return (f"{PROGRAMS}/power_program verify {pool} {last} && cairn pool check {pool} && "
            f"{PROGRAMS}/power_program verify {pool} {last}")


def main(*tests):
    """Runs the functions, or those named on the command line."""
    if shutil.which("qemu-system-x86_64") is None:
        print("qemu-system-x86_64 is missing: scripts/setup.sh slow", file=sys.stderr)
        sys.exit(1)
    failures = 0
    for test in tests:
        if len(sys.argv) > 1 and test.__name__ not in sys.argv[1:]:
            continue
        print(f"==== {test.__name__}", flush=True)
        try:
            test()
        except Failed as failure:
            failures += 1
            print(f"{test.__name__} FAILED: {failure}", flush=True)
    sys.exit(1 if failures else 0)
