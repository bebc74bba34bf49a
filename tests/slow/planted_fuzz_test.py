"""Ten minutes (CAIRN_FUZZ_SECONDS) of random plants in a covered directory: nothing outside
changes, and no private file in it."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cli", "trust"))
import trust_case  # noqa: E402
from planted_fuzz import PlantedFuzz  # noqa: E402


class Planted(PlantedFuzz):
    def test_for_long(self):
        self.fuzz(int(os.environ.get("CAIRN_FUZZ_SECONDS", "600")))


if __name__ == "__main__":
    trust_case.main()
