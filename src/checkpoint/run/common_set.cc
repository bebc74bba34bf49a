#include "checkpoint/run/common_set.h"

#include <cstring>
#include <vector>

#include "base/saved_failure.h"

namespace cairn::checkpoint {

Result<Uuid> agree_on_set(Exchange* exchange, bool is_leader, file::FileSystem& fs,
                          const std::string& name, const std::optional<Uuid>& in_lower,
                          const Uuid& fresh) {
  struct Says {
    Uuid set;
    Uuid in_lower;
    int32_t error;
    uint32_t is_there;
    uint32_t is_in_lower;
  } says{};
  if (in_lower) says.in_lower = *in_lower;
  says.is_in_lower = in_lower ? 1 : 0;
  if (is_leader) {
    const auto set = SetFile::open(fs, name);
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
  // Each leader has looked into lower by itself.
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

}  // namespace cairn::checkpoint
