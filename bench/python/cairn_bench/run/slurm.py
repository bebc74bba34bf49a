"""cairn bench submit: a batch script for Slurm, which runs the whole matrix in one allocation."""

import pathlib
import re
import shlex
import shutil
import subprocess

from ..errors import Mistake
from ..node import installation

PLAIN = re.compile(r"[\w@%+=:,./-]*")  # of the characters that no quotes are needed for


def script(name, words, output, given):
    """The batch script. words: after `run`. given: options of sbatch, [(option, value)]."""
    command = [installation.command(), "bench", "run", *words]
    log = f"{log_name(output)}.%j.log"
    options = [("job-name", f"cairn-bench-{name}"), ("output", log), *given]
    lines = [
        "#!/bin/bash",
        *(directive(option, value) for option, value in options if value is not None),
        f"cd {shlex.quote(str(pathlib.Path.cwd()))} || exit 1",
        f"exec {shlex.join(command)}",
    ]
    return "\n".join(lines) + "\n"


def directive(option, value):
    """A line for sbatch, which splits words as a shell does, and knows neither $ nor `."""
    text = str(value)
    if not text.isprintable():
        raise Mistake(f"--{option}: {text}: a line of a batch script cannot hold this name")
    return f"#SBATCH --{option}={text if PLAIN.fullmatch(text) else quoted(text)}"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def log_name(path):
    """sbatch replaces %j and others in the name of the log."""
    return str(path).replace("%", "%%")


def submit(path):
    """Hands the script to sbatch; returns what that says."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise Mistake(f"no sbatch in PATH; the script is {path}")
    run = subprocess.run(
        [sbatch, str(path)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if run.returncode != 0:
        raise Mistake(f"{path}: sbatch: {run.stderr.strip() or run.stdout.strip()}", code=1)
    return run.stdout.strip()
