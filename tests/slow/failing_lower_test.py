"""tests/cli/failing_lower_test.py with every error, a pool that is full meanwhile, and a file
system that does not answer for long."""

import os
import subprocess
import sys

TEST = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cli", "failing_lower_test.py")
sys.exit(subprocess.run([sys.executable, "-B", TEST], check=False,
                        env={**os.environ, "CAIRN_FAILING_LOWER": "1"}).returncode)
