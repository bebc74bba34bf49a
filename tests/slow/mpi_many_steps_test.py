"""Ten times a pool's size through the pool, by four ranks and MPI-IO (many_steps.py): 160 MiB
through 16 MiB, then 640 MiB through 64 MiB."""

import os
import subprocess
import sys

PROGRAM = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "slow", "many_steps.py")
for step_mib in ("4", "16"):
    done = subprocess.run([sys.executable, "-B", PROGRAM], check=False,
                          env={**os.environ, "CAIRN_STEP_MIB": step_mib})
    if done.returncode != 0:
        sys.exit(done.returncode)
