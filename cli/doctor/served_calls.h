// Lists the calls of the C library that the preloaded library serves: the adapter's own list.
#pragma once

#include <string>

namespace cairn::cli {

enum class Service {
  unrelated,  // not in the list: nothing to do with files
  served,
  forwarded,  // left to the C library, which is right
  refused,    // on a covered file it fails loudly
};

Service service_of(const std::string& call);

}  // namespace cairn::cli
