// What two processes have left half done, and a third rests on: the scenes of scenes.h.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
#include "crash/scenes.h"

namespace cairn::test {
namespace {

class ThreeProcesses : public testing::TestWithParam<size_t> {};

TEST_P(ThreeProcesses, TheThirdKeepsWhatItWasTold) {
  LabOptions options;
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 60);
  options.seed = test_seed();
  EXPECT_EQ(play(all_scenes()[GetParam()], options), "");
}

INSTANTIATE_TEST_SUITE_P(Scenes, ThreeProcesses, testing::Range(size_t{0}, all_scenes().size()),
                         [](const auto& scene) {
                           std::string name = all_scenes()[scene.param].name;
                           std::erase(name, ',');
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace cairn::test
