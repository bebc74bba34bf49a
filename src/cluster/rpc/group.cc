#include "cluster/rpc/group.h"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace cairn::cluster {
namespace {

struct Verdict {
  int32_t code = 0;
  char text[detail_capacity] = {};
};

Verdict verdict_of(Status status) {
  Verdict verdict;
  verdict.code = status.code();
  if (!status.ok()) std::strncpy(verdict.text, last_detail(), sizeof verdict.text - 1);
  return verdict;
}

Status status_of(const Verdict& verdict) {
  return verdict.code == 0 ? Status() : fail(verdict.code, "%s", verdict.text);
}

Status check(int result) {
  return result < 0 ? fail(-result, "the ranks cannot reach each other: %s", std::strerror(-result))
                    : Status();
}

}  // namespace

Status Group::gather(
    const Bytes& mine,
    const std::function<void(uint32_t rank, const uint8_t* bytes, size_t size)>& visit) {
  std::vector<size_t> sizes(group_.ranks);
  void* all = nullptr;
  CAIRN_TRY(check(group_.gather(group_.context, mine.data(), mine.size(), &all, sizes.data())));
  const std::unique_ptr<void, decltype(&std::free)> owner(all, &std::free);
  if (!is_first()) return Status();
  const auto* at = static_cast<const uint8_t*>(all);
  for (uint32_t rank = 0; rank < group_.ranks; ++rank) {
    visit(rank, at, sizes[rank]);
    at += sizes[rank];
  }
  return Status();
}

Status Group::broadcast(Bytes* bytes) {
  uint64_t size = bytes->size();
  CAIRN_TRY(check(group_.broadcast(group_.context, &size, sizeof size)));
  bytes->resize(size);
  return size == 0 ? Status() : check(group_.broadcast(group_.context, bytes->data(), size));
}

Status Group::agree(Status mine) {
  const Verdict own = verdict_of(mine);
  Bytes bytes(sizeof own);
  std::memcpy(bytes.data(), &own, sizeof own);
  Verdict first;
  CAIRN_TRY(gather(bytes, [&](uint32_t, const uint8_t* theirs, size_t size) {
    if (first.code == 0 && size == sizeof first) std::memcpy(&first, theirs, size);
  }));
  std::memcpy(bytes.data(), &first, sizeof first);
  CAIRN_TRY(broadcast(&bytes));
  std::memcpy(&first, bytes.data(), sizeof first);
  return status_of(first);
}

}  // namespace cairn::cluster
