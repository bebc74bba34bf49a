// Exchange: messages between the nodes of a run. The lowest rank of each node is its leader. Only
// these functions move data between nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

class Exchange {
 public:
  // All leaders begin the gathers of one channel in the same order. Channels are independent.
  enum class Channel : uint8_t { commit = 0, need = 1 };
  // Answers a question of another node: stores the reply, at most longest_answer bytes, and returns
  // its size.
  using Serve = std::function<size_t(const void* question, size_t size, void* answer)>;
  static constexpr size_t longest_question = 4096;
  static constexpr size_t longest_answer = (size_t{1} << 20) + 64;

  Exchange() = default;
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] virtual uint32_t node() const = 0;
  [[nodiscard]] virtual uint32_t nodes() const = 0;
  // Returns the node's name for messages: "node HOST (pool PATH)".
  [[nodiscard]] virtual std::string name_of(uint32_t node) const = 0;
  [[nodiscard]] virtual Uuid pool_of(uint32_t node) const = 0;
  // Sets the function by which the leader answers, before any rank asks.
  virtual void serve_with(Serve serve) = 0;

  // Leaders only: gathers `size` bytes of each node, in order of nodes. Neither area may be touched
  // until test_gather() returns true.
  virtual Status begin_gather(Channel channel, const void* bytes, size_t size, void* all) = 0;
  virtual Result<bool> test_gather(Channel channel) = 0;

  // Any rank: asks a node's leader, which answers inside its own calls of this class. Returns the
  // size of the answer.
  virtual Result<size_t> ask(uint32_t node, const void* question, size_t size, void* answer,
                             size_t capacity) = 0;
  // Answers questions that have arrived.
  virtual void progress() = 0;

  // All ranks of all nodes: sends `size` bytes of each leader to all ranks.
  virtual Status gather_to_all(const void* bytes, size_t size, void* all) = 0;
  // All ranks of all nodes: returns the greatest value. Leaders answer questions meanwhile.
  virtual Result<int64_t> maximum(int64_t value) = 0;
};

// Leaders only: gathers and waits for all leaders.
Status gather(Exchange* exchange, Exchange::Channel channel, const void* bytes, size_t size,
              void* all);
// Gathers bytes of different lengths, one blob per node. EOVERFLOW: a node has more than 1 GiB.
using Blobs = std::vector<std::vector<uint8_t>>;
Result<Blobs> gather_blobs(Exchange* exchange, Exchange::Channel channel,
                           const std::vector<uint8_t>& own);
// Called by all ranks of all nodes; only the leaders' `own` counts.
Result<Blobs> gather_blobs_to_all(Exchange* exchange, const std::vector<uint8_t>& own);

}  // namespace cairn::checkpoint
