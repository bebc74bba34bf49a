#!/usr/bin/env python3
"""Runs a command in a small virtual machine that has a real NVDIMM, and pulls its plug if asked to.

    nvdimm_vm.py [OPTION...] -- COMMAND [ARGUMENT...]

The machine is qemu under software emulation (no KVM, no root needed) with Debian's own kernel. It sees
this machine's whole file system below /, read only (writes go to memory and are lost at the end), so
COMMAND is anything that runs here, with the same paths, in the current directory. Its output comes out as
it is written, and its exit code is the result:

    124   the time was over
    125   the machine could not be made or did not start; the console's last lines say why
    137   the plug was pulled, as it was asked for

The NVDIMM's contents are a file (--image) that outlives the machine: pulling the plug is a power cut for
the operating system in it, and the next start finds what had reached the device.
"""

import argparse
import ctypes
import lzma
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

# What the machine needs to find its disk of memory, and this machine's files; with what they depend on.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "crc32c_generic", "ext4", "xfs", "nfit",
           "nd_pmem", "dax_pmem", "device_dax", "kmem", "virtio_pmem")
OUTPUT, STATUS = "/dev/ttyS1", "/dev/ttyS2"  # ttyS0 is the kernel's console
# The kernel's tests of its own checksums take seconds here, and have hung under emulation.
KERNEL_OPTIONS = "console=ttyS0 no_timer_check panic=-1 quiet loglevel=4 cryptomgr.notests"
STARTED = b"nvdimm-vm: running the command"
# A start takes 10 to 30 s of processor time, however long that lasts on a busy host. A machine that has hung is started
# again; it spins, or it does nothing at all.
START_CPU_S = 120
START_S = 1500
STARTS = 3
MIB = 1 << 20
LABEL = 2 * MIB

INIT = """#!/busybox sh
/busybox mount -t proc proc /proc
/busybox mount -t sysfs sysfs /sys
/busybox mount -t devtmpfs dev /dev
while read -r module; do
  case $module in
    *device_dax.ko) continue ;;  # loads when a device appears; see below
  esac
  /busybox insmod "/modules/$module" || echo "insmod $module failed"
done < /modules/order
/busybox insmod /modules/device_dax.ko
/busybox stty -F %(output)s raw -echo
/busybox stty -F %(status)s raw -echo
/busybox mount -t tmpfs -o size=50%% memory /memory
/busybox mkdir /memory/upper /memory/work
/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=262144 host /host ||
  { echo "no file system from outside"; /busybox poweroff -f; }
/busybox mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work root /root ||
  { echo "no root file system"; /busybox poweroff -f; }
for place in proc sys dev; do /busybox mount --move /$place /root/$place; done
/busybox mkdir -p /root/dev/shm /root/dev/pts
/busybox mount -t tmpfs -o mode=1777,nosuid,nodev shm /root/dev/shm
/busybox mount -t tmpfs run /root/run
/busybox mount -t devpts devpts /root/dev/pts
/busybox ip link set lo up 2> /root/dev/null
/busybox cp /command /root/run/command
echo "nvdimm-vm: running the command"
/busybox chroot /root /bin/bash /run/command < /root/dev/null > /root%(output)s 2>&1
echo "exit $?" > /root%(status)s
/busybox sync
/busybox poweroff -f
"""

# Run inside, with this machine's programs, before the command itself.
PREPARE = r"""
set -e
say() { echo "nvdimm-vm: $*" > /dev/console; }
namespaces() { ndctl list -N "$@" | grep -o '"dev":"namespace[^"]*"' | cut -d '"' -f 4; }
prepare_namespace() {  # MODE ALIGN
  if ndctl list -N | grep -q "\"mode\":\"$1\""; then return; fi
  for old in $(namespaces); do ndctl destroy-namespace -f "$old" > /dev/console 2>&1; done
  ndctl create-namespace --mode="$1" ${2:+--align=$2} > /dev/console 2>&1
}
mount_pmem() {  # DEVICE DIRECTORY OPTIONS
  mkdir -p "$2"
  if ! mount -t ext4 -o "$3" "$1" "$2" 2> /dev/console; then
    mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$1" > /dev/console 2>&1
    mount -t ext4 -o "$3" "$1" "$2" > /dev/console 2>&1
  fi
}
"""


class VmError(Exception):
    pass


def end_with_parent():
    """For the machine's process: it must not outlive us, however we end."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def archive(entries):
    """A cpio archive (newc) of (name, mode, contents) as the kernel unpacks it."""
    out = bytearray()
    for number, (name, mode, contents) in enumerate(list(entries) + [("TRAILER!!!", 0, b"")], 1):
        encoded = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(encoded), 0)
        out += b"070701" + b"".join(b"%08x" % field for field in fields) + encoded
        out += b"\0" * (-len(out) % 4) + contents
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def module_contents(path):
    contents = path.read_bytes()
    return lzma.decompress(contents) if path.suffix == ".xz" else contents


def modules_with_dependencies(tree):
    """[(name, contents)] in loading order. Modules that this kernel does not have are built into it, or
    are found missing by whoever needs them."""
    paths = {re.sub(r"\.ko(\.xz)?$", "", p.name).replace("-", "_"): p for p in tree.rglob("*.ko*")}
    order, seen = [], set()

    def visit(name):
        name = name.replace("-", "_")
        if name in seen or name not in paths:
            return
        seen.add(name)
        contents = module_contents(paths[name])
        found = re.search(rb"\0depends=([^\0]*)\0", b"\0" + contents)
        for dependency in (found.group(1).decode().split(",") if found else []):
            if dependency:
                visit(dependency)
        order.append((name + ".ko", contents))

    for name in MODULES:
        visit(name)
    return order


def fetch_kernel(directory):
    """Debian's kernel as a package, unpacked below `directory`; nothing is installed."""
    policy = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True,
                            check=False)
    names = re.findall(r"Depends: (linux-image-\S+)", policy.stdout)
    if not names:
        raise VmError("apt knows no linux-image-amd64; give a kernel with --kernel and --modules")
    print(f"nvdimm-vm: fetching {names[0]} (once)", file=sys.stderr)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as temporary:
        done = subprocess.run(["apt-get", "-q", "download", names[0]], cwd=temporary, capture_output=True,
                              text=True, check=False)
        packages = list(pathlib.Path(temporary).glob("*.deb"))
        if done.returncode != 0 or not packages:
            raise VmError(f"apt-get download {names[0]}: {done.stderr.strip()}")
        tree = pathlib.Path(temporary) / "tree"
        subprocess.run(["dpkg-deb", "-x", packages[0], tree], check=True)
        try:
            tree.rename(directory / "kernel")
        except OSError:  # somebody else was faster
            if not (directory / "kernel").is_dir():
                raise


def find_kernel(arguments):
    if arguments.kernel:
        if not arguments.modules:
            raise VmError("--kernel needs --modules")
        return pathlib.Path(arguments.kernel), pathlib.Path(arguments.modules)
    tree = pathlib.Path(arguments.cache) / "kernel"
    if not tree.is_dir():
        fetch_kernel(pathlib.Path(arguments.cache))
    kernels = sorted(tree.glob("boot/vmlinuz-*"))
    modules = sorted(p for root in ("lib", "usr/lib") for p in tree.glob(root + "/modules/*"))
    if not kernels or not modules:
        raise VmError(f"{tree} holds no kernel; remove it, and it is fetched anew")
    return kernels[-1], modules[-1]


def base_archive(arguments, modules):
    """The part of the initial file system that stays the same, kept beside the kernel."""
    kept = pathlib.Path(arguments.cache) / "base.cpio"
    newest = max(modules.stat().st_mtime, pathlib.Path(__file__).stat().st_mtime)
    if kept.exists() and kept.stat().st_mtime > newest:
        return kept.read_bytes()
    busybox = shutil.which("busybox")
    if busybox is None or b"/ld-linux" in pathlib.Path(busybox).read_bytes():
        raise VmError("a busybox that is linked statically is missing (package busybox-static)")
    loaded = modules_with_dependencies(modules)
    entries = [(d, 0o040755, b"") for d in ("proc", "sys", "dev", "memory", "host", "root", "modules")]
    entries += [("modules/" + name, 0o100644, contents) for name, contents in loaded]
    entries += [("modules/order", 0o100644, "".join(name + "\n" for name, _ in loaded).encode()),
                ("busybox", 0o100755, pathlib.Path(busybox).read_bytes()),
                ("init", 0o100755, (INIT % {"output": OUTPUT, "status": STATUS}).encode())]
    contents = archive(entries)
    with tempfile.NamedTemporaryFile(dir=arguments.cache, delete=False) as file:
        file.write(contents)
    os.replace(file.name, kept)
    return contents


def command_script(arguments):
    lines = [PREPARE]
    if arguments.mode in ("fsdax", "devdax"):
        lines.append(f"prepare_namespace {arguments.mode} {shlex.quote(arguments.align)} || "
                     "{ say 'ndctl could not make the namespace'; exit 125; }")
    if arguments.mode in ("fsdax", "virtio") and arguments.mount:
        options = arguments.mount_options or "dax=always"
        lines.append(f"mount_pmem /dev/pmem0 {shlex.quote(arguments.mount)} {shlex.quote(options)} || "
                     "{ say 'the device cannot be mounted'; exit 125; }")
    lines.append("set +e")
    for setting in arguments.env:
        lines.append("export " + shlex.quote(setting))
    lines.append(f"cd {shlex.quote(os.getcwd())}")
    lines.append("exec " + shlex.join(arguments.command))
    return "\n".join(lines) + "\n"


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
    return [arguments.qemu, "-accel", "tcg,thread=multi", "-cpu", arguments.cpu,
            "-machine", "pc,nvdimm=on", "-smp", str(arguments.cpus),
            "-m", f"{arguments.memory}M,slots=2,maxmem={arguments.memory * MIB + 2 * size}B",
            "-object", backend, *device,
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
            "-kernel", str(kernel), "-initrd", initrd, "-append", KERNEL_OPTIONS,
            "-nographic", "-no-reboot", "-nodefaults",
            "-serial", f"file:{console}", "-serial", "stdio", "-serial", f"file:{status}"]


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


def run(arguments):
    if shutil.which(arguments.qemu) is None:
        raise VmError(f"{arguments.qemu} is missing (package qemu-system-x86; scripts/setup.sh slow)")
    pathlib.Path(arguments.cache).mkdir(parents=True, exist_ok=True)
    kernel, modules = find_kernel(arguments)
    with tempfile.TemporaryDirectory(prefix="nvdimm-vm-") as scratch:
        initrd, status = os.path.join(scratch, "initrd"), os.path.join(scratch, "status")
        console = arguments.console or os.path.join(scratch, "console")
        with open(initrd, "wb") as file:
            file.write(base_archive(arguments, modules))
            file.write(archive([("command", 0o100644, command_script(arguments).encode())]))
        for attempt in range(1, STARTS + 1):
            machine = Machine(qemu_command(arguments, kernel, initrd, console, status), arguments)
            try:
                machine.run(console)
            finally:
                machine.kill("interrupted")
            if machine.ended_by != "hung" or attempt == STARTS:
                break
            print(f"nvdimm-vm: the machine hung while it started; once more ({attempt})", file=sys.stderr)
        if machine.ended_by == "plug":
            return 137
        if machine.ended_by == "timeout":
            print(f"nvdimm-vm: not done after {arguments.timeout:.0f} s", file=sys.stderr)
            return 124
        text = pathlib.Path(status).read_text() if os.path.exists(status) else ""
        found = re.search(r"exit (\d+)", text)
        if found:
            return int(found.group(1))
        last = pathlib.Path(console).read_bytes().decode(errors="replace") if os.path.exists(console) else ""
        raise VmError("the machine did not get as far as the command\n" +
                      machine.errors.decode(errors="replace") + "\n".join(last.splitlines()[-15:]))


def parse(argv):
    here = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(prog="nvdimm_vm.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", default=str(here / "build/nvdimm-vm/nvdimm.img"), metavar="FILE",
                        help="the NVDIMM's contents; made when it is not there (build/nvdimm-vm/nvdimm.img)")
    parser.add_argument("--size", type=int, default=512, metavar="MIB",
                        help="size of a new NVDIMM in MiB, a multiple of 16 (512)")
    parser.add_argument("--mode", default="fsdax", choices=("fsdax", "devdax", "virtio", "none"),
                        help="what its namespace is: fsdax (mounted with -o dax=always), devdax "
                        "(/dev/dax0.0), virtio (a virtio-pmem device in place of an NVDIMM: dax without "
                        "MAP_SYNC), none (left as it is). "
                        "A namespace in another mode is destroyed, with its contents (fsdax)")
    parser.add_argument("--align", default="", metavar="BYTES",
                        help="alignment of a new namespace, for example 4096 or 2M (ndctl's default)")
    parser.add_argument("--mount", default="/mnt", metavar="DIR",
                        help="where fsdax and virtio are mounted, ext4 (/mnt); empty: nowhere")
    parser.add_argument("--mount-options", default="", metavar="LIST", help="instead of dax=always; dax=never puts the page cache between")
    parser.add_argument("--pull-plug-on", default="", metavar="TEXT",
                        help="kill the machine as soon as its output contains TEXT")
    parser.add_argument("--pull-plug-delay", type=float, default=0, metavar="S",
                        help="so many seconds after that (0)")
    parser.add_argument("--pull-plug-after", type=float, metavar="S",
                        help="kill the machine so many seconds after its start")
    parser.add_argument("--timeout", type=float, default=900, metavar="S", help="at most (900)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="set in the command's environment; may be given several times")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB", help="ordinary memory (1024)")
    parser.add_argument("--cpus", type=int, default=2, metavar="N", help="processors (2)")
    parser.add_argument("--cpu", default="max", help="the emulated processor (max), for example max,-pku")
    parser.add_argument("--qemu", default="qemu-system-x86_64", help=argparse.SUPPRESS)
    parser.add_argument("--cache", default=str(here / "build/nvdimm-vm"), metavar="DIR",
                        help="where the kernel is kept (build/nvdimm-vm)")
    parser.add_argument("--kernel", default="", metavar="FILE", help="a kernel of one's own")
    parser.add_argument("--modules", default="", metavar="DIR", help="and its modules")
    parser.add_argument("--console", default="", metavar="FILE", help="keep the kernel's messages there")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    arguments = parser.parse_args(argv)
    if arguments.size % 16 != 0 or arguments.size <= 0:
        parser.error("--size: a multiple of 16 MiB")
    if any("=" not in setting for setting in arguments.env):
        parser.error("--env: NAME=VALUE")
    return arguments


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run(parse(sys.argv[1:]))
    except VmError as error:
        print(f"nvdimm-vm: {error}", file=sys.stderr)
        return 125
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
