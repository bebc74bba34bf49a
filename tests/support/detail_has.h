// DetailHas: searches the text of the last error.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn::test {

// Returns whether the text of this thread's last error contains `text`.
inline bool detail_has(std::string_view text) {
  return std::string_view(last_detail()).find(text) != std::string_view::npos;
}

}  // namespace cairn::test
