// libFuzzer on pool images, structure-aware: the input is a script of changes (damage/image_mutator.h)
// to a sound pool. tests/damage/random_damage_test does the same with random scripts in every build.
#include "damage/sample_pool.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static cairn::test::SamplePool pool;
  pool.try_script(data, size);
  return 0;
}
