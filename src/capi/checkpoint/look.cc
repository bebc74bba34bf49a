// C API: contexts that only look, and the sets of a pool (include/cairn/checkpoint.h).
#include "cairn/checkpoint.h"
#include "capi/context/configured_pool.h"
#include "capi/context/context.h"
#include "checkpoint/run/ended_program.h"
#include "checkpoint/run/set_user.h"
#include "checkpoint/store/set_names.h"
#include "checkpoint/versions/drop.h"
#include "checkpoint/versions/verify_version.h"

using cairn::annotate;
using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;
namespace capi = cairn::capi;
namespace ckpt = cairn::checkpoint;

Status cairn_checkpoint::check_runs(const cairn_checkpoint* checkpoint) {
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  return checkpoint->run ? Status()
                         : fail(EINVAL, "this context only looks (CAIRN_CHECKPOINT_LOOK)");
}

Status cairn_checkpoint::open_to_look(const std::string& name, int communicator) {
  if (communicator != CAIRN_NO_COMMUNICATOR || options.ranks > 1)
    return fail(EINVAL, "a context that looks is of one process");
  CAIRN_TRY(ckpt::check_set_name(name));
  pool = options.pool;
  if (pool == nullptr) {
    CAIRN_TRY_ASSIGN(attached, capi::attach_configured_pool(false));
    pool = attached;
    owns_pool = true;
  }
  CAIRN_TRY_ASSIGN(opened, ckpt::SetFile::open(capi::fs_of(pool), name));
  set = std::move(opened);
  slot_cache.emplace(set->fs(), set->directory());
  return look_again();
}

Status cairn_checkpoint::look_again() {
  forget_reading();
  slot_cache->clear();
  CAIRN_TRY_ASSIGN(manifests, ckpt::Catalogue::read_manifests(*set, &*slot_cache));
  catalogue = std::move(manifests);
  return Status();
}

// Of the line first. Null: there is none.
const ckpt::KnownVersion* cairn_checkpoint::look_for(int64_t version) const {
  for (const ckpt::KnownVersion& known : catalogue.line())
    if (version == CAIRN_CHECKPOINT_LATEST || known.version.number == version)
      return catalogue.find(known.version.sequence);
  const auto& all = catalogue.versions();
  for (auto known = all.rbegin(); known != all.rend(); ++known)
    if (known->version.number == version) return &*known;
  return nullptr;
}

Result<ckpt::StoredVersion*> cairn_checkpoint::begin_reading(int64_t version) {
  if (run) {
    CAIRN_TRY_ASSIGN(found, restart().find(request(version)));
    forget_reading();
    reading.emplace(std::move(found));
    return &*reading;
  }
  const ckpt::KnownVersion* const known = look_for(version);
  if (known == nullptr)
    return fail(ENOENT, version == CAIRN_CHECKPOINT_LATEST ? "the set has no version"
                                                           : "the set has no such version");
  if (reading && reading->version().sequence == known->version.sequence) return &*reading;
  forget_reading();
  CAIRN_TRY_ASSIGN(opened, ckpt::StoredVersion::open({&*set, &*slot_cache, nullptr}, *known));
  reading.emplace(std::move(opened));
  return &*reading;
}

namespace {

Status verify(cairn_checkpoint* checkpoint, int64_t version, cairn_checkpoint_verified* to) {
  const ckpt::KnownVersion* const known = checkpoint->look_for(version);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  cairn_checkpoint_verified verified{};
  std::string why;
  // Of its own part, and of copies of others.
  for (const uint32_t number : known->slots()) {
    CAIRN_TRY_ASSIGN(slot, checkpoint->slot_cache->get(number));
    CAIRN_TRY_ASSIGN(found, ckpt::verify_version(*checkpoint->set, slot, known->version.sequence));
    verified.bytes += found.bytes;
    verified.blocks += found.blocks;
    verified.bad_blocks += found.bad_blocks;
    if (why.empty()) why = found.why;
  }
  why.copy(verified.why, sizeof verified.why - 1);
  capi::copy_out(verified, to);
  return verified.bad_blocks == 0 ? Status() : fail(EUCLEAN, "%s", why.c_str());
}

Status drop(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags) {
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  CAIRN_TRY(check_flags(flags, CAIRN_DROP_LAST | CAIRN_DROP_SET | CAIRN_DROP_DAMAGED,
                        "cairn_checkpoint_drop"));
  if (checkpoint->run) return checkpoint->drop_in_run(version, flags);
  checkpoint->forget_reading();  // what is leased is not dropped
  const ckpt::SetFile& set = *checkpoint->set;
  ckpt::SlotCache* const slot_cache = &*checkpoint->slot_cache;
  const bool is_forced = (flags & CAIRN_DROP_LAST) != 0;
  if ((flags & CAIRN_DROP_SET) != 0) {
    CAIRN_TRY(ckpt::drop_set(set, slot_cache, is_forced));
    checkpoint->catalogue = {};
    return Status();
  }
  if ((flags & CAIRN_DROP_DAMAGED) != 0) {
    CAIRN_TRY(ckpt::drop_damaged(set, slot_cache));
    return checkpoint->look_again();
  }
  const ckpt::KnownVersion* const known = checkpoint->look_for(version);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  CAIRN_TRY(ckpt::drop_version(set, slot_cache, known->version.sequence, is_forced));
  return checkpoint->look_again();
}

int visit_set(cairn::file::FileSystem& fs, const std::string& name,
              cairn_checkpoint_set_visit visit, void* context) {
  cairn_checkpoint_set shown{};
  shown.struct_size = sizeof shown;
  shown.name = name.c_str();
  shown.command = "";
  shown.why = "";
  std::string text;
  ckpt::SetUser user;
  const auto set = ckpt::SetFile::open(fs, name);
  if (set.code() == ENOENT) return 0;  // it was removed meanwhile, or is not one yet
  if (!set.ok()) {
    text = cairn::last_detail();
    shown.is_damaged = 1;
    shown.why = text.c_str();
  } else {
    shown.created_ns = (*set)->record().created;
    auto found = ckpt::find_user(**set);
    if (found.ok() && *found) user = std::move(**found);
    shown.user = user.pid;
    shown.command = user.command.c_str();
  }
  return visit(context, &shown);
}

}  // namespace

extern "C" {

int cairn_checkpoint_verify(cairn_checkpoint* checkpoint, int64_t version,
                            cairn_checkpoint_verified* verified) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  return code(checkpoint->with_way_back(verify(checkpoint, version, verified)));
}

int cairn_checkpoint_drop(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags) {
  const WriteWindow window;
  return code(drop(checkpoint, version, flags));
}

int cairn_checkpoint_sets(cairn_pool* pool, cairn_checkpoint_set_visit visit, void* context) {
  const WriteWindow window;
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  const auto names = ckpt::list_sets(capi::fs_of(pool));
  if (!names.ok()) return code(names.status());
  for (const std::string& name : *names)
    if (const int result = visit_set(capi::fs_of(pool), name, visit, context); result != 0)
      return result;
  return 0;
}

int cairn_checkpoint_program_ended(cairn_pool* pool, const char* run, uint32_t end) {
  const WriteWindow window;
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (const Status given = check_given(run, "run"); !given.ok()) return code(given);
  if (end != CAIRN_ENDED_BY_ITSELF && end != CAIRN_ENDED_FROM_OUTSIDE)
    return code(fail(EINVAL, "end %u: expected CAIRN_ENDED_...", end));
  return code(ckpt::note_ended_program(
      capi::fs_of(pool), ckpt::launcher_of(run),
      end == CAIRN_ENDED_FROM_OUTSIDE ? ckpt::RunEnd::from_outside : ckpt::RunEnd::by_itself));
}

}  // extern "C"
