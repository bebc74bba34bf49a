// The size of a language model's training state, from the model's shape.
#pragma once

#include <cstdint>
#include <string>

namespace kernels {

struct LlmModel {
  const char* name;
  int64_t layers;
  int64_t hidden;
  int64_t feed_forward;
  int64_t vocabulary;
  int64_t heads;
  int64_t kv_heads;

  [[nodiscard]] int64_t parameters() const;
};

// Bytes of a parameter in a checkpoint: model 2 (bf16), optimizer 12 (three floats).
constexpr int64_t llm_model_bytes = 2;
constexpr int64_t llm_optimizer_bytes = 12;

// 8b or 70b; a mistake otherwise.
const LlmModel& llm_model(const std::string& name);

}  // namespace kernels
