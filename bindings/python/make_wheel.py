#!/usr/bin/env python3
"""Packs the Python package and the library into a wheel: `ninja wheel` runs it.

The package has no compiled module of its own, so one wheel serves all versions of Python.
"""

import argparse
import base64
import hashlib
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench/python/cairn_bench"
METADATA = """Metadata-Version: 2.1
Name: cairn
Version: {version}
Summary: Checkpoints in the node-local pools of Cairn
Requires-Python: >=3.8
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Provides-Extra: mpi
Requires-Dist: mpi4py; extra == "mpi"
Provides-Extra: torch
Requires-Dist: torch>=2.6; extra == "torch"
Provides-Extra: bench
Requires-Dist: PyYAML; extra == "bench"
Requires-Dist: jsonschema; extra == "bench"
Requires-Dist: rich; extra == "bench"
Requires-Dist: vl-convert-python; extra == "bench"
"""
ENTRY_POINTS = """[console_scripts]
cairn-bench = cairn_bench.__main__:main
"""
WHEEL = """Wheel-Version: 1.0
Generator: make_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def python_version(version):
    """Makes 0.3.0.dev0 of 0.3.0-dev: PEP 440 and names of wheels allow no '-'."""
    return version.replace("-dev", ".dev0")


def library_of(path):
    """The bytes of a shared library, without what debuggers read."""
    strip = shutil.which("strip")
    if strip is None:
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        stripped = pathlib.Path(scratch) / "library"
        subprocess.run([strip, "--strip-debug", path, "-o", stripped], check=True)
        return stripped.read_bytes()


def contents(options, tag):
    """(name, bytes) of the files, but RECORD."""
    for path in sorted((HERE / "cairn").glob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"cairn/{path.name}", path.read_bytes()
    yield "cairn/lib/libcairn.so.0", library_of(options.library)
    for path in options.transports:
        yield f"cairn/lib/cairn/{path.name}", library_of(path)
    for path in sorted(BENCH.rglob("*")):
        if path.is_file() and path.parent.name != "__pycache__":
            yield f"cairn_bench/{path.relative_to(BENCH)}", path.read_bytes()
    folder = f"cairn-{options.version}.dist-info"
    yield f"{folder}/entry_points.txt", ENTRY_POINTS.encode()
    yield f"{folder}/METADATA", METADATA.format(version=options.version).encode()
    yield f"{folder}/WHEEL", WHEEL.format(tag=tag).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, type=python_version)
    parser.add_argument("--into", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("transports", nargs="*", type=pathlib.Path,
                        help="libcairn_mpi_NAME.so of each MPI")
    options = parser.parse_args()
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    options.into.mkdir(parents=True, exist_ok=True)
    wheel = options.into / f"cairn-{options.version}-{tag}.whl"
    record = f"cairn-{options.version}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents(options, tag):
            entry = zipfile.ZipInfo(name)  # of 1980: the same contents make the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(
                hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
        archive.writestr(zipfile.ZipInfo(record), "".join(lines) + f"{record},,\n")
    print(wheel)


if __name__ == "__main__":
    main()
