#include "checkpoint/run/exchange.h"

#include <algorithm>

#include "checkpoint/run/spin_wait.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t longest_blob = uint64_t{1} << 30;

using Gather = std::function<Status(const void* bytes, size_t size, void* all)>;

// Gathers the lengths first, then all blobs padded to the longest.
Result<Blobs> gather_blobs_by(uint32_t nodes, const std::vector<uint8_t>& own,
                              const Gather& gather_fixed) {
  const uint64_t length = own.size();
  std::vector<uint64_t> lengths(nodes);
  CAIRN_TRY(gather_fixed(&length, sizeof length, lengths.data()));
  const uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (longest > longest_blob)
    return fail(EOVERFLOW, "message of a node: %llu bytes; at most 1 GiB",
                static_cast<unsigned long long>(longest));
  std::vector<uint8_t> padded = own;
  padded.resize(static_cast<size_t>(longest));
  std::vector<uint8_t> all(static_cast<size_t>(longest) * nodes);
  if (longest != 0) CAIRN_TRY(gather_fixed(padded.data(), padded.size(), all.data()));
  Blobs blobs;
  for (uint32_t node = 0; node < nodes; ++node) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(longest * node);
    blobs.emplace_back(begin, begin + static_cast<ptrdiff_t>(lengths[node]));
  }
  return blobs;
}

}  // namespace

Status gather(Exchange* exchange, Exchange::Channel channel, const void* bytes, size_t size,
              void* all) {
  CAIRN_TRY(exchange->begin_gather(channel, bytes, size, all));
  SpinWait spin;
  for (;;) {
    CAIRN_TRY_ASSIGN(is_complete, exchange->test_gather(channel));
    if (is_complete) return Status();
    spin.pause();
  }
}

Result<Blobs> gather_blobs(Exchange* exchange, Exchange::Channel channel,
                           const std::vector<uint8_t>& own) {
  return gather_blobs_by(exchange->nodes(), own, [&](const void* bytes, size_t size, void* all) {
    return gather(exchange, channel, bytes, size, all);
  });
}

Result<Blobs> gather_blobs_to_all(Exchange* exchange, const std::vector<uint8_t>& own) {
  return gather_blobs_by(exchange->nodes(), own, [&](const void* bytes, size_t size, void* all) {
    return exchange->gather_to_all(bytes, size, all);
  });
}

}  // namespace cairn::checkpoint
