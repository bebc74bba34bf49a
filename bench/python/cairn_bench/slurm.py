"""cairn bench submit: a batch script for Slurm, which runs the whole matrix in one allocation."""

import pathlib
import shlex
import shutil
import subprocess

from . import installation
from .errors import Mistake


def script(name, matrix, output, run_options, given):
    """The batch script. given: options of sbatch, [(option, value)]."""
    command = [
        installation.command(),
        "bench",
        "run",
        str(matrix),
        "--launcher",
        "srun",
        "--output",
        str(output),
        *run_options,
    ]
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name=cairn-bench-{name}",
        f"#SBATCH --output={output}.%j.log",
        *(f"#SBATCH --{option}={value}" for option, value in given if value is not None),
        f"cd {shlex.quote(str(pathlib.Path.cwd()))} || exit 1",
        f"exec {shlex.join(command)}",
    ]
    return "\n".join(lines) + "\n"


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
