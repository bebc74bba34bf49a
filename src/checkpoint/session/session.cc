#include "checkpoint/session/session.h"

#include "base/long_detail.h"
#include "checkpoint/record/way_back.h"
#include "checkpoint/redundancy/drain_here.h"
#include "checkpoint/versions/drop.h"

namespace cairn::checkpoint {

CheckpointSession::CheckpointSession(SessionOptions options)
    : options_(std::move(options)),
      exit_watch_(options_.exit),
      levels_(&view_, options_.lower.directory),
      reader_(&view_) {}

Status CheckpointSession::open(file::FileSystem* fs, const std::string& name,
                               std::unique_ptr<RunTransport> transport, Status own) {
  run_ =
      std::make_unique<SessionRun>(options_, exit_watch_, &view_, &levels_, &reader_, &contents_);
  return run_->open(fs, name, std::move(transport), own);
}

Status CheckpointSession::open_to_look(file::FileSystem& fs, const std::string& name) {
  CAIRN_TRY(view_.open(fs, name));
  return look_again();
}

Status CheckpointSession::close() { return run_ == nullptr ? Status() : run_->close(); }

Status CheckpointSession::look_again() {
  reader_.forget();
  return view_.look_again();
}

Status CheckpointSession::define(const std::string& name, Definition definition) {
  if (run_ != nullptr) return run_->define(name, std::move(definition), false);
  contents_.definitions().put(name, std::move(definition));
  return Status();
}

Status CheckpointSession::read(const std::function<Status(VersionReader* reader)>& work) {
  if (run_ != nullptr) CAIRN_TRY(run_->begin_reading());
  Status status = work(&reader_);
  if (run_ != nullptr) status = run_->end_reading(status);
  reader_.end();
  return status;
}

Status CheckpointSession::with_way_back(const Status& status) const {
  if (status.code() != EUCLEAN && status.code() != EIO) return status;
  const std::string text = last_detail();
  return fail_at_length(status.code(), text + "; " + see_what_is_whole(view_.set().name()));
}

Result<Verified> CheckpointSession::verify(const VersionNumber& number) {
  const KnownVersion* const known = view_.look_for(number);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  Verified verified;
  // The pool may have copies of other hosts' parts beside its own part.
  for (const uint32_t slot_number : known->slots()) {
    CAIRN_TRY_ASSIGN(slot, view_.slot_cache()->get(slot_number));
    CAIRN_TRY_ASSIGN(found, verify_version(view_.set(), slot, known->version.sequence));
    verified.bytes += found.bytes;
    verified.blocks += found.blocks;
    verified.bad_blocks += found.bad_blocks;
    if (verified.why.empty()) verified.why = found.why;
  }
  return verified;
}

Result<uint32_t> CheckpointSession::drain(const VersionNumber& number, const std::string& directory,
                                          uint32_t keep) {
  const KnownVersion* const known = view_.look_for(number);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  HereOrder order;
  order.sequence = known->version.sequence;
  order.directory = directory;
  order.retention = {keep, options_.lower.retention.drops_earlier};
  order.takes_copies = run_ != nullptr && !run_->has_nodes();
  order.look = [this](bool again) -> Result<PoolSight> {
    if (run_ != nullptr) return PoolSight{view_.catalogue(), run_->used()};
    CAIRN_TRY(again ? view_.renew() : look_again());
    const uint64_t last = view_.catalogue()->last_sequence();
    return PoolSight{view_.catalogue(), {last, last, last}};
  };
  return drain_here(view_.set(), view_.slot_cache(), *view_.catalogue(), order);
}

Status CheckpointSession::drop(const VersionNumber& number, bool may_be_last) {
  reader_.forget();  // a version with a lease is not dropped
  const KnownVersion* const known = view_.look_for(number);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  CAIRN_TRY(drop_version(view_.set(), view_.slot_cache(), known->version.sequence, may_be_last));
  return look_again();
}

Status CheckpointSession::drop_damaged() {
  reader_.forget();
  CAIRN_TRY(checkpoint::drop_damaged(view_.set(), view_.slot_cache()));
  return look_again();
}

Status CheckpointSession::drop_set(bool with_versions) {
  reader_.forget();
  CAIRN_TRY(checkpoint::drop_set(view_.set(), view_.slot_cache(), with_versions));
  view_.forget_versions();
  return Status();
}

}  // namespace cairn::checkpoint
