// C API: reading versions (include/cairn/checkpoint.h).
#include <algorithm>

#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/record/text.h"
#include "checkpoint/restart/copy_out.h"
#include "checkpoint/restart/needed_blocks.h"
#include "checkpoint/store/attempts.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

namespace {

void put_uuid(const uint8_t (&uuid)[16], char (&text)[37]) {
  constexpr const char* digits = "0123456789abcdef";
  size_t at = 0;
  for (size_t i = 0; i < sizeof uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[at++] = '-';
    text[at++] = digits[uuid[i] >> 4];
    text[at++] = digits[uuid[i] & 15];
  }
  text[at] = 0;
}

cairn_checkpoint_info info_of(cairn_checkpoint* checkpoint, const ckpt::VersionRecord& version) {
  cairn_checkpoint_info info{};
  info.level = checkpoint->has_partners(version.sequence) ? CAIRN_LEVEL_PARTNER : CAIRN_LEVEL_LOCAL;
  info.survives = checkpoint->survives();
  if (info.level == CAIRN_LEVEL_PARTNER) info.survives |= CAIRN_SURVIVES_NODE;
  info.number = version.number;
  info.step = version.step;
  info.sequence = version.sequence;
  info.parent = version.parent;
  info.begun_ns = version.begun;
  info.ranks = version.ranks;
  std::memcpy(info.code_version, version.code_version, sizeof info.code_version);
  put_uuid(version.run, info.run);
  return info;
}

// What its manifest says; nothing if that cannot be read.
void put_manifest(cairn_checkpoint* checkpoint, const ckpt::KnownVersion& known,
                  cairn_checkpoint_info* info) {
  checkpoint->described.read("");
  info->copies = static_cast<uint32_t>(known.copies.size());
  const auto slot = checkpoint->slot_cache->get(known.any_slot());
  if (!slot.ok()) return;
  const auto manifest = (*slot)->read_manifest();
  if (!manifest.ok() || manifest->version().sequence != known.version.sequence) return;
  info->bytes = manifest->data_bytes();
  info->attempts = ckpt::attempts_in(manifest->word(ckpt::attempts_offset));
  info->verified_ns = manifest->word(ckpt::verified_offset);
  checkpoint->described.read(manifest->attributes());
  info->attributes = checkpoint->described.begin();
  info->attribute_count = checkpoint->described.count();
}

void put_report(cairn_checkpoint* checkpoint, const ckpt::RestartReport& report,
                cairn_checkpoint_info* to) {
  cairn_checkpoint_info info = info_of(checkpoint, report.known.version);
  put_manifest(checkpoint, report.known, &info);
  // A node without a part of it has no manifest.
  if (report.known.any_slot() == 0) {
    checkpoint->described.read(report.attributes);
    info.attributes = checkpoint->described.begin();
    info.attribute_count = checkpoint->described.count();
  }
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
  (report.why.empty() ? report.why_copies : report.why).copy(info.why, sizeof info.why - 1);
  cairn::capi::copy_out(info, to);
}

// Before a restart, all that was written is decided and all ranks have defined the same.
Status prepare(cairn_checkpoint* checkpoint) {
  CAIRN_TRY(checkpoint->settle_on_nodes());
  return checkpoint->agree_on_contents();
}

int visit_damaged(const cairn_checkpoint& checkpoint, cairn_checkpoint_visit visit, void* context) {
  std::vector<std::string> texts;
  for (const ckpt::DamagedSlot& slot : checkpoint.catalogue.damaged()) texts.push_back(slot.text);
  if (!checkpoint.catalogue.newer().empty()) texts.push_back(checkpoint.catalogue.newer());
  for (const std::string& text : texts) {
    cairn_checkpoint_info info{};
    info.struct_size = sizeof info;
    text.copy(info.why, sizeof info.why - 1);
    if (const int result = visit(context, &info); result != 0) return result;
  }
  return 0;
}

// Stays for the next part of the variable, as long as the version is read.
Result<ckpt::CountedLine*> find_line(cairn_checkpoint* checkpoint, ckpt::StoredVersion* stored,
                                     uint32_t variable) {
  if (checkpoint->line == nullptr || checkpoint->line->variable() != variable ||
      checkpoint->line->cells()) {
    checkpoint->line.reset();
    CAIRN_TRY_ASSIGN(line, ckpt::CountedLine::find(stored, variable));
    checkpoint->line = std::move(line);
  }
  return checkpoint->line.get();
}

Status count_elements(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                      uint64_t* counts, uint32_t capacity) {
  CAIRN_TRY_ASSIGN(stored, checkpoint->begin_reading(version));
  const auto index = stored->contents().layout().find(name);
  if (!index) return fail(ENOENT, "the version has no such variable");
  const ckpt::Variable variable = stored->contents().layout().variable(*index);
  if (!stored->contents().is_counted(variable))
    return fail(EINVAL, "its array has a fixed number of elements");
  if (capacity < stored->version().ranks)
    return fail(EMSGSIZE, "%u ranks wrote the version; there is room for %u",
                stored->version().ranks, capacity);
  CAIRN_TRY_ASSIGN(found, ckpt::CountedLine::counts(stored, *index));
  std::copy(found.begin(), found.end(), counts);
  return stored->check();
}

Status read_box(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                const int64_t* offset, const int64_t* count, const cairn_array* given) {
  CAIRN_TRY_ASSIGN(array, cairn::capi::copy_in(given, "array"));
  CAIRN_TRY_ASSIGN(shape, cairn::capi::shape_of(array, nullptr));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  CAIRN_TRY_ASSIGN(stored, checkpoint->begin_reading(version));
  const auto index = stored->contents().layout().find(name);
  if (!index) return fail(ENOENT, "the version has no such variable");
  const ckpt::Variable variable = stored->contents().layout().variable(*index);
  const bool counts = stored->contents().is_counted(variable);
  ckpt::Box whole = stored->contents().decomposition_of(variable).whole();
  if (counts) {
    CAIRN_TRY_ASSIGN(line, find_line(checkpoint, stored, *index));
    whole = ckpt::whole_of(1, {line->elements()});
  }
  if (variable.type != view.type() || variable.element_size != view.element_size())
    return fail(EINVAL, "the array is of another type");
  ckpt::Box box = whole;
  for (unsigned k = 0; k < whole.dimensions && offset != nullptr && count != nullptr; ++k) {
    if (offset[k] < 0 || count[k] < 0) return fail(EINVAL, "offset or count is negative");
    box.offset[k] = static_cast<uint64_t>(offset[k]);
    box.count[k] = static_cast<uint64_t>(count[k]);
  }
  if (!fits(box, whole.count))
    return fail(EINVAL, "%s lies outside of the global array %s", shown(box).c_str(),
                shown(whole).c_str());
  const ckpt::Box given_box{view.dimensions(), {}, view.counts()};
  if (given_box != ckpt::Box{box.dimensions, {}, box.count})
    return fail(EINVAL, "the array is %s, what is read %s", shown(given_box).c_str(),
                shown(box).c_str());
  if (is_empty(box)) return Status();
  CAIRN_TRY(check_given(array.base, "array->base"));
  const ckpt::ArrayPlace place{view, static_cast<uint8_t*>(array.base)};
  if (counts) {
    CAIRN_TRY(checkpoint->line->read(box.offset[0], place));
    return stored->check();
  }
  ckpt::NeededBlocks needed(stored);
  CAIRN_TRY(needed.add(*index, section_of(box)));
  CAIRN_TRY(needed.verify());
  ckpt::CopyOut out(stored);
  CAIRN_TRY(out.copy(*index, section_of(box), place));
  return stored->check();
}

}  // namespace

extern "C" {

int cairn_checkpoint_restart_test(cairn_checkpoint* checkpoint, int64_t version,
                                  cairn_checkpoint_info* info) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status ready = prepare(checkpoint); !ready.ok()) return code(ready);
  const auto report =
      checkpoint->restart().test(checkpoint->request(version), checkpoint->writer->sequence());
  if (report.code() == ENOENT) return 0;
  if (!report.ok()) return code(checkpoint->with_way_back(report.status()));
  put_report(checkpoint, *report, info);
  return 1;
}

int cairn_checkpoint_read(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags,
                          cairn_checkpoint_info* info) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known =
          check_flags(flags, CAIRN_READ_HALO | CAIRN_READ_CYCLIC | CAIRN_READ_VERIFY_ALL,
                      "cairn_checkpoint_read");
      !known.ok())
    return code(known);
  if (const Status ready = prepare(checkpoint); !ready.ok()) return code(ready);
  ckpt::RestartRequest request = checkpoint->request(version);
  request.fills_halo = (flags & CAIRN_READ_HALO) != 0;
  request.is_cyclic = request.is_cyclic || (flags & CAIRN_READ_CYCLIC) != 0;
  request.verifies_all = (flags & CAIRN_READ_VERIFY_ALL) != 0;
  const auto report = checkpoint->restart().read(request, checkpoint->writer->sequence());
  if (!report.ok()) return code(checkpoint->with_way_back(report.status()));
  checkpoint->continue_from(*report);
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
  // On several nodes collective: a node's leader answers in its own call.
  if (checkpoint->nodes)
    if (const Status settled = checkpoint->settle_on_nodes(); !settled.ok()) return code(settled);
  const Status read =
      checkpoint->barrier_max_nodes(read_box(checkpoint, version, name, offset, count, array));
  checkpoint->done_reading();
  if (read.ok()) return 0;
  return code(
      checkpoint->with_way_back(annotate(read, "variable '%s'", ckpt::shown_text(name).c_str())));
}

int cairn_checkpoint_counts(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                            uint64_t* counts, uint32_t capacity) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (const Status given = check_given(counts, "counts"); !given.ok()) return code(given);
  // On several nodes collective, as read_var.
  if (checkpoint->nodes)
    if (const Status settled = checkpoint->settle_on_nodes(); !settled.ok()) return code(settled);
  const Status counted =
      checkpoint->barrier_max_nodes(count_elements(checkpoint, version, name, counts, capacity));
  checkpoint->done_reading();
  if (counted.ok()) return 0;
  return code(annotate(counted, "variable '%s'", ckpt::shown_text(name).c_str()));
}

int cairn_checkpoint_list(cairn_checkpoint* checkpoint, cairn_checkpoint_visit visit,
                          void* context) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  const auto versions = checkpoint->catalogue.versions();
  for (auto known = versions.rbegin(); known != versions.rend(); ++known) {
    cairn_checkpoint_info info = info_of(checkpoint, known->version);
    info.struct_size = sizeof info;
    const ckpt::VersionRecord& head = versions.back().version;
    info.is_abandoned = is_in_line(head, known->version.sequence) ? 0 : 1;
    put_manifest(checkpoint, *known, &info);
    if (const int result = visit(context, &info); result != 0) return result;
  }
  return checkpoint->run ? 0 : visit_damaged(*checkpoint, visit, context);
}

}  // extern "C"
