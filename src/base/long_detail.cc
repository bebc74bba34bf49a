#include "base/long_detail.h"

#include <utility>

#include "base/detail_text.h"
#include "cairn/adapter/printable.h"

namespace cairn {

Status fail_at_length(int errno_value, const std::string& text) {
  const Status status = fail(errno_value, "%s", text.c_str());
  std::string printable(4 * text.size() + 1, '\0');  // \xNN for each byte
  printable.resize(cairn_printable(printable.data(), printable.size(), text.data(), text.size()));
  if (printable.size() >= detail_capacity) keep_long_text(std::move(printable));
  return status;
}

}  // namespace cairn
