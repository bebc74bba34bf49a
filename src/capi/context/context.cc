#include "capi/context/context.h"

#include <signal.h>  // NOLINT: SIGTERM

#include <algorithm>
#include <bit>

#include "base/long_detail.h"
#include "base/saved_failure.h"
#include "capi/context/configured_pool.h"
#include "capi/context/membership.h"
#include "checkpoint/record/text.h"
#include "checkpoint/record/way_back.h"
#include "checkpoint/write/space_check.h"

namespace capi = cairn::capi;
namespace ckpt = cairn::checkpoint;
using cairn::annotate;
using cairn::fail;
using cairn::Status;

cairn_checkpoint::~cairn_checkpoint() {
  excused.clear();
  ckpt::BackgroundDrain::end(std::move(background));
  forget_reading();
  due_vote.reset();
  writer.reset();
  run.reset();
  slot_cache.reset();
  set.reset();
  // Nobody knows here whether all ranks end now: the transport ends in MPI_Finalize. Until then it
  // answers that nothing is there.
  if (nodes) nodes->serve_with({});
  static_cast<void>(nodes.release());
  if (owns_pool) cairn_pool_detach(pool);
}

Status cairn_checkpoint::open(const std::string& name, int communicator) {
  if ((options.flags & CAIRN_CHECKPOINT_LOOK) != 0) return open_to_look(name, communicator);
  Status own = ckpt::check_set_name(name);
  pool = options.pool;
  if (own.ok() && pool == nullptr) {
    const auto attached = capi::attach_configured_pool(true);
    own = attached.status();
    if (attached.ok()) pool = *attached;
    owns_pool = attached.ok();
  }
  if (own.ok()) own = capi::fs_of(pool).pool.check_writable();
  auto exchange = capi::Membership::join(name, communicator, options, pool, own);
  if (!exchange.ok()) return exchange.status();
  if (pool == nullptr) return fail(ENODEV, "this process has no pool");
  capi::TransportExchange* const all_nodes = (*exchange)->nodes();
  const bool leads = (*exchange)->member().rank == 0;
  CAIRN_TRY_ASSIGN(uuid, ckpt::draw_uuid());
  ckpt::Partners partners;
  if (all_nodes != nullptr) {
    const auto set_there = leads ? set_of_lower(name) : std::optional<ckpt::Uuid>();
    CAIRN_TRY((*exchange)->agree(set_there.status()));
    CAIRN_TRY_ASSIGN(of_all, capi::agree_on_set(all_nodes, leads, capi::fs_of(pool), name,
                                                *set_there, (*exchange)->member().key));
    uuid = of_all;
    CAIRN_TRY_ASSIGN(found, find_partners(&**exchange));
    partners = std::move(found);
  }
  CAIRN_TRY((*exchange)->agree(
      lower.empty() ? Status() : annotate(ckpt::check_lower(lower), "options.lower")));
  const auto enter = [&]() -> Status {
    if (all_nodes == nullptr) {
      CAIRN_TRY_ASSIGN(set_there, set_of_lower(name));
      uuid = set_there.value_or(uuid);
    }
    CAIRN_TRY_ASSIGN(opened, ckpt::SetFile::open_or_make(capi::fs_of(pool), name, uuid));
    set = std::move(opened);
    slot_cache.emplace(set->fs(), set->directory());
    CAIRN_TRY_ASSIGN(entered, ckpt::Run::enter(*set, (*exchange)->member(), [this] {
                       return ckpt::settle_set(*set, &*slot_cache);
                     }));
    run = std::move(entered);
    CAIRN_TRY_ASSIGN(is_named, set->is_named());
    return is_named ? Status() : fail(ESTALE, "the set was removed meanwhile; try again");
  };
  CAIRN_TRY((*exchange)->agree(enter()));
  const auto read_manifests = [&]() -> Status {
    CAIRN_TRY(run->wait());
    CAIRN_TRY_ASSIGN(manifests, ckpt::Catalogue::read_manifests(*set, &*slot_cache));
    catalogue = std::move(manifests);
    return Status();
  };
  const Status status = read_manifests();
  CAIRN_TRY(all_nodes == nullptr ? status : (*exchange)->agree(status));
  if (all_nodes != nullptr && leads) {
    server.emplace(&*set, &*slot_cache, &catalogue);
    all_nodes->serve_with([this](const void* question, size_t size, void* answer) {
      return server->serve(question, size, answer);
    });
  }
  CAIRN_TRY(ckpt::merge_inventories(&*run, &*slot_cache, &catalogue));
  // Its versions must not be abandoned by who cannot read them.
  if (!catalogue.newer().empty()) return fail(EPROTONOSUPPORT, "%s", catalogue.newer().c_str());
  if (!lower.empty()) CAIRN_TRY(begin_beside_lower());
  writer.emplace(&*run, &*slot_cache, &catalogue,
                 ckpt::Retention{options.keep == 0 ? 2 : options.keep, options.keep_multiple,
                                 options.keep_period_ns});
  due_vote.emplace(&*run, options.interval_ns);
  writer->copy_to(std::move(partners));
  if (all_nodes != nullptr) {
    due_vote->proceed_with([this] { return writer->advance(); });
    nodes = (*exchange)->take_nodes();
  }
  observed_staged = observed_decided = observed_global = run->last_sequence();
  writer->continue_from(ckpt::lineage_anew(run->last_sequence()));
  const bool is_fresh = (options.flags & CAIRN_CHECKPOINT_FRESH) != 0;
  last_of_pools = is_fresh ? run->last_sequence() : catalogue.last_sequence();
  if (is_fresh) writer->retirement().drop_damaged_with_next();
  if (is_fresh) passed_to = run->last_sequence();
  may_write = is_fresh || catalogue.versions().empty();
  begin_background();
  return Status();
}

Status cairn_checkpoint::close() {
  cairn::SavedFailure first;
  bool is_settled = true;
  if (writer && writer->sequence() != run->last_sequence()) {
    const uint64_t last = writer->sequence();
    first.keep(settle_last());
    is_settled = first.ok();
    if (is_settled && told_sequence < last) first.keep(told(last));
    if (is_settled && wants_partners() && can_have_partners()) first.keep(copy_last());
  }
  // On several nodes all come, whatever they were told.
  if (writer && !lower.empty() && (!nodes || is_settled))
    first.keep(nodes ? drain_newest() : drain_at_end(first.ok()));
  ckpt::BackgroundDrain::end(std::move(background));
  if (writer) tell_observer();
  // If this fails, the next restart counts one attempt more.
  if (writer && run->rank() == 0) writer->retirement().confirm_restart().ignore();
  // Whatever became of the versions: all leaders have begun the same gathers.
  if (nodes && run->is_leader()) first.keep(due_vote->finish());
  if (run) {
    const Status ended = run->end([&] { return ckpt::remove_unused(*set, &*slot_cache); });
    if (nodes && first.code() != EOWNERDEAD) {
      nodes->leave();
      nodes.reset();
    }
    if (first.ok()) return ended;
  }
  return first.restored();
}

Status cairn_checkpoint::agree_on_contents() {
  if (has_agreed && agreed_changes == definitions.changes()) return Status();
  ckpt::LayoutChoice choice;
  choice.ranks = run->all_ranks();
  if (options.block_size != 0)
    choice.block_shift = static_cast<uint8_t>(std::countr_zero(options.block_size));
  has_agreed = false;
  // Leaders exchange one thing at a time.
  if (nodes) CAIRN_TRY(settle_last());
  CAIRN_TRY_ASSIGN(contents, ckpt::agree(&*run, definitions, choice, writer->sequence()));
  CAIRN_TRY_ASSIGN(made, ckpt::make_agreed(std::move(contents), *run));
  agreed = std::move(made);
  agreed_changes = definitions.changes();
  has_agreed = true;
  return Status();
}

Status cairn_checkpoint::settle_on_nodes() {
  CAIRN_TRY(settle_last());
  return barrier_max_nodes(Status());
}

Status cairn_checkpoint::barrier_max_nodes(Status own) {
  if (!nodes) return own;
  const cairn::SavedFailure saved(own);
  const auto met = run->barrier_max(ckpt::Run::Purpose::restart, 0, writer->sequence());
  return saved.or_of(met.status());
}

Status cairn_checkpoint::with_way_back(const Status& status) const {
  if (status.code() != EUCLEAN && status.code() != EIO) return status;
  const std::string text = cairn::last_detail();
  return cairn::fail_at_length(status.code(), text + "; " + ckpt::see_what_is_whole(name_of_set()));
}

ckpt::Restart cairn_checkpoint::restart() {
  return {&*run, &*slot_cache, &catalogue, &definitions};
}

ckpt::RestartRequest cairn_checkpoint::request(int64_t version) const {
  constexpr uint32_t default_attempts = 5;
  ckpt::RestartRequest request;
  if (version != CAIRN_CHECKPOINT_LATEST) request.number = version;
  request.max_attempts = options.max_attempts == 0 ? default_attempts : options.max_attempts;
  request.is_cyclic = (options.flags & CAIRN_CHECKPOINT_CYCLIC) != 0;
  request.way_back = ckpt::get_copy_back(name_of_set(), lower);
  request.continued = continued;
  request.passed_to = passed_to;
  request.lower = lower;
  request.skipped = in_lower;
  return request;
}

Status cairn_checkpoint::settle_last() {
  const uint64_t last = writer->sequence();
  return last == run->last_sequence() ? Status() : writer->wait(last, 0);
}

void cairn_checkpoint::continue_from(const ckpt::RestartReport& report) {
  writer->continue_from(lineage_after(report.known.version, writer->sequence()));
  writer->retirement().confirm_with_next(report.known.any_slot());
  excuse_restart(report.known.any_slot());
  continued = report.known.version.sequence;
  passed_to = writer->sequence();
  may_write = true;
}

void cairn_checkpoint::excuse_restart(uint32_t slot) {
  if ((options.flags & CAIRN_CHECKPOINT_SIGNALS) == 0 || slot == 0) return;
  const auto found = slot_cache->get(slot);
  if (!found.ok()) return;
  const auto attempts = (*found)->word(ckpt::attempts_offset);
  if (!attempts.ok()) return;
  excused.set(&capi::fs_of(pool).pool, *attempts, ckpt::name_of_run(run->uuid()));
  if (capi::ExitWatch::signal_number() == SIGTERM) capi::ExcusedRestart::note_signal();
}

Status cairn_checkpoint::check_may_write() const {
  if (may_write) return Status();
  return fail(EEXIST,
              "the set has versions that this run has not read; read one, or begin anew with "
              "CAIRN_CHECKPOINT_FRESH");
}

uint32_t cairn_checkpoint::survives() const {
  const bool persists = !capi::fs_of(pool).pool.is_volatile;
  return CAIRN_SURVIVES_PROCESSES | (persists ? CAIRN_SURVIVES_POWER : 0U);
}

Status cairn_checkpoint::told(uint64_t sequence) {
  told_sequence = std::max(told_sequence, sequence);
  const ckpt::Outcome* const outcome = writer->outcome(sequence);
  if (outcome == nullptr) return fail(ENOENT, "this version is too old to be known");
  if (outcome->is_committed) return Status();
  const std::string room =
      outcome->error == ENOSPC && run->is_here(outcome->rank) ? "; " + shown_room() : std::string();
  return fail(outcome->error, "%s%s", ckpt::Writer::shown(*outcome).c_str(), room.c_str());
}

Status cairn_checkpoint::check_space(const char* name, const ckpt::Definition& added) const {
  if (!run || !catalogue.versions().empty()) return Status();
  const uint64_t bytes = ckpt::bytes_of_rank(definitions, name, added, run->number());
  return ckpt::check_space(capi::fs_of(pool).pool, bytes,
                           "variable '" + ckpt::shown_text(name) +
                               "': what this rank has defined takes of each version");
}

void cairn_checkpoint::warn_of_room(const char* name, const ckpt::Definition& added) const {
  if (!run) return;
  const uint64_t of_rank = ckpt::bytes_of_rank(definitions, name, added, run->number());
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(of_rank, run->ranks(), &bytes)) bytes = UINT64_MAX;
  // One is written beside those that stay, and one may still be on its way to lower.
  const bool is_in_background = (options.flags & CAIRN_CHECKPOINT_BACKGROUND) != 0;
  const uint32_t versions = (options.keep == 0 ? 2 : options.keep) + (is_in_background ? 2 : 1);
  const cairn::pool::Pool& its_pool = capi::fs_of(pool).pool;
  const uint64_t there = ckpt::bytes_of_pool(its_pool);
  if (bytes <= there / versions) return;
  fail(ENOSPC,
       "warning: variable '%s': a version takes %s of this host if its %u ranks define as much as "
       "this one; checkpoints in a loop need room for %u versions (options.keep is %u), and the "
       "pool %s has %s; make it larger (cairn pool grow), or keep fewer versions",
       ckpt::shown_text(name).c_str(), ckpt::shown_bytes(bytes).c_str(), run->ranks(), versions,
       options.keep == 0 ? 2 : options.keep, its_pool.path.c_str(),
       ckpt::shown_bytes(there).c_str())
      .ignore();
}

std::string cairn_checkpoint::shown_room() const {
  cairn_pool_info info{};
  if (cairn_pool_get_info(pool, &info) != 0) return "the pool says not how much room it has";
  const uint64_t bytes =
      ckpt::bytes_of_version(agreed.regions, agreed.contents.layout().block_bytes());
  const uint64_t free = info.usable - std::min(info.used, info.usable);
  const std::string keep = std::to_string(options.keep == 0 ? 2 : options.keep);
  return "a version takes " + ckpt::shown_bytes(bytes) + " of this host's pool " + info.path +
         (agreed.contents.has_counted() ? ", and more for what each rank counts" : "") +
         "; it has " + ckpt::shown_bytes(info.usable) + ", " + ckpt::shown_bytes(free) +
         " of them free, and options.keep is " + keep +
         ": make it larger (cairn pool grow), or keep fewer versions";
}
