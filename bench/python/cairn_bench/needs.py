"""What the package needs besides Python's own library, and what to do where it is missing."""

import importlib.util
import os
import sys

from . import start

# Module: package of Debian, package of PyPI.
NEEDED = {"yaml": ("python3-yaml", "PyYAML"), "jsonschema": ("python3-jsonschema", "jsonschema")}
SYSTEM_PYTHON = "/usr/bin/python3"


def missing():
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def check():
    """Goes on in the system's Python if this one lacks a module; names the packages if both do."""
    lacking = missing()
    if not lacking:
        return
    tried = os.environ.get("CAIRN_BENCH_PYTHON_TRIED")
    if (
        not tried
        and "CAIRN_BENCH_LIB" in os.environ  # started by `cairn bench`: another Python finds us
        and os.path.exists(SYSTEM_PYTHON)
        and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON)
    ):
        os.environ["CAIRN_BENCH_PYTHON_TRIED"] = sys.executable
        os.execv(SYSTEM_PYTHON, [*start.words(SYSTEM_PYTHON), *sys.argv[1:]])
    debian = " ".join(NEEDED[name][0] for name in lacking)
    pypi = " ".join(NEEDED[name][1] for name in lacking)
    sys.exit(
        f"cairn bench: {sys.executable}: Python module missing: {', '.join(lacking)}; "
        f"install {debian} (Debian, Ubuntu) or run: python3 -m pip install {pypi}"
    )
