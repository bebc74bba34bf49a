#include "base/detail_text.h"

#include <memory>
#include <utility>

namespace cairn {
namespace {

constinit thread_local __attribute__((tls_model("initial-exec"))) bool is_kept = false;
constinit thread_local std::unique_ptr<std::string> kept;

}  // namespace

bool has_long_text() { return is_kept; }
const std::string& long_text() { return *kept; }

void keep_long_text(std::string text) {
  kept = std::make_unique<std::string>(std::move(text));
  is_kept = true;
}

void forget_long_text() { is_kept = false; }

}  // namespace cairn
