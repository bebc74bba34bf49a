// TransportExchange carries the messages of a checkpoint run between its nodes through the
// program's MPI.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cairn/adapter/transport.h"
#include "checkpoint/run/exchange.h"

namespace cairn::capi {

class TransportExchange final : public checkpoint::Exchange {
 public:
  // Collective. `node`: null if this process has no pool. Negative errno.
  int join(int communicator, const cairn_node* node);
  // Collective. An exchange that is not left stays in the MPI until MPI_Finalize, and its memory
  // with it.
  void leave();

  [[nodiscard]] cairn_transport* transport() const { return transport_; }
  [[nodiscard]] const cairn_transport_info& info() const { return info_; }
  // Of this node, ascending.
  [[nodiscard]] std::vector<uint32_t> own_ranks() const;

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

  cairn_transport* transport_ = nullptr;
  cairn_transport_info info_{};
  Serve serve_;
  std::array<Gather, CAIRN_TRANSPORT_CHANNELS> gathers_;
};

// Collective over all ranks of all nodes: the uuid of the set `name`. It is that which a pool says
// already, or else that which a leader found in lower, or else `fresh`. EUCLEAN: two pools have
// different sets of this name, or two leaders found different ones.
Result<checkpoint::Uuid> agree_on_set(checkpoint::Exchange* exchange, bool is_leader,
                                      file::FileSystem& fs, const std::string& name,
                                      const std::optional<checkpoint::Uuid>& in_lower,
                                      const checkpoint::Uuid& fresh);

}  // namespace cairn::capi
