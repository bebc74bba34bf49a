"""Forty files of 16 MiB through a pool of 64 MiB, as tests/cli/evict_test.py does it with smaller
ones."""

import os
import sys

os.environ["CAIRN_EVICT_FILE_MIB"] = "16"
sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cli"))
import cairn_case  # noqa: E402
from evict_test import LargerThanThePool  # noqa: E402, F401

if __name__ == "__main__":
    cairn_case.main()
