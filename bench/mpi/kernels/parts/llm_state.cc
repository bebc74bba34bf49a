#include "parts/llm_state.h"

#include "common/mistakes.h"

namespace kernels {
namespace {

constexpr LlmModel models[] = {{"8b", 32, 4096, 14336, 128256, 32, 8},
                               {"70b", 80, 8192, 28672, 128256, 128, 8}};

}  // namespace

int64_t LlmModel::parameters() const {
  const int64_t kv = hidden / heads * kv_heads;
  const int64_t layer =
      2 * hidden + hidden * (hidden + 2 * kv) + hidden * hidden + 3 * hidden * feed_forward;
  return 2 * vocabulary * hidden + layers * layer + hidden;
}

const LlmModel& llm_model(const std::string& name) {
  for (const LlmModel& model : models)
    if (name == model.name) return model;
  mistake("--model: unknown model '" + name + "': expected 8b or 70b");
}

}  // namespace kernels
