"""Starts the runner where nothing is imported, and no program is found, by a relative path.

`cairn bench` and `cairn-bench` run this file with `python3 -I`: such a Python has neither the
current directory nor PYTHONPATH nor the user's site directory in its path. On many clusters the
latter two are where PyYAML is, so their absolute directories are put back. An empty entry of
PYTHONPATH means the current directory, in which other users may have put a yaml.py.
"""

import os
import sys

FILE = os.path.abspath(__file__)


def words(python):
    """The words of a command that runs the runner in this Python."""
    return [python, "-I", "-B", FILE]


def absolute(paths):
    """The absolute ones of directories that are separated as in PATH."""
    return [each for each in paths.split(os.pathsep) if os.path.isabs(each)]


def user_site():
    """The directory of `pip install --user`, if this Python has one and it is the user's or
    root's; else None."""
    if os.environ.get("PYTHONNOUSERSITE") or sys.prefix != sys.base_prefix:
        return None
    import site

    directory = site.getusersitepackages()
    if not os.path.isabs(directory) or not os.path.isdir(directory):
        return None
    return directory if os.stat(directory).st_uid in (0, os.geteuid()) else None


def set_paths():
    """Sets where modules and programs are looked for."""
    given = absolute(os.environ.get("PYTHONPATH", ""))
    sys.path[:0] = [
        each for each in (os.path.dirname(os.path.dirname(FILE)), *given) if each not in sys.path
    ]
    own = user_site()
    if own is not None:
        import site

        site.addsitedir(own)
    found = absolute(os.environ.get("PATH", os.defpath)) or absolute(os.defpath)
    os.environ["PATH"] = os.pathsep.join(found)


if __name__ == "__main__":
    set_paths()
    from cairn_bench.__main__ import main

    main()
