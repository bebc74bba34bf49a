#!/usr/bin/env python3
"""Runs a command in a small virtual machine that has a real NVDIMM, and pulls its plug if asked to.

    nvdimm_vm.py [OPTION...] -- COMMAND [ARGUMENT...]

The machine is qemu under software emulation (no KVM, no root needed) with Debian's own kernel. It
sees this machine's whole file system below /, read only (writes go to memory and are lost at the
end), so COMMAND is anything that runs here, with the same paths, in the current directory. Its
output comes out as it is written, and its exit code is the result:

    124   the time was over
    125   the machine could not be made or did not start; the console's last lines say why
    137   the plug was pulled, as it was asked for

The NVDIMM's contents are a file (--image) that outlives the machine: pulling the plug is a power
cut for the operating system in it, and the next start finds what had reached the device. """

import argparse
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile

from guest import archive, base_archive, command_script
from kernel import find_kernel
from machine import Machine, qemu_command
from vm_error import VmError

STARTS = 3  # a machine that has hung while it started is started again


def run(arguments):
    if shutil.which(arguments.qemu) is None:
        raise VmError(
            f"{arguments.qemu} is missing (package qemu-system-x86; scripts/setup.sh slow)")
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
            print(f"nvdimm-vm: the machine hung while it started; once more ({attempt})",
                  file=sys.stderr)
        if machine.ended_by == "plug":
            return 137
        if machine.ended_by == "timeout":
            print(f"nvdimm-vm: not done after {arguments.timeout:.0f} s", file=sys.stderr)
            return 124
        text = pathlib.Path(status).read_text() if os.path.exists(status) else ""
        found = re.search(r"exit (\d+)", text)
        if found:
            return int(found.group(1))
        last = pathlib.Path(console).read_bytes().decode(
            errors="replace") if os.path.exists(console) else ""
        raise VmError("the machine did not get as far as the command\n" +
                      machine.errors.decode(errors="replace") + "\n".join(last.splitlines()[-15:]))


def parse(argv):
    here = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(prog="nvdimm_vm.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--image", default=str(here / "build/nvdimm-vm/nvdimm.img"), metavar="FILE",
        help="the NVDIMM's contents; made when it is not there (build/nvdimm-vm/nvdimm.img)")
    parser.add_argument("--size", type=int, default=512, metavar="MIB",
                        help="size of a new NVDIMM in MiB, a multiple of 16 (512)")
    parser.add_argument(
        "--mode", default="fsdax", choices=("fsdax", "devdax", "virtio", "none"),
        help="what its namespace is: fsdax (mounted with -o dax=always), devdax "
        "(/dev/dax0.0), virtio (a virtio-pmem device in place of an NVDIMM: dax without "
        "MAP_SYNC), none (left as it is). "
        "A namespace in another mode is destroyed, with its contents (fsdax)")
    parser.add_argument(
        "--align", default="", metavar="BYTES",
        help="alignment of a new namespace, for example 4096 or 2M (ndctl's default)")
    parser.add_argument("--mount", default="/mnt", metavar="DIR",
                        help="where fsdax and virtio are mounted, ext4 (/mnt); empty: nowhere")
    parser.add_argument("--mount-options", default="", metavar="LIST",
                        help="instead of dax=always; dax=never puts the page cache between")
    parser.add_argument("--pull-plug-on", default="", metavar="TEXT",
                        help="kill the machine as soon as its output contains TEXT")
    parser.add_argument("--pull-plug-delay", type=float, default=0, metavar="S",
                        help="so many seconds after that (0)")
    parser.add_argument("--pull-plug-after", type=float, metavar="S",
                        help="kill the machine so many seconds after its start")
    parser.add_argument("--timeout", type=float, default=900, metavar="S", help="at most (900)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="set in the command's environment; may be given several times")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB",
                        help="ordinary memory (1024)")
    parser.add_argument("--cpus", type=int, default=2, metavar="N", help="processors (2)")
    parser.add_argument("--cpu", default="max",
                        help="the emulated processor (max), for example max,-pku")
    parser.add_argument("--qemu", default="qemu-system-x86_64", help=argparse.SUPPRESS)
    parser.add_argument("--cache", default=str(here / "build/nvdimm-vm"), metavar="DIR",
                        help="where the kernel is kept (build/nvdimm-vm)")
    parser.add_argument("--kernel", default="", metavar="FILE", help="a kernel of one's own")
    parser.add_argument("--modules", default="", metavar="DIR", help="and its modules")
    parser.add_argument("--console", default="", metavar="FILE",
                        help="keep the kernel's messages there")
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
