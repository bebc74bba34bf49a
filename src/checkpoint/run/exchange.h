// Exchange: messages between the nodes of a run. The lowest rank of each node is its leader.
// Nothing moves between nodes outside these functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

class Exchange {
 public:
  // Gathers of one channel are begun in the same order by all leaders. Channels are independent.
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
  // For messages: "node HOST (pool PATH)".
  [[nodiscard]] virtual std::string name_of(uint32_t node) const = 0;
  [[nodiscard]] virtual Uuid pool_of(uint32_t node) const = 0;
  // By which the leader answers; before any rank asks.
  virtual void serve_with(Serve serve) = 0;

  // Leaders only: gathers `size` bytes of each node, in order of nodes. Both areas stay untouched
  // until test_gather() says so.
  virtual Status begin_gather(Channel channel, const void* bytes, size_t size, void* all) = 0;
  virtual Result<bool> test_gather(Channel channel) = 0;

  // Any rank: asks a node's leader, which answers inside its own calls of this class. The size of
  // the answer.
  virtual Result<size_t> ask(uint32_t node, const void* question, size_t size, void* answer,
                             size_t capacity) = 0;
  // Answers questions that have come.
  virtual void progress() = 0;

  // All ranks of all nodes: `size` bytes of each leader, to all ranks.
  virtual Status gather_to_all(const void* bytes, size_t size, void* all) = 0;
  // All ranks of all nodes: the greatest value. Leaders answer meanwhile.
  virtual Result<int64_t> maximum(int64_t value) = 0;
};

// Leaders only; waits for all of them.
Status gather(Exchange* exchange, Exchange::Channel channel, const void* bytes, size_t size,
              void* all);
// Bytes of different lengths, one a node. EOVERFLOW: a node has more than 1 GiB.
using Blobs = std::vector<std::vector<uint8_t>>;
Result<Blobs> gather_blobs(Exchange* exchange, Exchange::Channel channel,
                           const std::vector<uint8_t>& own);
// By all ranks of all nodes; `own` counts on leaders.
Result<Blobs> gather_blobs_to_all(Exchange* exchange, const std::vector<uint8_t>& own);

}  // namespace cairn::checkpoint
