"""What runs inside the machine: its initial file system, and the script around the command."""

import os
import pathlib
import shlex
import shutil
import tempfile

from kernel import modules_with_dependencies
from vm_error import VmError

OUTPUT, STATUS = "/dev/ttyS1", "/dev/ttyS2"  # ttyS0 is the kernel's console
STARTED = b"nvdimm-vm: running the command"  # as the kernel's console shows it

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


def base_archive(arguments, modules):
    """The part of the initial file system that stays the same, kept beside the kernel."""
    kept = pathlib.Path(arguments.cache) / "base.cpio"
    ours = pathlib.Path(__file__).resolve().parent.glob("*.py")
    newest = max(path.stat().st_mtime for path in (modules, *ours))
    if kept.exists() and kept.stat().st_mtime > newest:
        return kept.read_bytes()
    busybox = shutil.which("busybox")
    if busybox is None or b"/ld-linux" in pathlib.Path(busybox).read_bytes():
        raise VmError("a busybox that is linked statically is missing (package busybox-static)")
    loaded = modules_with_dependencies(modules)
    entries = [(d, 0o040755, b"")
               for d in ("proc", "sys", "dev", "memory", "host", "root", "modules")]
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
        lines.append(
            f"mount_pmem /dev/pmem0 {shlex.quote(arguments.mount)} {shlex.quote(options)} || "
            "{ say 'the device cannot be mounted'; exit 125; }")
    lines.append("set +e")
    for setting in arguments.env:
        lines.append("export " + shlex.quote(setting))
    lines.append(f"cd {shlex.quote(os.getcwd())}")
    lines.append("exec " + shlex.join(arguments.command))
    return "\n".join(lines) + "\n"
