"""20 seconds of random plants in a covered directory: nothing outside changes, and no private file
in it."""

import trust_case
from planted_fuzz import PlantedFuzz


class Planted(PlantedFuzz):
    def test_for_a_while(self):
        self.fuzz(20, seed="1")  # the slow tier takes another one each time


if __name__ == "__main__":
    trust_case.main()
