// C API: reading versions (include/cairn/checkpoint.h).
#include <algorithm>

#include "capi/checkpoint/handle.h"
#include "checkpoint/store/attempts.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::check_runs;
using cairn::capi::code;
using cairn::capi::number_of;
namespace ckpt = cairn::checkpoint;

namespace {

void put_attributes(cairn_checkpoint* checkpoint, std::string_view attributes,
                    cairn_checkpoint_info* info) {
  checkpoint->described.read(attributes);
  info->attributes = checkpoint->described.begin();
  info->attribute_count = checkpoint->described.count();
}

// Describes a version by its record and, if it can be read, its manifest.
cairn_checkpoint_info info_of(cairn_checkpoint* checkpoint, const ckpt::KnownVersion& known) {
  const ckpt::VersionRecord& version = known.version;
  ckpt::VersionLevels& levels = checkpoint->session.levels();
  const bool has_partners = levels.has_partners(version.sequence);
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  info.level = has_partners ? CAIRN_LEVEL_PARTNER : CAIRN_LEVEL_LOCAL;
  info.survives = levels.survives() | (has_partners ? CAIRN_SURVIVES_NODE : 0U);
  info.number = version.number;
  info.step = version.step;
  info.sequence = version.sequence;
  info.parent = version.parent;
  info.begun_ns = version.begun;
  info.ranks = version.ranks;
  info.copies = static_cast<uint32_t>(known.copies.size());
  std::memcpy(info.code_version, version.code_version, sizeof info.code_version);
  cairn::capi::copy_text(ckpt::shown_uuid(version.run), info.run);
  checkpoint->described.read("");
  const auto manifest = checkpoint->session.view().manifest_of(known);
  if (!manifest.ok()) return info;
  info.bytes = manifest->data_bytes();
  info.attempts = ckpt::attempts_in(manifest->word(ckpt::attempts_offset));
  info.verified_ns = manifest->word(ckpt::verified_offset);
  put_attributes(checkpoint, manifest->attributes(), &info);
  return info;
}

void put_report(cairn_checkpoint* checkpoint, const ckpt::RestartReport& report,
                cairn_checkpoint_info* to) {
  cairn_checkpoint_info info = info_of(checkpoint, report.known);
  // A node without a part of it has no manifest.
  if (report.known.any_slot() == 0) put_attributes(checkpoint, report.attributes, &info);
  if (report.known.is_in_lower) {
    info.level = CAIRN_LEVEL_GLOBAL;
    info.survives = CAIRN_SURVIVES_PROCESSES | CAIRN_SURVIVES_POWER | CAIRN_SURVIVES_NODE |
                    CAIRN_SURVIVES_POOLS;
  }
  info.attempts = report.attempts;
  info.bytes = report.bytes;
  info.skipped = report.skipped;
  info.missing = report.missing;
  info.from_copies = report.from_copies;
  cairn::capi::copy_text(report.why.empty() ? report.why_copies : report.why, info.why);
  cairn::capi::copy_out(info, to);
}

int visit_damaged(const ckpt::Catalogue& catalogue, cairn_checkpoint_visit visit, void* context) {
  std::vector<std::string> texts;
  for (const ckpt::DamagedSlot& slot : catalogue.damaged()) texts.push_back(slot.text);
  if (!catalogue.newer().empty()) texts.push_back(catalogue.newer());
  for (const std::string& text : texts) {
    cairn_checkpoint_info info{};
    info.struct_size = sizeof info;
    cairn::capi::copy_text(text, info.why);
    if (const int result = visit(context, &info); result != 0) return result;
  }
  return 0;
}

// Calls `work` to read a variable of a version.
Status read_variable(cairn_checkpoint* checkpoint, const char* name,
                     const std::function<Status(ckpt::VersionReader*)>& work) {
  return cairn::capi::with_variable(checkpoint->session.read(work), name);
}

}  // namespace

extern "C" {

int cairn_checkpoint_restart_test(cairn_checkpoint* checkpoint, int64_t version,
                                  cairn_checkpoint_info* info) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto report = checkpoint->session.run()->test_restart(number_of(version));
  if (!report.ok()) return code(checkpoint->session.with_way_back(report.status()));
  if (!*report) return 0;
  put_report(checkpoint, **report, info);
  return 1;
}

int cairn_checkpoint_read(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags,
                          cairn_checkpoint_info* info) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known =
          check_flags(flags, CAIRN_READ_HALO | CAIRN_READ_CYCLIC | CAIRN_READ_VERIFY_ALL,
                      "cairn_checkpoint_read");
      !known.ok())
    return code(known);
  const auto report = checkpoint->session.run()->restart(
      number_of(version), {(flags & CAIRN_READ_HALO) != 0, (flags & CAIRN_READ_CYCLIC) != 0,
                           (flags & CAIRN_READ_VERIFY_ALL) != 0});
  if (!report.ok()) return code(checkpoint->session.with_way_back(report.status()));
  put_report(checkpoint, *report, info);
  return 0;
}

int cairn_checkpoint_read_var(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                              const int64_t* offset, const int64_t* count,
                              const cairn_array* array) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (const Status given = check_given(array, "array"); !given.ok()) return code(given);
  const Status read = read_variable(checkpoint, name, [&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(place, cairn::capi::place_of(array));
    return reader->read_box(number_of(version), name, {offset, count}, place);
  });
  return code(checkpoint->session.with_way_back(read));
}

int cairn_checkpoint_counts(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                            uint64_t* counts, uint32_t capacity) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (const Status given = check_given(counts, "counts"); !given.ok()) return code(given);
  return code(read_variable(checkpoint, name, [&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(found, reader->count(number_of(version), name, capacity));
    std::copy(found.begin(), found.end(), counts);
    return Status();
  }));
}

int cairn_checkpoint_list(cairn_checkpoint* checkpoint, cairn_checkpoint_visit visit,
                          void* context) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  ckpt::SetView& view = checkpoint->session.view();
  const auto versions = view.catalogue()->versions();
  for (auto known = versions.rbegin(); known != versions.rend(); ++known) {
    cairn_checkpoint_info info = info_of(checkpoint, *known);
    info.is_abandoned = is_in_line(versions.back().version, known->version.sequence) ? 0 : 1;
    if (const int result = visit(context, &info); result != 0) return result;
  }
  if (checkpoint->session.run() != nullptr) return 0;
  return visit_damaged(*view.catalogue(), visit, context);
}

}  // extern "C"
