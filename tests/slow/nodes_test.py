"""tests/cluster/nodes_test.py with more kills of processes and hosts, and with every MPI on several
hosts."""

import os
import subprocess
import sys

TEST = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster", "nodes_test.py")
sys.exit(subprocess.run([sys.executable, "-B", TEST], check=False,
                        env={**os.environ, "CAIRN_NODES_KILLS": "12"}).returncode)
