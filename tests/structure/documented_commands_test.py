"""Commands in the documentation run as they stand.

A fenced block (sh or console) after the line `<!-- run -->` is run: all such blocks of a file in
one bash, in an empty folder, with the built `cairn` in PATH. In a console block the lines after "$
" are commands and the others show what a reader may see; they are not compared. """

import os
import re
import shutil
import subprocess
import sys
import tempfile

import structure

BLOCK = re.compile(r"^<!-- run -->\n+```(sh|bash|console)\n(.*?)^```", re.M | re.S)
MARK = re.compile(r"^<!-- run\b.*$", re.M)


def commands(markdown):
    """The shell text of all runnable blocks."""
    pieces = []
    for language, body in BLOCK.findall(markdown):
        if language != "console":
            pieces.append(body)
            continue
        take = False
        for line in body.split("\n"):
            if line.startswith("$ "):
                pieces.append(line[2:] + "\n")
                take = line.endswith("\\")
            elif take:
                pieces.append(line.removeprefix("> ") + "\n")
                take = line.endswith("\\")
    return "".join(pieces)


EXAMPLE = "<!-- run -->\n```console\n$ a \\\n>  b\nseen\n$ c\n```\n```sh\nnot this\n```\n"
if commands(EXAMPLE) != "a \\\n b\nc\n":
    sys.exit(f"the check itself is broken: it reads {commands(EXAMPLE)!r}")

found = []
ran = 0
for name in structure.files(".md"):
    markdown = structure.text(name)
    if len(MARK.findall(markdown)) != len(BLOCK.findall(markdown)):
        found.append(f"{name}: a '<!-- run -->' line that no sh or console block follows")
    script = commands(markdown)
    if not script:
        continue
    ran += 1
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    scratch = tempfile.mkdtemp(prefix="cairn-docs-")
    pool = tempfile.mkdtemp(prefix="cairn-docs-", dir=memory)
    environment = dict(
        os.environ, HOME=scratch, CAIRN_POOL_DIR=pool,
        PATH=f"{os.environ.get('CAIRN_BIN_DIR', structure.BUILD / 'bin')}:{os.environ['PATH']}")
    try:
        run = subprocess.run(["bash", "-eu", "-o", "pipefail", "-x", "-c", script], cwd=scratch,
                             env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, errors="replace", timeout=100, check=False)
        if run.returncode != 0:
            found.append(f"{name}: exit code {run.returncode}\n{run.stdout}\n{run.stderr}")
    except subprocess.TimeoutExpired:
        found.append(f"{name}: still running after 100 s")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(pool, ignore_errors=True)
structure.verdict(found, f"the commands of {ran} page(s) run as they stand")
