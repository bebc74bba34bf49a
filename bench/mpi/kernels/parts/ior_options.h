// The options of the kernel `ior`: those of IOR that the TOKIO-ABC and PEANUTS runs use, by IOR's
// names.
#pragma once

#include <cstdint>
#include <string>

#include "common/arguments.h"
#include "common/sides.h"
#include "files/file.h"

namespace kernels {

struct IorOptions {
  Common common;
  Api api = Api::posix;
  std::string path = path_argument("testFile");
  int64_t block = 1 << 20;
  int64_t transfer = 256 << 10;
  int64_t segments = 1;
  int repetitions = 1;
  Sides sides;
  bool file_per_rank = false;
  bool collective = false;
  bool fsync = false;
  bool fsync_each = false;
  bool barriers = false;
  bool random_order = false;
  bool latency = false;
  bool existing = false;
  bool lseek = true;
  int64_t shift = 0;  // a rank reads what the rank so much above it wrote
  int64_t seed = 0;
  int64_t stonewall_s = 0;
  bool wear_out = false;
  std::string summary_file = {};
};

// Ends the job with a usage error, or after --help.
IorOptions parse_ior_options(int argc, char** argv);

}  // namespace kernels
