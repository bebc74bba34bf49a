#include "base/long_detail.h"

#include <utility>

#include "base/detail_text.h"
#include "cairn/adapter/printable.h"

namespace cairn {

Status fail_at_length(int errno_value, const std::string& text) {
  const Status status = fail(errno_value, "%s", text.c_str());
  std::string shown(4 * text.size() + 1, '\0');  // \xNN for each byte
  shown.resize(cairn_printable(shown.data(), shown.size(), text.data(), text.size()));
  if (shown.size() >= detail_capacity) keep_long_text(std::move(shown));
  return status;
}

}  // namespace cairn
