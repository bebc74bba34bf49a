"""The machine as a process: qemu's command line, its start, and what ends it."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from guest import STARTED

# The kernel's tests of its own checksums take seconds here, and have hung under emulation.
KERNEL_OPTIONS = "console=ttyS0 no_timer_check panic=-1 quiet loglevel=4 cryptomgr.notests"
# A start takes 10 to 30 s of processor time, however long that lasts on a busy host. A machine that
# takes more has hung; it spins, or it does nothing at all.
START_CPU_S = 120
START_S = 1500
MIB = 1 << 20
LABEL = 2 * MIB


def end_with_parent():
    """For the machine's process: it must not outlive us, however we end."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def qemu_command(arguments, kernel, initrd, console, status):
    size = arguments.size * MIB
    image = pathlib.Path(arguments.image)
    if not image.exists():
        image.parent.mkdir(parents=True, exist_ok=True)
        with open(image, "wb") as file:
            file.truncate(size + LABEL)
    size = image.stat().st_size
    backend = f"memory-backend-file,id=nv,share=on,mem-path={image},size={size}"
    if arguments.mode == "virtio":
        device = ["-device", "virtio-pmem-pci,id=nvdimm0,memdev=nv"]
    else:
        device = ["-device", f"nvdimm,id=nvdimm0,memdev=nv,label-size={LABEL}"]
    return [
        arguments.qemu, "-accel", "tcg,thread=multi", "-cpu", arguments.cpu, "-machine",
        "pc,nvdimm=on", "-smp",
        str(arguments.cpus), "-m",
        f"{arguments.memory}M,slots=2,maxmem={arguments.memory * MIB + 2 * size}B", "-object",
        backend, *device, "-virtfs",
        "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap", "-kernel",
        str(kernel), "-initrd", initrd, "-append", KERNEL_OPTIONS, "-nographic", "-no-reboot",
        "-nodefaults", "-serial", f"file:{console}", "-serial", "stdio", "-serial", f"file:{status}"
    ]


def has_started(console):
    return os.path.exists(console) and STARTED in pathlib.Path(console).read_bytes()


class Machine:
    def __init__(self, command, arguments):
        self.arguments = arguments
        self.ended_by = None  # why we killed it
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True,
                                        preexec_fn=end_with_parent)
        self.errors = b""
        self.reader = threading.Thread(target=self.read_errors)
        self.reader.start()

    def read_errors(self):
        self.errors = self.process.stderr.read()

    def cpu_seconds(self):
        try:
            stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:  # it has just ended
            return 0
        words = stat.rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def watch_start(self, console):
        """Until the machine has started, or has had enough time to."""
        began = time.monotonic()
        while self.process.poll() is None and not has_started(console):
            if self.cpu_seconds() > START_CPU_S or time.monotonic() - began > START_S:
                self.kill("hung")
                return
            time.sleep(1)

    def kill(self, why):
        if self.process.poll() is None and self.ended_by is None:
            self.ended_by = why
            os.kill(self.process.pid, signal.SIGKILL)

    def run(self, console):
        timers = [threading.Timer(self.arguments.timeout, self.kill, ("timeout",)),
                  threading.Timer(0, self.watch_start, (console,))]
        if self.arguments.pull_plug_after is not None:
            timers.append(threading.Timer(self.arguments.pull_plug_after, self.kill, ("plug",)))
        for timer in timers:
            timer.daemon = True
            timer.start()
        wanted = self.arguments.pull_plug_on.encode() if self.arguments.pull_plug_on else None
        seen = b""
        while piece := self.process.stdout.read1(65536):
            if wanted and self.ended_by is None:
                seen += piece
                if wanted in seen:
                    time.sleep(self.arguments.pull_plug_delay)
                    self.kill("plug")
                seen = seen[-len(wanted):]
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        self.process.wait()
        self.reader.join()
        for timer in timers:
            timer.cancel()
