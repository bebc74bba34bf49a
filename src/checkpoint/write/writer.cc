#include "checkpoint/write/writer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/coarse_clock.h"
#include "base/crc32c_bulk.h"
#include "checkpoint/run/patience.h"
#include "checkpoint/stock/commit_part.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/write/extent_writer.h"
#include "checkpoint/write/failure_text.h"
#include "checkpoint/write/room.h"
#include "file/data/bulk_write.h"
#include "file/data/io.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t result_bits = 8;
constexpr size_t known_outcomes = 4096;
constexpr uint64_t new_slot = uint64_t{1} << 32;

constexpr uint8_t redundancy_copy = 1;

uint64_t bytes_of(const Agreed& agreed) {
  return std::accumulate(agreed.regions.bytes.begin(), agreed.regions.bytes.end(), uint64_t{0});
}

}  // namespace

// The part that the ranks of this node make up.
PartRecord Writer::make_part() const {
  const std::vector<uint32_t> ranks = run_.numbers();
  PartRecord part{};
  const Uuid pool = pool_uuid(run_.set().fs());
  std::memcpy(part.pool, pool.data(), pool.size());
  gethostname(part.host, sizeof part.host - 1);
  std::memcpy(part.failure_domain, part.host, sizeof part.failure_domain - 1);
  part.first = ranks.front();
  part.stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  part.count = static_cast<uint32_t>(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] != part.first + part.stride * i) part.flags = part_is_irregular;
  const uint32_t node = run_.node();
  if (node < partners_.domains.size()) {
    std::memset(part.failure_domain, 0, sizeof part.failure_domain);
    partners_.domains[node].copy(part.failure_domain, most_domain_bytes);
  }
  if (node < partners_.holders.size()) part.partner = partners_.holders[node] + 1;
  seal_part(&part);
  return part;
}

Result<Agreed> make_agreed(Contents contents, const Run& run) {
  Agreed agreed;
  agreed.contents = std::move(contents);
  CAIRN_TRY_ASSIGN(packed, pack_region(agreed.contents, run.number()));
  agreed.packed = std::move(packed);
  CAIRN_TRY_ASSIGN(regions, place_regions(agreed.contents, run.numbers()));
  agreed.regions = std::move(regions);
  return agreed;
}

uint64_t Writer::write(const Agreed& agreed, const Definitions& definitions,
                       const VersionFacts& facts) {
  // Its words are those of the version after next.
  while (sequence_ > decided_) {
    const Status waited = wait(sequence_, 0);
    if (!waited.ok() && run_.exchange() != nullptr) give_up(waited);
  }
  ++sequence_;
  Outcome& outcome = outcomes_[sequence_];
  outcome.number = facts.number;
  outcome.bytes = bytes_of(agreed);
  outcome.begun_ns = fine_monotonic_ns();
  if (outcomes_.size() > known_outcomes) outcomes_.erase(outcomes_.begin());
  if (lost_ != 0) {
    status_ = fail(lost_, "this run can decide on no version any more");
    text_ = last_detail();
    give_up(status_);
    return sequence_;
  }
  Slot* slot = nullptr;
  status_ = open(agreed, facts, &slot);
  if (status_.ok()) status_ = stage(*slot, agreed, definitions);
  text_ = status_.ok() ? "" : last_detail();
  if (!status_.ok()) note_failure(status_);
  outcome.staged_ns = fine_monotonic_ns();
  arrive();
  return sequence_;
}

SlotIds Writer::opened_ids(uint64_t sequence) const {
  SlotIds ids;
  if (words_.opening(RunWords::sequence).load() != sequence) return ids;
  ids.number = static_cast<uint32_t>(words_.opening(RunWords::slot).load());
  ids.manifest = words_.opening(RunWords::manifest).load();
  ids.manifest_generation = words_.opening(RunWords::manifest_generation).load();
  ids.data = words_.opening(RunWords::data).load();
  ids.data_generation = words_.opening(RunWords::data_generation).load();
  return ids;
}

Status Writer::open(const Agreed& agreed, const VersionFacts& facts, Slot** slot) {
  opened_slot_ = 0;
  if (words_.opening(RunWords::sequence).load() != sequence_) {
    CAIRN_TRY(run_.locked([&] {
      if (words_.opening(RunWords::sequence).load() == sequence_) return Status();
      return open_first(agreed, facts);
    }));
  }
  const SlotIds ids = opened_ids(sequence_);
  opened_slot_ = ids.number;
  if (ids.number == 0) {
    const uint64_t failed = words_.arrivals(sequence_, RunWords::failed).load();
    return fail(failed == 0 ? EIO : static_cast<int>(failed & 0xffff),
                "rank %u could not open the version", static_cast<unsigned>(failed >> 32));
  }
  const auto number = static_cast<int64_t>(words_.opening(RunWords::number).load());
  if (number != facts.number)
    return fail(EINVAL, "this rank writes version %lld, another one version %lld",
                static_cast<long long>(facts.number), static_cast<long long>(number));
  CAIRN_TRY_ASSIGN(found, shelf_.get(ids));
  *slot = found;
  return Status();
}

// The first rank that comes: takes a slot, and says which. Under the lock.
Status Writer::open_first(const Agreed& agreed, const VersionFacts& facts) {
  pool::Pool& pool = this->pool();
  for (const auto word : {RunWords::arrived, RunWords::failed, RunWords::bytes})
    pool.store(words_.arrivals(sequence_, word), 0);
  const auto shape =
      shape_of(run_.ranks(), static_cast<uint32_t>(facts.attributes.size()), run_.nodes());
  Status status = shape.status();
  if (status.ok())
    status =
        check_room(pool, bytes_of_version(agreed.regions, agreed.contents.layout().block_bytes()),
                   "a version takes of this host");
  SlotIds ids;
  uint64_t is_new = 0;
  if (status.ok()) {
    bool made = false;
    auto slot = shelf_.take_free(shape->length, agreed.regions.end, &made);
    if (made) is_new = new_slot;
    status = slot.status();
    if (status.ok()) status = write_begin(**slot, agreed, facts);
    if (status.ok()) ids = (*slot)->ids();
  }
  if (!status.ok()) note_failure(status);
  pool.store(words_.opening(RunWords::slot), ids.number | is_new);
  pool.store(words_.opening(RunWords::manifest), ids.manifest);
  pool.store(words_.opening(RunWords::manifest_generation), ids.manifest_generation);
  pool.store(words_.opening(RunWords::data), ids.data);
  pool.store(words_.opening(RunWords::data_generation), ids.data_generation);
  pool.store(words_.opening(RunWords::next_extent), agreed.regions.end);
  pool.store(words_.opening(RunWords::number), static_cast<uint64_t>(facts.number));
  pool.store(words_.opening(RunWords::sequence), sequence_);
  return status;
}

// All of the manifest but its roots and its decision, which is free.
Status Writer::write_begin(Slot& slot, const Agreed& agreed, const VersionFacts& facts) {
  const file::FileSystem& fs = run_.set().fs();
  VersionRecord version{};
  std::memcpy(version.set, run_.set().record().set, sizeof version.set);
  const Uuid run = run_.uuid();
  std::memcpy(version.run, run.data(), run.size());
  const Uuid holder = pool_uuid(fs);
  std::memcpy(version.holder, holder.data(), holder.size());
  version.sequence = sequence_;
  put_lineage(lineage_, &version);
  version.number = facts.number;
  version.step = facts.step;
  version.begun = fine_now_ns();
  const Sha256Hash& layout = agreed.contents.layout().hash();
  std::copy(layout.begin(), layout.end(), version.layout);
  version.ranks = run_.all_ranks();
  version.part_ranks = run_.ranks();
  version.parts = run_.nodes();
  version.part = run_.node();
  version.redundancy = partners_.holders.empty() ? 0 : redundancy_copy;
  version.attributes_length = static_cast<uint32_t>(facts.attributes.size());
  std::memcpy(version.code_version, facts.code_version.data(),
              std::min(facts.code_version.size(), sizeof version.code_version - 1));
  CAIRN_TRY(seal_version(&version));

  file::File& manifest = slot.manifest_file();
  CAIRN_TRY(file::write_bulk(manifest, &version, sizeof version, 0));
  static constexpr uint8_t zeros[global_offset + 8 - attempts_offset] = {};
  CAIRN_TRY(file::write_bulk(manifest, zeros, sizeof zeros, attempts_offset));
  // The parts of several nodes are stored when all have told theirs.
  const uint64_t end = version.parts == 1 ? version.manifest_length : version.parts_offset;
  std::vector<uint8_t> rest(static_cast<size_t>(end - version.attributes_offset));
  std::copy(facts.attributes.begin(), facts.attributes.end(), rest.begin());
  if (version.parts == 1) {
    const PartRecord part = make_part();
    std::memcpy(rest.data() + (version.parts_offset - version.attributes_offset), &part,
                sizeof part);
  }
  return file::write_bulk(manifest, rest.data(), rest.size(), version.attributes_offset);
}

Status Writer::stage(Slot& slot, const Agreed& agreed, const Definitions& definitions) {
  const Layout& layout = agreed.contents.layout();
  std::vector<const Definition*> variables;
  for (const auto& [name, definition] : definitions.all()) variables.push_back(&definition);
  if (variables.size() != layout.variables()) return fail(EINVAL, "definitions were not agreed on");
  const uint32_t rank = run_.rank();  // on this node
  CountTotals totals(agreed.contents);
  CAIRN_TRY_ASSIGN(written, write_region(slot.data_file(), agreed.regions.offset[rank],
                                         agreed.contents, agreed.packed, variables,
                                         [&](uint32_t variable, const ArrayPlace& array) {
                                           totals.note(variable, array);
                                         }));
  RootRecord root = written;
  if (agreed.contents.has_counted())
    CAIRN_TRY(stage_extent(slot, agreed, variables, totals, &root));
  root.rank = run_.number();
  root.sequence = sequence_;
  seal_root(&root);
  CAIRN_TRY(file::write_bulk(slot.manifest_file(), &root, sizeof root,
                             roots_offset + sizeof root * uint64_t{rank}));
  // All that this rank has written for the version, to both files.
  return pool().fence_bytes();
}

// Where the rank's extent lies, behind those of ranks that came before.
uint64_t Writer::take_extent(uint64_t bytes) {
  constexpr uint64_t page = 4096;
  persist::Word& next = words_.opening(RunWords::next_extent);
  uint64_t held = next.load();
  for (;;) {
    const uint64_t begin = align(held, bytes < region_unit ? page : region_unit);
    if (pool().compare_exchange(next, held, begin + align(bytes, page))) return begin;
  }
}

Status Writer::stage_extent(Slot& slot, const Agreed& agreed,
                            const std::vector<const Definition*>& variables,
                            const CountTotals& totals, RootRecord* root) {
  CAIRN_TRY_ASSIGN(extent, find_extent(agreed.contents, variables));
  CAIRN_TRY(totals.check(extent, run_.number()));
  const uint64_t bytes =
      bytes_with_list(extent.packed.bytes, agreed.contents.layout().block_bytes());
  const uint64_t offset = take_extent(bytes);
  if (offset + bytes > max_data_file)
    return fail(EOVERFLOW, "data of a node: more than 2^48 bytes");
  CAIRN_TRY(file::grow_size(slot.data_file(), offset + bytes));
  CAIRN_TRY_ASSIGN(crc, write_extent(slot.data_file(), offset, agreed.contents, extent));
  root->extent_offset = offset;
  root->extent_bytes = extent.packed.bytes;
  root->extent_list_crc = crc;
  root->directory = static_cast<uint32_t>(extent.directory.size());
  pool().fetch_add(words_.arrivals(sequence_, RunWords::bytes), extent.packed.bytes);
  return Status();
}

void Writer::note_failure(const Status& status) {
  uint64_t none = 0;
  const std::string text = last_detail();
  const bool is_first =
      pool().compare_exchange(words_.arrivals(sequence_, RunWords::failed), none,
                              static_cast<uint64_t>(status.code()) | uint64_t{run_.number()} << 32);
  // All that learn of it come later: this rank has not arrived yet.
  if (is_first && run_.ranks() > 1)
    tell_text(run_, place_of(sequence_), tag_of(sequence_, run_.number()), text);
}

void Writer::arrive() {
  pool().store(words_.member(run_.rank(), RunWords::arrival), sequence_);
  const uint64_t before = pool().fetch_add(words_.arrivals(sequence_, RunWords::arrived), 1);
  if (run_.exchange() != nullptr) {
    if (run_.is_leader()) advance().ignore();  // said when it is waited for
    return;
  }
  if (before + 1 < run_.ranks()) return;
  const uint64_t sequence = sequence_;
  run_.locked([&] { return decide(sequence); }).ignore();  // others find it undecided, and do it
}

bool Writer::is_decided(uint64_t sequence) const {
  return words_.arrivals(sequence, RunWords::decided).load() >> result_bits == sequence;
}

bool Writer::is_over(uint64_t sequence) const {
  return words_.arrivals(sequence, RunWords::decided).load() >> result_bits >= sequence;
}

Result<SlotIds> Writer::opened() const {
  if (opened_slot_ == 0) return fail(ENOENT, "the version has no slot");
  CAIRN_TRY_ASSIGN(slot, shelf_.get(opened_slot_));
  return slot->ids();
}

// Have all ranks arrived, or can one of them never come?
bool Writer::can_decide(uint64_t sequence, bool* is_dead, uint32_t* dead) const {
  bool all = true;
  for (uint32_t rank = 0; rank < run_.ranks(); ++rank) {
    if (words_.member(rank, RunWords::arrival).load() >= sequence) continue;
    all = false;
    // It may have arrived before it died.
    if (run_.is_gone(rank) && words_.member(rank, RunWords::arrival).load() < sequence) {
      *is_dead = true;
      *dead = rank;
      return true;
    }
  }
  return all;
}

// Under the lock, by whichever rank comes last, or finds that another one cannot.
Status Writer::decide(uint64_t sequence) {
  if (is_decided(sequence)) return Status();
  bool is_dead = false;
  uint32_t dead = 0;
  if (!can_decide(sequence, &is_dead, &dead)) return Status();
  persist::Word& failed = words_.arrivals(sequence, RunWords::failed);
  if (is_dead && failed.load() == 0)
    pool().store(failed, EOWNERDEAD | uint64_t{run_.number_of(dead)} << 32);
  Verdict result = committed;
  if (failed.load() == 0) {
    if (const Status status = commit(sequence); !status.ok()) note_failure(status);
  }
  if (failed.load() != 0) {
    abort(sequence, static_cast<int>(failed.load() & 0xffff));
    result = aborted;
  }
  pool().store(words_.arrivals(sequence, RunWords::decided), sequence << result_bits | result);
  learn(sequence, true);
  return Status();
}

Status Writer::commit(uint64_t sequence) {
  CAIRN_TRY_ASSIGN(slot, shelf_.get(opened_ids(sequence)));
  return commit_slot(run_.set().fs(), slot, sequence);
}

// Nobody was told of the version, so nothing of this need be durable.
void Writer::abort(uint64_t sequence, int error) {
  const SlotIds ids = opened_ids(sequence);
  if (ids.number == 0) return;
  const auto slot = shelf_.get(ids);
  if (!slot.ok()) return;
  abort_slot(run_.set().fs(), *slot, sequence);
  // The blocks of a slot that was made for this are missing elsewhere.
  const bool is_new = (words_.opening(RunWords::slot).load() & new_slot) != 0;
  if (is_new && error == ENOSPC)
    remove_slot(run_.set().fs(), run_.set().directory(), ids.number).ignore();  // stays free then
}

Status Writer::prepare_part(uint64_t sequence, NodePrepared* prepared) {
  CAIRN_TRY_ASSIGN(slot, shelf_.get(opened_ids(sequence)));
  CAIRN_TRY(slot->write_back());
  CAIRN_TRY_ASSIGN(version, slot->read_version());
  CAIRN_TRY_ASSIGN(bytes, read_begin(slot->manifest_file(), version.attributes_offset));
  if (version.sequence != sequence || bytes.size() != version.attributes_offset)
    return fail(EUCLEAN, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  const uint8_t* const roots = bytes.data() + roots_offset;
  for (uint32_t i = 0; i < version.part_ranks; ++i) {
    const auto root = record_at<RootRecord>(roots + sizeof(RootRecord) * size_t{i});
    if (!is_sound(root) || root.sequence != sequence)
      return fail(EUCLEAN, "%s: damaged: root %u", manifest_name(slot->ids().number).c_str(), i);
    prepared->part.bytes += root.region_bytes + root.extent_bytes;
  }
  prepared->part.roots_crc = crc32c_bulk(0, roots, sizeof(RootRecord) * size_t{version.part_ranks});
  prepared->begun = version.begun;
  prepared->common_crc = common_crc_of(version);
  return Status();
}

// What this node tells the others: all of its ranks have arrived, or one never will.
NodePrepared Writer::prepare(uint64_t sequence) {
  NodePrepared prepared{};
  prepared.part = make_part();
  prepared.sequence = sequence;
  uint64_t failed = words_.arrivals(sequence, RunWords::failed).load();
  if (failed == 0) {
    if (const Status status = prepare_part(sequence, &prepared); !status.ok())
      failed = static_cast<uint64_t>(status.code()) | uint64_t{run_.number()} << 32;
  }
  prepared.part.error = static_cast<uint32_t>(failed & 0xffff);
  prepared.failed_rank = static_cast<uint32_t>(failed >> 32);
  prepared.is_copying = copying_.is_busy && copying_.is_busy() ? 1 : 0;
  seal_part(&prepared.part);
  return prepared;
}

Status Writer::advance() {
  if (run_.exchange() == nullptr || !run_.is_leader() || sequence_ <= decided_) return Status();
  const uint64_t sequence = sequence_;
  if (!nodes_.is_under_way()) {
    bool is_dead = false;
    uint32_t dead = 0;
    if (!can_decide(sequence, &is_dead, &dead)) {
      run_.exchange()->progress();
      return Status();
    }
    persist::Word& failed = words_.arrivals(sequence, RunWords::failed);
    if (is_dead && failed.load() == 0)
      pool().store(failed, EOWNERDEAD | uint64_t{run_.number_of(dead)} << 32);
    CAIRN_TRY(nodes_.begin(prepare(sequence)));
  }
  const auto decide = [&](const std::vector<PartRecord>& parts) -> Status {
    CAIRN_TRY_ASSIGN(slot, shelf_.get(opened_ids(sequence)));
    return commit_part(run_.set().fs(), slot, sequence, parts);
  };
  NodesVerdict verdict;
  CAIRN_TRY_ASSIGN(is_over, nodes_.proceed(decide, &verdict));
  if (!is_over) return Status();
  return run_.locked([&] {
    say(sequence, verdict);
    nodes_.settle();
    return Status();
  });
}

// What all nodes came to, for the ranks of this one.
void Writer::say(uint64_t sequence, const NodesVerdict& verdict) {
  if (verdict.error != 0) {
    pool().store(words_.arrivals(sequence, RunWords::failed),
                 static_cast<uint64_t>(verdict.error) | uint64_t{verdict.rank} << 32);
    abort(sequence, verdict.error);
  }
  pool().store(words_.arrivals(sequence, RunWords::bytes), verdict.bytes);
  pool().store(words_.arrivals(sequence, RunWords::begun), verdict.begun);
  pool().store(words_.arrivals(sequence, RunWords::decided),
               sequence << result_bits | (verdict.error == 0 ? committed : aborted));
  learn(sequence, true);
  const KnownVersion* const known = catalogue_.find(sequence);
  if (verdict.error == 0 && !verdict.is_copying && copying_.begin && known != nullptr)
    copying_.begin(*known);
}

// Without its leader a node learns nothing of the others.
void Writer::look_after_leader(uint64_t sequence) {
  if (run_.is_leader() || is_decided(sequence) || !run_.is_gone(0) || is_decided(sequence)) return;
  give_up(fail(EOWNERDEAD, "rank %u, which speaks for this node, was killed", run_.number_of(0)));
}

void Writer::give_up(const Status& why) {
  lost_ = why.code();
  for (uint64_t sequence = decided_ + 1; sequence <= sequence_; ++sequence) {
    Outcome& outcome = outcomes_[sequence];
    outcome.error = why.code();
    outcome.rank = run_.number_of(0);
  }
  decided_ = sequence_;
}

void Writer::learn(uint64_t sequence, bool retires) {
  if (sequence <= decided_) return;
  decided_ = sequence;
  const bool is_committed =
      (words_.arrivals(sequence, RunWords::decided).load() & 0xff) == committed;
  const uint64_t failed = words_.arrivals(sequence, RunWords::failed).load();
  Outcome& outcome = outcomes_[sequence];
  outcome.is_committed = is_committed;
  outcome.local_ns = fine_monotonic_ns();
  const bool has_nodes = run_.exchange() != nullptr;
  const uint64_t told = words_.arrivals(sequence, RunWords::bytes).load();
  outcome.bytes = has_nodes ? told : outcome.bytes + told;  // of one node: of extents
  if (!is_committed) {
    outcome.error = static_cast<int>(failed & 0xffff);
    outcome.rank = static_cast<uint32_t>(failed >> 32);
    const bool is_own = outcome.rank == run_.number() && sequence == sequence_;
    if (is_own && status_.code() == outcome.error) outcome.text = text_;
    if (outcome.text.empty() && run_.ranks() > 1)
      outcome.text = told_text(run_, place_of(sequence), tag_of(sequence, outcome.rank));
    shelf_.drop(opened_slot_);
    return;
  }
  lineage_.parent = sequence;
  const auto slot = shelf_.get(opened_slot_);
  if (!slot.ok()) return;
  const auto version = (*slot)->read_version();
  if (!version.ok()) return;
  KnownVersion known;
  known.slot = opened_slot_;
  known.version = *version;
  if (has_nodes) {
    known.version.begun = words_.arrivals(sequence, RunWords::begun).load();
    known.holders.resize(run_.nodes());
    std::iota(known.holders.begin(), known.holders.end(), 0U);
  }
  catalogue_.add(known);
  const std::vector<KnownVersion> beyond = catalogue_.take_beyond(retention_);
  if (retires) retire(beyond);
  restarted_ = 0;
  if (!std::exchange(drops_damaged_, false)) return;
  const std::vector<uint32_t> damaged = catalogue_.take_damaged();
  if (retires && drop_damaged(damaged)) pool().fence().ignore();  // as above
}

// Of a slot that has lost a file, the other one is of no use.
bool Writer::drop_damaged(const std::vector<uint32_t>& slots) {
  bool is_changed = false;
  for (const uint32_t number : slots) {
    const auto slot = shelf_.get(number);
    if (slot.ok() && (*slot)->retire().ok()) {
      is_changed = true;
    } else {
      shelf_.drop(number);
      remove_slot(run_.set().fs(), run_.set().directory(), number).ignore();  // the next run may
    }
  }
  return is_changed;
}

// Off the path of the commit. What is not retired now is retired after a later commit.
void Writer::retire(const std::vector<KnownVersion>& beyond) {
  bool is_changed = false;
  for (const KnownVersion& known : beyond) {
    for (const uint32_t number : known.slots()) {
      const auto slot = shelf_.get(number);
      if (slot.ok() && (*slot)->retire().ok()) is_changed = true;
    }
  }
  if (restarted_ != 0 && confirm_restart().ok()) is_changed = true;
  if (is_changed) pool().fence().ignore();  // the slot's next user fences before it decides
}

void Writer::note_copies(uint64_t sequence, const std::vector<HeldCopy>& copies, int error) {
  for (const HeldCopy& copy : copies) catalogue_.add_copy(sequence, copy);
  const auto outcome = outcomes_.find(sequence);
  if (outcome != outcomes_.end()) outcome->second.partner_error = error;
  if (error != 0) return;
  if (outcome != outcomes_.end()) outcome->second.partner_ns = fine_monotonic_ns();
  catalogue_.note_partners(sequence, partners_.holders);
  const KnownVersion* const known = catalogue_.find(sequence);
  if (run_.is_leader() && known != nullptr) note_partner_level(*known);
  const std::vector<KnownVersion> beyond = catalogue_.take_beyond(retention_);
  if (run_.is_leader()) retire(beyond);
}

Status Writer::check_drop(uint64_t sequence) const {
  const bool is_continued = sequence == lineage_.parent;
  if (!is_continued && !catalogue_.must_stay(sequence)) return Status();
  return fail(EPERM, is_continued ? "the run goes on from this version"
                                  : "it is the newest version, or the newest that has copies");
}

Status Writer::drop(uint64_t sequence) {
  const auto known = catalogue_.take(sequence);
  if (!known || !run_.is_leader()) return Status();
  for (const uint32_t number : known->slots()) {
    CAIRN_TRY_ASSIGN(slot, shelf_.get(number));
    CAIRN_TRY(slot->retire());
  }
  return pool().fence();
}

// For reports: a restart looks at the copies.
void Writer::note_partner_level(const KnownVersion& known) {
  const auto slot = shelf_.get(known.slot);
  if (!slot.ok()) return;
  const auto word = (*slot)->word(partner_offset);
  if (!word.ok()) return;
  pool().store_flush(**word, fine_now_ns());
  pool().fence().ignore();  // what is lost then is the report
}

Status Writer::confirm_restart() {
  if (restarted_ == 0) return Status();
  CAIRN_TRY_ASSIGN(slot, shelf_.get(restarted_));
  CAIRN_TRY_ASSIGN(attempts, slot->word(attempts_offset));
  pool().store_flush(*attempts, 0);
  return pool().fence();
}

Result<bool> Writer::test(uint64_t sequence) {
  if (sequence <= run_.last_sequence() || sequence > sequence_)
    return fail(ENOENT, "this run has no such version");
  if (sequence <= decided_) return true;
  if (run_.exchange() != nullptr) {
    if (run_.is_leader()) CAIRN_TRY(advance());
    look_after_leader(sequence);
    if (sequence <= decided_) return true;
  } else if (!is_decided(sequence)) {
    bool is_dead = false;
    uint32_t dead = 0;
    if (!can_decide(sequence, &is_dead, &dead)) return false;
    CAIRN_TRY(run_.locked([&] { return decide(sequence); }));
  }
  if (!is_decided(sequence)) return false;
  learn(sequence, false);
  return true;
}

Status Writer::wait(uint64_t sequence, uint64_t timeout_ns) {
  const uint64_t begun = fine_monotonic_ns();
  Patience patience;
  for (bool looks = true;;) {
    if (sequence <= decided_) return Status();
    if (is_decided(sequence) || looks) {
      CAIRN_TRY_ASSIGN(is_known, test(sequence));
      if (is_known) return Status();
    }
    if (timeout_ns != 0 && fine_monotonic_ns() - begun > timeout_ns)
      return fail(ETIMEDOUT, "the version is not decided yet");
    looks = patience.pause() || (run_.exchange() != nullptr && run_.is_leader());
  }
}

const Outcome* Writer::outcome(uint64_t sequence) const {
  const auto found = outcomes_.find(sequence);
  return found == outcomes_.end() ? nullptr : &found->second;
}

std::string Writer::shown(const Outcome& outcome) {
  if (outcome.is_committed) return "";
  return "version " + std::to_string(outcome.number) + ": rank " + std::to_string(outcome.rank) +
         ": " + strerror(outcome.error) + "; the versions before it stay" +
         (outcome.text.empty() ? "" : ": ") + outcome.text;
}

}  // namespace cairn::checkpoint
