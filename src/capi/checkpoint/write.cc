// C API: writing versions (include/cairn/checkpoint.h).
#include "capi/checkpoint/handle.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::check_number;
using cairn::capi::check_runs;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

namespace {

constexpr uint64_t ns_of_ms = 1'000'000;

static_assert(CAIRN_LEVEL_STAGED == static_cast<uint32_t>(ckpt::VersionLevel::staged) &&
              CAIRN_LEVEL_LOCAL == static_cast<uint32_t>(ckpt::VersionLevel::local) &&
              CAIRN_LEVEL_PARTNER == static_cast<uint32_t>(ckpt::VersionLevel::partner) &&
              CAIRN_LEVEL_GLOBAL == static_cast<uint32_t>(ckpt::VersionLevel::global));
static_assert(CAIRN_SURVIVES_PROCESSES == ckpt::survives_processes &&
              CAIRN_SURVIVES_POWER == ckpt::survives_power &&
              CAIRN_SURVIVES_NODE == ckpt::survives_node &&
              CAIRN_SURVIVES_POOLS == ckpt::survives_pools);

cairn::Result<ckpt::VersionLevel> level_of(uint32_t level) {
  if (level >= CAIRN_LEVEL_STAGED && level <= CAIRN_LEVEL_GLOBAL)
    return static_cast<ckpt::VersionLevel>(level);
  return fail(EOPNOTSUPP, "level %u: there are STAGED (1), LOCAL (2), PARTNER (3) and GLOBAL (4)",
              level);
}

cairn_checkpoint_progress shown(const ckpt::LevelProgress& progress) {
  cairn_checkpoint_progress shown{};
  shown.struct_size = sizeof shown;
  shown.level = static_cast<uint32_t>(progress.level);
  shown.survives = progress.survives;
  shown.error = -progress.error;
  shown.bytes = progress.bytes;
  std::copy(progress.level_ns.begin(), progress.level_ns.end(), shown.level_ns);
  return shown;
}

}  // namespace

extern "C" {

int cairn_checkpoint_iwrite(cairn_checkpoint* checkpoint, int64_t version,
                            cairn_checkpoint_handle* handle) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status given = check_given(handle, "handle"); !given.ok()) return code(given);
  *handle = 0;
  if (const Status known = check_number(version); !known.ok()) return code(known);
  return code(checkpoint->session.run()->stage(version, handle));
}

int cairn_checkpoint_write(cairn_checkpoint* checkpoint, int64_t version) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known = check_number(version); !known.ok()) return code(known);
  return code(checkpoint->session.run()->write(version));
}

int cairn_checkpoint_begin(cairn_checkpoint* checkpoint, int64_t version) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known = check_number(version); !known.ok()) return code(known);
  checkpoint->session.run()->begin_collecting(version);
  return 0;
}

int cairn_checkpoint_write_var(cairn_checkpoint* checkpoint, const char* name,
                               const cairn_array* array, const cairn_distribution* distribution,
                               const cairn_definition* more) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  const Status begun = checkpoint->session.run()->check_collecting();
  if (!begun.ok()) return code(begun);
  return code(cairn::capi::define(checkpoint, name, array, distribution, more, true));
}

int cairn_checkpoint_commit(cairn_checkpoint* checkpoint) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  return code(checkpoint->session.run()->commit_collected());
}

int cairn_checkpoint_test(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                          uint32_t level, cairn_checkpoint_progress* progress) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto known = level_of(level);
  if (!known.ok()) return code(known.status());
  std::optional<ckpt::LevelProgress> seen;
  const auto is_there = checkpoint->session.run()->test(handle, *known, &seen);
  if (seen) cairn::capi::copy_out(shown(*seen), progress);
  return is_there.ok() ? *is_there : code(is_there.status());
}

int cairn_checkpoint_wait(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                          uint32_t level, uint32_t timeout_ms) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto known = level_of(level);
  if (!known.ok()) return code(known.status());
  return code(checkpoint->session.run()->wait(handle, *known, timeout_ms * ns_of_ms));
}

int cairn_checkpoint_observe(cairn_checkpoint* checkpoint, cairn_checkpoint_observer observer,
                             void* context) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  ckpt::LevelObserver::Callback callback;
  if (observer != nullptr)
    callback = [=](uint64_t handle, int64_t version, const ckpt::LevelProgress& progress) {
      const cairn_checkpoint_progress told = shown(progress);
      observer(context, handle, version, &told);
    };
  checkpoint->session.run()->observe(std::move(callback));
  return 0;
}

}  // extern "C"
