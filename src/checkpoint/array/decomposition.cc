#include "checkpoint/array/decomposition.h"

#include "base/bounded_reader.h"
#include "checkpoint/record/head.h"
#include "checkpoint/record/limits.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {
namespace {

Status check_whole(uint32_t ranks, const Box& whole) {
  if (ranks == 0) return fail(EINVAL, "decomposition: 0 ranks");
  if (whole.dimensions > max_dimensions)
    return fail(EOVERFLOW, "decomposition: %u dimensions; at most %u", whole.dimensions,
                max_dimensions);
  if (!volume(whole)) return fail(EOVERFLOW, "decomposition: more than 2^62 elements");
  return Status();
}

std::vector<uint8_t> record_of(uint32_t ranks, const Box& whole, const DecompositionBody& body) {
  DecompositionRecord fixed{};
  fixed.kind = static_cast<uint8_t>(body.kind);
  fixed.dimensions = static_cast<uint8_t>(whole.dimensions);
  fixed.owner = static_cast<uint8_t>(body.owner);
  fixed.rank_order = body.rank_order;
  fixed.ranks = ranks;
  fixed.entries = body.entries;
  std::vector<uint8_t> record;
  append_values(&record, &fixed, 1);
  append_values(&record, whole.count.data(), whole.dimensions);
  record.insert(record.end(), body.bytes.begin(), body.bytes.end());
  return record;
}

// Turns an error of a definition into that of a damaged record.
Status damaged(Status cause) {
  if (cause.ok() || cause.code() == EPROTONOSUPPORT) return cause;
  return annotate(Status(EUCLEAN), "damaged");
}

}  // namespace

Result<Decomposition> Decomposition::read(std::vector<uint8_t> record) {
  CAIRN_TRY_ASSIGN(
      length, check_record(record.data(), record.size(), magic_decomposition, max_decomposition));
  record.resize(static_cast<size_t>(length));
  Decomposition made;
  made.record_ = std::move(record);
  CAIRN_TRY(damaged(made.parse()));
  return made;
}

Result<Decomposition> Decomposition::make(const DistributedArray& array, uint32_t ranks,
                                          const std::vector<uint8_t>& entries) {
  CAIRN_TRY(check_whole(ranks, array.whole));
  CAIRN_TRY_ASSIGN(body, distribution_of(array.kind).encode(array, ranks, entries));
  Decomposition made;
  made.record_ = record_of(ranks, array.whole, body);
  if (made.record_.size() > max_decomposition)
    return fail(EOVERFLOW, "decomposition: %zu bytes; at most 1 GiB", made.record_.size());
  seal_record(made.record_.data(), made.record_.size(), magic_decomposition);
  CAIRN_TRY(made.parse());
  return made;
}

Status Decomposition::parse() {
  if (record_.size() < sizeof(DecompositionRecord))
    return fail(EUCLEAN, "decomposition: %zu bytes", record_.size());
  const auto fixed = record_at<DecompositionRecord>(record_.data());
  kind_ = static_cast<DecompositionKind>(fixed.kind);
  owner_ = static_cast<Owner>(fixed.owner);
  ranks_ = fixed.ranks;
  whole_.dimensions = fixed.dimensions;
  const Distribution* const distribution = find_distribution(fixed.kind);
  if (distribution == nullptr) return fail(EINVAL, "decomposition: unknown kind %u", fixed.kind);
  const UsedMembers used = distribution->used_members();
  if (owner_ > Owner::highest_rank || (owner_ != Owner::nobody && !used.owner))
    return fail(EINVAL, "decomposition: owner rule %u", fixed.owner);
  if (fixed.rank_order != 0 && !used.rank_order)
    return fail(EINVAL, "decomposition: rank order %u", fixed.rank_order);
  if ((used.dimensions && fixed.dimensions == 0) || (is_counted() && fixed.dimensions != 0) ||
      fixed.dimensions > max_dimensions || (fixed.entries != 0 && !used.entries))
    return fail(EINVAL, "decomposition: kind %u of %u dimensions, %llu entries", fixed.kind,
                fixed.dimensions, static_cast<unsigned long long>(fixed.entries));
  BoundedReader reader(record_.data(), record_.size());
  reader.range(sizeof fixed);
  for (unsigned k = 0; k < whole_.dimensions; ++k) whole_.count[k] = reader.take<uint64_t>();
  if (!reader.ok()) return fail(EINVAL, "decomposition: record is too short");
  CAIRN_TRY(check_whole(ranks_, whole_));
  CAIRN_TRY_ASSIGN(partition, distribution->parse(fixed, whole_, &reader));
  partition_ = std::move(partition);
  hash_ = content_hash(record_.data(), record_.size());
  return Status();
}

Section Decomposition::section_of(uint32_t rank) const {
  if (rank >= ranks_) return checkpoint::section_of(Box{whole_.dimensions, {}, {}});
  return partition_->section_of(rank);
}

uint64_t Decomposition::elements_of(uint32_t rank) const {
  if (!stores(rank)) return 0;
  const Box places{whole_.dimensions, {}, section_of(rank).counts()};
  return volume(places).value_or(0);  // at most those of the array, which were counted
}

std::vector<uint32_t> Decomposition::holders_of(const Section& wanted) const {
  if (is_counted() || is_empty(wanted) || is_empty(whole_)) return {};
  return partition_->holders_of(wanted);
}

}  // namespace cairn::checkpoint
