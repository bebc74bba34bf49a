#include "checkpoint/redundancy/drain_nodes.h"

#include <algorithm>
#include <cstring>

#include "base/saved_failure.h"
#include "checkpoint/redundancy/drain_version.h"
#include "checkpoint/redundancy/retire_lower.h"
#include "checkpoint/run/exchange.h"
#include "checkpoint/sources/lower_copy.h"

namespace cairn::checkpoint {
namespace {

class NodesDrain {
 public:
  NodesDrain(const Run& run, SlotCache* slot_cache, const Catalogue& catalogue,
             const KnownVersion& known, const DrainOrder& order)
      : run_(run), slot_cache_(*slot_cache), catalogue_(catalogue), known_(known), order_(order) {}
  ~NodesDrain() {
    if (is_open_) drop_aside(&parts_, &lower_);
  }
  NodesDrain(const NodesDrain&) = delete;
  NodesDrain& operator=(const NodesDrain&) = delete;

  Status drain() {
    if (!known_.missing.empty()) return fail(EHOSTDOWN, "%s", known_.missing.c_str());
    CAIRN_TRY(tell(is_first() ? begin() : Status()));
    CAIRN_TRY(tell(copy()));
    CAIRN_TRY(tell_record(is_first() ? complete() : Status()));
    if (order_.retention.removes()) CAIRN_TRY(retire());
    for (DrainedPart& part : parts_) note_global(run_.set(), part.slot).ignore();  // a report
    return Status();
  }

 private:
  // Returns the node that copies this part.
  [[nodiscard]] uint32_t node_of(uint32_t part) const {
    return known_.has(part) ? known_.holders[part] : known_.partners[part];
  }
  // Returns the node of the first part, which speaks for all.
  [[nodiscard]] uint32_t first() const { return node_of(0); }
  [[nodiscard]] bool is_first() const { return run_.node() == first(); }
  [[nodiscard]] uint64_t sequence() const { return known_.version.sequence; }

  // Shares errors: an error of one node is an error of all.
  Status tell(const Status& own) {
    const SavedFailure saved(own);
    const int32_t says = own.code();
    std::vector<int32_t> all(run_.nodes());
    CAIRN_TRY(gather(run_.exchange(), Exchange::Channel::commit, &says, sizeof says, all.data()));
    if (!own.ok()) return saved.restored();
    return judge(all);
  }
  [[nodiscard]] Status judge(const std::vector<int32_t>& all) const {
    for (uint32_t node = 0; node < run_.nodes(); ++node)
      if (all[node] != 0)
        return fail(all[node], "%s could not copy its part to lower: %s",
                    run_.exchange()->name_of(node).c_str(), strerror(all[node]));
    return Status();
  }

  Status open(bool makes) {
    const SetRecord& record = run_.set().record();
    CAIRN_TRY_ASSIGN(lower, LowerSet::open(order_.directory,
                                           std::string(record.name, record.name_length), makes));
    lower_ = std::move(lower);
    is_open_ = true;
    for (uint32_t i = 0; i < known_.version.parts; ++i) {
      if (node_of(i) != run_.node()) continue;
      CAIRN_TRY_ASSIGN(slot, slot_cache_.get(known_.slot_of(i)));
      CAIRN_TRY_ASSIGN(part, open_drained(run_.set(), slot, sequence()));
      parts_.push_back(std::move(part));
    }
    return Status();
  }

  Status begin() {
    CAIRN_TRY(open(true));
    if (parts_.empty()) return fail(EUCLEAN, "its first part is missing");
    CAIRN_TRY_ASSIGN(lock, lower_.lock(order_.lock_timeout_ns));
    lock_ = std::move(lock);
    return begin_drain(run_.set(), catalogue_, order_.used, parts_.front(), &lower_);
  }

  Status copy() {
    if (!is_open_) CAIRN_TRY(open(false));
    for (DrainedPart& part : parts_) CAIRN_TRY(copy_aside(&part, &lower_));
    for (DrainedPart& part : parts_) {
      is_changed_ = is_changed_ || part.aside.has_value();
      CAIRN_TRY(name_part(&part, &lower_));
    }
    return Status();
  }

  Status complete() {
    CAIRN_TRY_ASSIGN(missing, complete_drain(run_.set(), parts_.front(), is_changed_, &lower_));
    if (missing != 0)
      return fail(EIO, "%s: %u of %u parts are missing, though nodes have copied them",
                  lower_.path().c_str(), missing, known_.version.parts);
    if (!order_.retention.removes()) return Status();
    CAIRN_TRY_ASSIGN(witnesses, witnesses_in(lower_, order_.retention, sequence()));
    witnesses_ = std::move(witnesses);
    return Status();
  }

  // Tells the nodes which other versions they are to read.
  Status tell_record(const Status& own) {
    const SavedFailure saved(own);
    const int32_t code = own.code();
    std::vector<uint8_t> says(sizeof code + witnesses_.size() * sizeof(uint64_t));
    std::memcpy(says.data(), &code, sizeof code);
    if (!witnesses_.empty())
      std::memcpy(says.data() + sizeof code, witnesses_.data(),
                  witnesses_.size() * sizeof(uint64_t));
    CAIRN_TRY_ASSIGN(blobs, gather_blobs(run_.exchange(), Exchange::Channel::commit, says));
    std::vector<int32_t> codes;
    for (const std::vector<uint8_t>& blob : blobs) {
      if (blob.size() < sizeof code)
        return fail(EPROTO, "message of a node: cut off: %zu bytes", blob.size());
      codes.push_back(record_at<int32_t>(blob.data()));
    }
    if (!own.ok()) return saved.restored();
    CAIRN_TRY(judge(codes));
    const std::vector<uint8_t>& said = blobs[first()];
    witnesses_.resize((said.size() - sizeof code) / sizeof(uint64_t));
    if (!witnesses_.empty())
      std::memcpy(witnesses_.data(), said.data() + sizeof code,
                  witnesses_.size() * sizeof(uint64_t));
    return Status();
  }

  // Returns true if this node's share of a version's parts is whole: the parts are distributed over
  // the nodes.
  [[nodiscard]] bool are_whole_here(uint64_t witness) const {
    const auto copy = open_copy(lower_, witness);
    if (!copy.ok()) return false;
    for (uint32_t i = run_.node(); i < copy->manifest.version().parts; i += run_.nodes()) {
      const auto part = open_part(lower_, copy->manifest, copy->contents, i);
      if (!part.ok() || !check_part(*part, copy->contents).ok()) return false;
    }
    return true;
  }

  // Retires copies; each node reads its share of the versions that stay.
  Status retire() {
    std::vector<uint8_t> own(witnesses_.size() + 1);  // a message has at least one byte
    for (size_t i = 0; i < witnesses_.size(); ++i) own[i] = are_whole_here(witnesses_[i]) ? 1 : 0;
    std::vector<uint8_t> all(own.size() * run_.nodes());
    CAIRN_TRY(
        gather(run_.exchange(), Exchange::Channel::commit, own.data(), own.size(), all.data()));
    if (!is_first()) return Status();
    return retire_in_lower(&lower_, order_.retention, sequence(), [&](uint64_t witness) {
      const auto found = std::find(witnesses_.begin(), witnesses_.end(), witness);
      if (found == witnesses_.end()) return false;
      for (uint32_t node = 0; node < run_.nodes(); ++node)
        if (all[own.size() * node + static_cast<size_t>(found - witnesses_.begin())] == 0)
          return false;
      return true;
    });
  }

  const Run& run_;
  SlotCache& slot_cache_;
  const Catalogue& catalogue_;
  const KnownVersion& known_;
  const DrainOrder& order_;
  LowerSet lower_;
  bool is_open_ = false;
  LowerLock lock_;
  std::vector<DrainedPart> parts_;
  bool is_changed_ = false;
  std::vector<uint64_t> witnesses_;
};

}  // namespace

Status drain_on_nodes(const Run& run, SlotCache* slot_cache, const Catalogue& catalogue,
                      const KnownVersion& known, const DrainOrder& order) {
  return NodesDrain(run, slot_cache, catalogue, known, order).drain();
}

}  // namespace cairn::checkpoint
