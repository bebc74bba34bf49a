// ProgramTransport carries the messages of a checkpoint run through the program's MPI.
#pragma once

#include <array>
#include <vector>

#include "cairn/adapter/transport.h"
#include "checkpoint/run/run_transport.h"

namespace cairn::capi {

class ProgramTransport final : public checkpoint::RunTransport {
 public:
  // `pool`: null if this process has none.
  ProgramTransport(int communicator, cairn_pool* pool) : communicator_(communicator), pool_(pool) {}

  Status join(bool has_pool) override;
  void leave() override;
  [[nodiscard]] uint32_t rank() const override { return info_.rank; }
  [[nodiscard]] uint32_t ranks() const override { return info_.ranks; }
  [[nodiscard]] std::vector<uint32_t> own_ranks() const override;
  Status broadcast(void* bytes, size_t size) override;

  [[nodiscard]] uint32_t node() const override { return info_.node; }
  [[nodiscard]] uint32_t nodes() const override { return info_.nodes; }
  [[nodiscard]] std::string name_of(uint32_t node) const override;
  [[nodiscard]] checkpoint::Uuid pool_of(uint32_t node) const override;
  void serve_with(Serve serve) override { serve_ = std::move(serve); }
  Status begin_gather(Channel channel, const void* bytes, size_t size, void* all) override;
  Result<bool> test_gather(Channel channel) override;
  Result<size_t> ask(uint32_t node, const void* question, size_t size, void* answer,
                     size_t capacity) override;
  void progress() override;
  Status gather_to_all(const void* bytes, size_t size, void* all) override;
  Result<int64_t> maximum(int64_t value) override;

 private:
  // The MPI's own buffers: a caller may be gone before the gather is complete.
  struct Gather {
    std::vector<uint8_t> own;
    std::vector<uint8_t> all;
    void* to = nullptr;
  };
  static size_t answer(void* context, const void* question, size_t size, void* reply);

  const int communicator_;
  cairn_pool* const pool_;
  cairn_transport* transport_ = nullptr;
  cairn_transport_info info_{};
  Serve serve_;
  std::array<Gather, CAIRN_TRANSPORT_CHANNELS> gathers_;
};

}  // namespace cairn::capi
