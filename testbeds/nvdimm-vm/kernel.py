"""The machine's kernel: Debian's package or one of the user's own, and the modules to load, in
order."""

import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

from vm_error import VmError

# What the machine needs to find its disk of memory, and this machine's files; with what they depend
# on.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "crc32c_generic", "ext4", "xfs", "nfit",
           "nd_pmem", "dax_pmem", "device_dax", "kmem", "virtio_pmem")


def fetch_kernel(directory):
    """Debian's kernel as a package, unpacked below `directory`; nothing is installed."""
    policy = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True,
                            text=True, check=False)
    names = re.findall(r"Depends: (linux-image-\S+)", policy.stdout)
    if not names:
        raise VmError("apt knows no linux-image-amd64; give a kernel with --kernel and --modules")
    print(f"nvdimm-vm: fetching {names[0]} (once)", file=sys.stderr)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as temporary:
        done = subprocess.run(["apt-get", "-q", "download", names[0]], cwd=temporary,
                              capture_output=True, text=True, check=False)
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


def module_contents(path):
    contents = path.read_bytes()
    return lzma.decompress(contents) if path.suffix == ".xz" else contents


def modules_with_dependencies(tree):
    """[(name, contents)] in loading order. Modules that this kernel does not have are built into
    it, or are found missing by whoever needs them."""
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
