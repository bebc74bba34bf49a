"""Copies of checkpoints on other nodes in depth: the whole table of disruptions, a kill at each
message, and tests/cluster/partner_test.py with more kills and every MPI."""

import os
import subprocess
import sys

TESTS = os.environ["CAIRN_TEST_DIR"]
CLUSTER = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster", "partner_test.py")


def run(*command, **settings):
    return subprocess.run(command, check=False, env={**os.environ, **settings}).returncode


failed = [
    code for code in (run(f"{TESTS}/checkpoint/disruption_test", CAIRN_DISRUPTIONS="1"),
                      run(f"{TESTS}/checkpoint/nodes_test", CAIRN_KILL_STRIDE="1")) if code != 0
]
sys.exit(failed[0] if failed else run(sys.executable, "-B", CLUSTER, CAIRN_PARTNER_KILLS="10"))
