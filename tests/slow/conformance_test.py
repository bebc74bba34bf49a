"""tests/mpi/conformance_test.py on more numbers of ranks."""

import os
import subprocess
import sys

TEST = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "mpi", "conformance_test.py")
sys.exit(subprocess.run([sys.executable, "-B", TEST], check=False,
                        env={**os.environ, "CAIRN_CONFORMANCE_RANKS": "2 3 7"}).returncode)
