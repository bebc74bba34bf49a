#include "capi/checkpoint/program_transport.h"

#include <cstring>

#include "capi/core/handles.h"

namespace cairn::capi {
namespace {

// The transport has stored the text of a failure.
Status status_of(int result) { return result < 0 ? Status(-result) : Status(); }

}  // namespace

size_t ProgramTransport::answer(void* context, const void* question, size_t size, void* reply) {
  // A call of another run of this process may answer for this one.
  const WriteWindow window;
  const auto& self = *static_cast<ProgramTransport*>(context);
  return self.serve_ ? self.serve_(question, size, reply) : 0;
}

Status ProgramTransport::join(bool has_pool) {
  cairn_node node{};
  const bool has_node = has_pool && cairn_node_describe(pool_, &node) == 0;
  const cairn_transport_client client = {"checkpoint",  0, answer, this, longest_question,
                                         longest_answer};
  CAIRN_TRY(status_of(
      cairn_transport_join(communicator_, has_node ? &node : nullptr, &client, &transport_)));
  return status_of(cairn_transport_describe(transport_, &info_));
}

void ProgramTransport::leave() {
  if (transport_ != nullptr) cairn_transport_leave(transport_);
  transport_ = nullptr;
}

std::vector<uint32_t> ProgramTransport::own_ranks() const {
  std::vector<uint32_t> ranks(info_.ranks);
  const int count = cairn_transport_ranks_of(transport_, info_.node, ranks.data(), info_.ranks);
  ranks.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return ranks;
}

std::string ProgramTransport::name_of(uint32_t number) const {
  cairn_node node{};
  if (cairn_transport_node(transport_, number, &node) < 0) return "a node";
  return std::string("node ") + node.host + " (pool " + node.pool + ")";
}

checkpoint::Uuid ProgramTransport::pool_of(uint32_t number) const {
  cairn_node node{};
  checkpoint::Uuid uuid{};
  static_assert(sizeof node.uuid == sizeof uuid);
  if (cairn_transport_node(transport_, number, &node) >= 0)
    std::memcpy(uuid.data(), node.uuid, uuid.size());
  return uuid;
}

Status ProgramTransport::begin_gather(Channel channel, const void* bytes, size_t size, void* all) {
  Gather& gather = gathers_[static_cast<size_t>(channel)];
  if (gather.to != nullptr) return fail(EBUSY, "a gather of this channel is under way");
  const auto* from = static_cast<const uint8_t*>(bytes);
  gather.own.assign(from, from + size);
  gather.all.resize(size * nodes());
  gather.to = all;
  return status_of(cairn_transport_begin_gather(transport_, static_cast<uint32_t>(channel),
                                                gather.own.data(), size, gather.all.data()));
}

Result<bool> ProgramTransport::test_gather(Channel channel) {
  Gather& gather = gathers_[static_cast<size_t>(channel)];
  const int result = cairn_transport_test_gather(transport_, static_cast<uint32_t>(channel));
  if (result < 0) return Status(-result);
  if (result == 0) return false;
  if (gather.to != nullptr) std::memcpy(gather.to, gather.all.data(), gather.all.size());
  gather.to = nullptr;
  return true;
}

Result<size_t> ProgramTransport::ask(uint32_t node, const void* question, size_t size, void* answer,
                                     size_t capacity) {
  cairn_question one = {node, question, size, answer, capacity, 0};
  CAIRN_TRY(status_of(cairn_transport_ask(transport_, &one, 1)));
  return one.got;
}

void ProgramTransport::progress() { cairn_transport_progress(transport_); }

Status ProgramTransport::broadcast(void* bytes, size_t size) {
  return status_of(cairn_transport_broadcast(transport_, bytes, size, 0));
}

Status ProgramTransport::gather_to_all(const void* bytes, size_t size, void* all) {
  return status_of(cairn_transport_gather_nodes(transport_, bytes, size, all));
}

Result<int64_t> ProgramTransport::maximum(int64_t value) {
  CAIRN_TRY(status_of(cairn_transport_maximum(transport_, &value, 1)));
  return value;
}

}  // namespace cairn::capi
