"""Whatever others plant in a covered directory at random, for 20 seconds: nothing outside changes, and nothing of others in it."""

import trust_case
from planted_fuzz import PlantedFuzz


class Planted(PlantedFuzz):
    def test_for_a_while(self):
        self.fuzz(20)


if __name__ == "__main__":
    trust_case.main()
