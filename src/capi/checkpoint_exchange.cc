#include "capi/checkpoint_exchange.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/sha256.h"
#include "cairn/adapter/transport.h"

namespace cairn::capi {
namespace {

constexpr uint32_t default_timeout_ms = 60'000;

}  // namespace

Exchange::~Exchange() {
  if (transport_ != nullptr) cairn_transport_leave(transport_);
}

Result<std::unique_ptr<Exchange>> Exchange::join(int communicator,
                                                 const cairn_checkpoint_options& options,
                                                 cairn_pool* pool, Status own) {
  std::unique_ptr<Exchange> exchange(new Exchange);
  exchange->member_.timeout_ms = options.timeout_ms == 0 ? default_timeout_ms : options.timeout_ms;
  if (communicator != CAIRN_NO_COMMUNICATOR) {
    CAIRN_TRY(exchange->join_mpi(communicator, pool, own));
  } else {
    CAIRN_TRY(own);
    CAIRN_TRY(exchange->read_options(options));
  }
  return exchange;
}

Status Exchange::read_options(const cairn_checkpoint_options& options) {
  member_.rank = options.rank;
  member_.ranks = std::max(options.ranks, 1U);
  if (member_.rank >= member_.ranks)
    return fail(EINVAL, "options: rank %u of %u", member_.rank, member_.ranks);
  if (member_.ranks == 1) {
    CAIRN_TRY_ASSIGN(key, checkpoint::draw_uuid());
    member_.key = key;
    return Status();
  }
  if (options.job == nullptr || options.job[0] == 0)
    return fail(EINVAL, "options: %u ranks without MPI need a job", member_.ranks);
  const Sha256Hash hash = sha256(options.job, std::strlen(options.job));
  std::copy_n(hash.begin(), member_.key.size(), member_.key.begin());
  return Status();
}

Status Exchange::join_mpi(int communicator, cairn_pool* pool, Status own) {
  const std::string text = own.ok() ? "" : last_detail();
  cairn_node node{};
  const bool has_node = own.ok() && cairn_node_describe(pool, &node) == 0;
  const cairn_transport_client client = {"checkpoint", 0, nullptr, nullptr, 0, 0};
  const int joined =
      cairn_transport_join(communicator, has_node ? &node : nullptr, &client, &transport_);
  if (!own.ok()) return fail(own.code(), "%s", text.c_str());
  if (joined < 0) return Status(-joined);
  cairn_transport_info info{};
  if (const int result = cairn_transport_describe(transport_, &info); result < 0)
    return Status(-result);
  if (info.nodes != 1)
    return fail(ENOSYS,
                "checkpoint: the ranks use %u pools or hosts; this release writes checkpoints of "
                "one",
                info.nodes);
  member_.rank = info.rank;
  member_.ranks = info.ranks;
  auto key = checkpoint::draw_uuid();
  CAIRN_TRY(agree(key.status()));
  member_.key = *key;
  const int sent = cairn_transport_broadcast(transport_, member_.key.data(), member_.key.size(), 0);
  return sent < 0 ? Status(-sent) : Status();
}

Status Exchange::agree(Status own) {
  if (transport_ == nullptr) return own;
  const std::string text = own.ok() ? "" : last_detail();
  int64_t worst = own.code();
  if (const int result = cairn_transport_maximum(transport_, &worst, 1); result < 0)
    return Status(-result);
  if (!own.ok()) return fail(static_cast<int>(worst), "%s", text.c_str());
  if (worst != 0)
    return fail(static_cast<int>(worst), "another rank: %s", strerror(static_cast<int>(worst)));
  return Status();
}

}  // namespace cairn::capi
