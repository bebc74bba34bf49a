#include "capi/context/transport_exchange.h"

#include <cstring>

#include "base/saved_failure.h"
#include "capi/core/handles.h"

namespace cairn::capi {
namespace {

// A call of the transport has put its text already.
Status status_of(int result) { return result < 0 ? Status(-result) : Status(); }

}  // namespace

size_t TransportExchange::answer(void* context, const void* question, size_t size, void* reply) {
  // Other sessions of the process may answer for this one.
  const WriteWindow window;
  const auto& self = *static_cast<TransportExchange*>(context);
  return self.serve_ ? self.serve_(question, size, reply) : 0;
}

int TransportExchange::join(int communicator, const cairn_node* node) {
  const cairn_transport_client client = {"checkpoint",  0, answer, this, longest_question,
                                         longest_answer};
  const int joined = cairn_transport_join(communicator, node, &client, &transport_);
  return joined < 0 ? joined : cairn_transport_describe(transport_, &info_);
}

void TransportExchange::leave() {
  if (transport_ != nullptr) cairn_transport_leave(transport_);
  transport_ = nullptr;
}

std::vector<uint32_t> TransportExchange::own_ranks() const {
  std::vector<uint32_t> ranks(info_.ranks);
  const int count = cairn_transport_ranks_of(transport_, info_.node, ranks.data(), info_.ranks);
  ranks.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return ranks;
}

std::string TransportExchange::name_of(uint32_t number) const {
  cairn_node node{};
  if (cairn_transport_node(transport_, number, &node) < 0) return "a node";
  return std::string("node ") + node.host + " (pool " + node.pool + ")";
}

checkpoint::Uuid TransportExchange::pool_of(uint32_t number) const {
  cairn_node node{};
  checkpoint::Uuid uuid{};
  static_assert(sizeof node.uuid == sizeof uuid);
  if (cairn_transport_node(transport_, number, &node) >= 0)
    std::memcpy(uuid.data(), node.uuid, uuid.size());
  return uuid;
}

Status TransportExchange::begin_gather(Channel channel, const void* bytes, size_t size, void* all) {
  Gather& gather = gathers_[static_cast<size_t>(channel)];
  if (gather.to != nullptr) return fail(EBUSY, "a gather of this channel is under way");
  const auto* from = static_cast<const uint8_t*>(bytes);
  gather.own.assign(from, from + size);
  gather.all.resize(size * nodes());
  gather.to = all;
  return status_of(cairn_transport_begin_gather(transport_, static_cast<uint32_t>(channel),
                                                gather.own.data(), size, gather.all.data()));
}

Result<bool> TransportExchange::test_gather(Channel channel) {
  Gather& gather = gathers_[static_cast<size_t>(channel)];
  const int result = cairn_transport_test_gather(transport_, static_cast<uint32_t>(channel));
  if (result < 0) return Status(-result);
  if (result == 0) return false;
  if (gather.to != nullptr) std::memcpy(gather.to, gather.all.data(), gather.all.size());
  gather.to = nullptr;
  return true;
}

Result<size_t> TransportExchange::ask(uint32_t node, const void* question, size_t size,
                                      void* answer, size_t capacity) {
  cairn_question one = {node, question, size, answer, capacity, 0};
  CAIRN_TRY(status_of(cairn_transport_ask(transport_, &one, 1)));
  return one.got;
}

void TransportExchange::progress() { cairn_transport_progress(transport_); }

Status TransportExchange::gather_to_all(const void* bytes, size_t size, void* all) {
  return status_of(cairn_transport_gather_nodes(transport_, bytes, size, all));
}

Result<int64_t> TransportExchange::maximum(int64_t value) {
  CAIRN_TRY(status_of(cairn_transport_maximum(transport_, &value, 1)));
  return value;
}

Result<checkpoint::Uuid> agree_on_set(checkpoint::Exchange* exchange, bool is_leader,
                                      file::FileSystem& fs, const std::string& name,
                                      const std::optional<checkpoint::Uuid>& in_lower,
                                      const checkpoint::Uuid& fresh) {
  struct Says {
    checkpoint::Uuid set;
    checkpoint::Uuid in_lower;
    int32_t error;
    uint32_t is_there;
    uint32_t is_in_lower;
  } says{};
  if (in_lower) says.in_lower = *in_lower;
  says.is_in_lower = in_lower ? 1 : 0;
  if (is_leader) {
    const auto set = checkpoint::SetFile::open(fs, name);
    if (set.ok()) {
      std::memcpy(says.set.data(), (*set)->record().set, says.set.size());
      says.is_there = 1;
    } else if (set.code() != ENOENT) {
      says.error = set.code();
    }
  }
  const SavedFailure own{Status(says.error)};
  std::vector<Says> all(exchange->nodes());
  CAIRN_TRY(exchange->gather_to_all(&says, sizeof says, all.data()));
  const Says* first = nullptr;
  for (const Says& one : all) {
    const auto node = static_cast<uint32_t>(&one - all.data());
    if (one.error != 0 && !own.ok()) return own.restored();
    if (one.error != 0)
      return fail(one.error, "%s: %s", exchange->name_of(node).c_str(), strerror(one.error));
    if (one.is_there == 0) continue;
    if (first != nullptr && one.set != first->set)
      return fail(EUCLEAN,
                  "%s and %s have different sets of this name, which were not written together; "
                  "take another name, or remove one of them",
                  exchange->name_of(static_cast<uint32_t>(first - all.data())).c_str(),
                  exchange->name_of(node).c_str());
    if (first == nullptr) first = &one;
  }
  // Leaders compared their pools with lower, as each saw it.
  const Says* below = nullptr;
  for (const Says& one : all) {
    if (one.is_in_lower == 0) continue;
    if (below == nullptr) below = &one;
    if (one.in_lower != (first == nullptr ? below->in_lower : first->set))
      return fail(EUCLEAN, "options.lower: holds another set of this name than the pools");
  }
  if (first != nullptr) return first->set;
  return below == nullptr ? fresh : below->in_lower;
}

}  // namespace cairn::capi
