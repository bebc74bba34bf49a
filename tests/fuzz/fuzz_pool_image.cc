// libFuzzer on pool images, structure-aware: the input is a script of changes
// (damage/image_mutator.h) to a sound pool. tests/damage/random_damage_test does the same with
// random scripts in every build, and `make test-slow` runs this one for seven and a half minutes.
// For longer:
//   make fuzz && mkdir -p corpus && head -c 36 /dev/urandom > corpus/seed
//   build/fuzz/fuzz/fuzz_pool_image -max_len=192 -len_control=0 -timeout=60 corpus
// A crash leaves its script in a file, which the same program takes as its only argument.
#include "damage/sample_pool.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static cairn::test::SamplePool pool;
  pool.try_script(data, size);
  return 0;
}
