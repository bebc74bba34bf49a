#include "checkpoint/session/joined_run.h"

#include "checkpoint/redundancy/restore_set.h"
#include "checkpoint/run/common_set.h"
#include "checkpoint/versions/merged_inventory.h"

namespace cairn::checkpoint {

JoinedRun::~JoinedRun() {
  membership_.reset();
  run_.reset();
  if (transport_ == nullptr) return;
  // The transport cannot be left, as the other ranks may not end now.
  transport_->serve_with({});
  static_cast<void>(transport_.release());
}

Status JoinedRun::open(const JoinOrder& order, std::unique_ptr<RunTransport> transport,
                       Status own) {
  CAIRN_TRY_ASSIGN(joined, Membership::join(order.set, std::move(transport), order.member, own));
  membership_ = std::move(joined);
  if (order.fs == nullptr) return fail(ENODEV, "this process has no pool");
  CAIRN_TRY_ASSIGN(uuid, draw_uuid());
  if (membership_->nodes() != nullptr) CAIRN_TRY(agree_on_nodes(order, &uuid));
  CAIRN_TRY(membership_->agree(
      order.lower.empty() ? Status() : annotate(check_lower(order.lower), "options.lower")));
  CAIRN_TRY(membership_->agree(enter(order, uuid)));
  return read_versions();
}

Status JoinedRun::agree_on_nodes(const JoinOrder& order, Uuid* uuid) {
  const bool leads = membership_->member().rank == 0;
  const auto in_lower =
      leads ? set_of_lower(*order.fs, order.set, order.lower) : std::optional<Uuid>();
  CAIRN_TRY(membership_->agree(in_lower.status()));
  CAIRN_TRY_ASSIGN(of_all, agree_on_set(membership_->nodes(), leads, *order.fs, order.set,
                                        *in_lower, membership_->member().key));
  *uuid = of_all;
  CAIRN_TRY_ASSIGN(found, agree_on_partners(&*membership_, order.copies));
  partners_ = std::move(found);
  return Status();
}

Status JoinedRun::enter(const JoinOrder& order, Uuid uuid) {
  if (membership_->nodes() == nullptr) {
    CAIRN_TRY_ASSIGN(in_lower, set_of_lower(*order.fs, order.set, order.lower));
    uuid = in_lower.value_or(uuid);
  }
  CAIRN_TRY(view_.open_or_make(*order.fs, order.set, uuid));
  CAIRN_TRY_ASSIGN(entered, Run::enter(view_.set(), membership_->member(), [this] {
                     return prepare_set(view_.set(), view_.slot_cache());
                   }));
  run_ = std::move(entered);
  CAIRN_TRY_ASSIGN(is_named, view_.set().is_named());
  return is_named ? Status() : fail(ESTALE, "the set was removed meanwhile; try again");
}

Status JoinedRun::read_versions() {
  const auto read = [this]() -> Status {
    CAIRN_TRY(run_->wait());
    return view_.read_manifests();
  };
  RunTransport* const nodes = membership_->nodes();
  const Status status = read();
  CAIRN_TRY(nodes == nullptr ? status : membership_->agree(status));
  if (nodes != nullptr && run_->is_leader()) {
    server_.emplace(&view_.set(), view_.slot_cache(), view_.catalogue());
    nodes->serve_with([this](const void* question, size_t size, void* answer) {
      return server_->serve(question, size, answer);
    });
  }
  return merge_inventories(&*run_, view_.slot_cache(), view_.catalogue());
}

void JoinedRun::keep() {
  transport_ = membership_->take_nodes();
  membership_.reset();
}

Status JoinedRun::end(bool leaves) {
  const Status ended = run_->end([this] { return remove_unused(view_.set(), view_.slot_cache()); });
  if (transport_ != nullptr && leaves) {
    transport_->leave();
    transport_.reset();
  }
  return ended;
}

}  // namespace cairn::checkpoint
