#include "checkpoint/write/commit_nodes.h"

#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {

Status CommitNodes::keep(const Status& status) {
  failed_.keep(status);
  return failed_.restored();
}

Status CommitNodes::begin(const NodePrepared& own) {
  CAIRN_TRY(keep(Status()));
  prepared_ = own;
  verdict_ = {};
  all_prepared_.resize(exchange_->nodes());
  CAIRN_TRY(keep(exchange_->begin_gather(Exchange::Channel::commit, &prepared_, sizeof prepared_,
                                         all_prepared_.data())));
  step_ = Step::preparing;
  return Status();
}

namespace {

// Checks an errno of another node, which may be any number.
int errno_of(int64_t told) {
  constexpr int64_t most = 4095;
  return told >= 0 && told <= most ? static_cast<int>(told) : EPROTO;
}

}  // namespace

void CommitNodes::judge_parts() {
  for (const NodePrepared& node : all_prepared_) {
    verdict_.bytes += node.part.bytes;
    verdict_.is_copying = verdict_.is_copying || node.is_copying != 0;
    if (verdict_.error != 0) continue;
    if (node.part.error != 0) {
      verdict_.error = errno_of(node.part.error);
      verdict_.rank = node.failed_rank;
    } else if (!is_sound(node.part) || node.sequence != prepared_.sequence ||
               node.common_crc != all_prepared_[0].common_crc) {
      // The node's ranks wrote another version than those of the first node.
      verdict_.error = EINVAL;
      verdict_.rank = node.part.first;
    }
  }
  verdict_.begun = all_prepared_[0].begun;
}

void CommitNodes::judge_decisions() {
  for (const NodeDecided& node : all_decided_) {
    if (verdict_.error != 0 || node.error == 0) continue;
    verdict_.error = errno_of(node.error);
    verdict_.rank = node.rank;
  }
}

Result<bool> CommitNodes::proceed(const Decide& decide, NodesVerdict* verdict) {
  CAIRN_TRY(keep(Status()));
  if (step_ == Step::none) return fail(EINVAL, "no version is being decided");
  const auto is_over = try_to_proceed(decide);
  CAIRN_TRY(keep(is_over.status()));
  if (*is_over) *verdict = verdict_;
  return *is_over;
}

Result<bool> CommitNodes::try_to_proceed(const Decide& decide) {
  if (step_ == Step::judged) return true;
  CAIRN_TRY_ASSIGN(is_complete, exchange_->test_gather(Exchange::Channel::commit));
  if (!is_complete) return false;
  if (step_ == Step::preparing) {
    judge_parts();
    if (verdict_.error == 0) {
      std::vector<PartRecord> parts;
      for (const NodePrepared& node : all_prepared_) parts.push_back(node.part);
      decided_ = {decide(parts).code(), prepared_.part.first};
      all_decided_.resize(exchange_->nodes());
      CAIRN_TRY(exchange_->begin_gather(Exchange::Channel::commit, &decided_, sizeof decided_,
                                        all_decided_.data()));
      step_ = Step::deciding;
      CAIRN_TRY_ASSIGN(are_decided, exchange_->test_gather(Exchange::Channel::commit));
      if (!are_decided) return false;
    }
  }
  if (step_ == Step::deciding) judge_decisions();
  step_ = Step::judged;
  return true;
}

}  // namespace cairn::checkpoint
