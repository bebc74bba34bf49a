// C API: the parts of a version of several hosts, as one host's pool has them
// (include/cairn/checkpoint.h).
#include <string>
#include <vector>

#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/record/text.h"
#include "checkpoint/restart/part_pieces.h"

using cairn::annotate;
using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

namespace {

Status check_looks(const cairn_checkpoint* checkpoint) {
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  return checkpoint->run
             ? fail(EINVAL, "parts are those of a context that looks (CAIRN_CHECKPOINT_LOOK)")
             : Status();
}

uint32_t presence_of(const ckpt::StoredVersion& stored, uint32_t part) {
  switch (stored.presence_of(part)) {
    case ckpt::StoredVersion::Presence::none:
      return CAIRN_PART_MISSING;
    case ckpt::StoredVersion::Presence::own:
      return CAIRN_PART_OWN;
    case ckpt::StoredVersion::Presence::copy:
      return CAIRN_PART_COPY;
  }
  return CAIRN_PART_MISSING;
}

// All parts of a version, so that visit may read another one.
struct Parts {
  std::vector<cairn_checkpoint_part> all;
  std::vector<std::string> hosts;
};

Result<Parts> list_parts(cairn_checkpoint* checkpoint, int64_t version) {
  CAIRN_TRY_ASSIGN(stored, checkpoint->begin_reading(version));
  Parts parts;
  const uint32_t count = stored->version().parts;
  for (uint32_t i = 0; i < count; ++i) {
    const ckpt::PartRecord& record = stored->part(i);
    cairn_checkpoint_part one{};
    one.struct_size = sizeof one;
    one.part = i;
    one.presence = presence_of(*stored, i);
    one.ranks = record.count;
    one.bytes = count == 1 ? stored->bytes() : record.bytes;
    parts.all.push_back(one);
    parts.hosts.emplace_back(record.host);  // ends inside, as the manifest was read
  }
  for (size_t i = 0; i < parts.all.size(); ++i) parts.all[i].host = parts.hosts[i].c_str();
  return parts;
}

cairn_checkpoint_piece piece_of(const ckpt::Box& box, uint32_t rank) {
  cairn_checkpoint_piece piece{};
  piece.struct_size = sizeof piece;
  piece.dimensions = box.dimensions;
  piece.rank = rank;
  for (unsigned k = 0; k < box.dimensions; ++k) {
    piece.offset[k] = static_cast<int64_t>(box.offset[k]);
    piece.count[k] = static_cast<int64_t>(box.count[k]);
  }
  return piece;
}

struct Found {
  ckpt::StoredVersion* stored = nullptr;
  uint32_t index = 0;
  ckpt::Variable variable;
  bool is_counted = false;
};

Result<Found> find_variable(cairn_checkpoint* checkpoint, int64_t version, const char* name) {
  CAIRN_TRY_ASSIGN(stored, checkpoint->begin_reading(version));
  const auto index = stored->contents().layout().find(name);
  if (!index) return fail(ENOENT, "the version has no such variable");
  Found found{stored, *index, stored->contents().layout().variable(*index), false};
  found.is_counted = stored->contents().is_counted(found.variable);
  return found;
}

Result<std::vector<cairn_checkpoint_piece>> list_pieces(cairn_checkpoint* checkpoint,
                                                        int64_t version, const char* name,
                                                        uint32_t part) {
  CAIRN_TRY_ASSIGN(found, find_variable(checkpoint, version, name));
  if (part >= found.stored->version().parts)
    return fail(EINVAL, "there is no part %u: the version has %u", part,
                found.stored->version().parts);
  std::vector<cairn_checkpoint_piece> pieces;
  if (found.is_counted) {
    CAIRN_TRY_ASSIGN(ranks, found.stored->ranks_of(part));
    for (const uint32_t rank : ranks) {
      CAIRN_TRY_ASSIGN(elements, ckpt::CountedLine::elements_of(found.stored, found.index, rank));
      pieces.push_back(piece_of(ckpt::whole_of(1, {elements}), rank));
    }
  } else {
    CAIRN_TRY_ASSIGN(boxes, ckpt::part_pieces(found.stored, found.index, part));
    for (const ckpt::Box& box : boxes) pieces.push_back(piece_of(box, 0));
  }
  CAIRN_TRY(found.stored->check());
  return pieces;
}

Status read_rank(cairn_checkpoint* checkpoint, int64_t version, const char* name, uint32_t rank,
                 int64_t first, const cairn_array* given) {
  CAIRN_TRY_ASSIGN(array, cairn::capi::copy_in(given, "array"));
  CAIRN_TRY_ASSIGN(shape, cairn::capi::shape_of(array, nullptr));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  CAIRN_TRY_ASSIGN(found, find_variable(checkpoint, version, name));
  if (!found.is_counted) return fail(EINVAL, "its array has a fixed number of elements");
  if (found.variable.type != view.type() || found.variable.element_size != view.element_size())
    return fail(EINVAL, "the array is of another type");
  if (view.dimensions() != 1 || first < 0 || rank >= found.stored->version().ranks)
    return fail(EINVAL, "the array has %u dimensions, and element %lld of rank %u is asked for",
                view.dimensions(), static_cast<long long>(first), rank);
  if (view.counts()[0] != 0) CAIRN_TRY(check_given(array.base, "array->base"));
  CAIRN_TRY(ckpt::CountedLine::read_rank(found.stored, found.index, rank,
                                         static_cast<uint64_t>(first),
                                         {view, static_cast<uint8_t*>(array.base)}));
  return found.stored->check();
}

// Stays for the next elements of these cells.
Result<ckpt::CountedLine*> find_lists(cairn_checkpoint* checkpoint, const Found& found,
                                      const ckpt::Box& cells) {
  auto& line = checkpoint->line;
  if (line == nullptr || line->variable() != found.index || line->cells() != cells) {
    line.reset();
    CAIRN_TRY_ASSIGN(lists, ckpt::CountedLine::find_lists(found.stored, found.index, cells));
    line = std::move(lists);
  }
  return line.get();
}

Status read_lists(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                  const int64_t* offset, const int64_t* count, int64_t first,
                  const cairn_array* given) {
  CAIRN_TRY_ASSIGN(array, cairn::capi::copy_in(given, "array"));
  CAIRN_TRY_ASSIGN(shape, cairn::capi::shape_of(array, nullptr));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  CAIRN_TRY_ASSIGN(found, find_variable(checkpoint, version, name));
  const ckpt::Contents& contents = found.stored->contents();
  if (contents.decomposition_of(found.variable).counting() != ckpt::Counting::by_lists)
    return fail(EINVAL, "it has no lists of cells");
  if (found.variable.type != view.type() || found.variable.element_size != view.element_size())
    return fail(EINVAL, "the array is of another type");
  const ckpt::Box& whole =
      contents.decomposition_of(contents.layout().variable(*found.variable.over)).whole();
  ckpt::Box cells = whole;
  for (unsigned k = 0; k < whole.dimensions; ++k) {
    if (offset[k] < 0 || count[k] < 0) return fail(EINVAL, "offset or count is negative");
    cells.offset[k] = static_cast<uint64_t>(offset[k]);
    cells.count[k] = static_cast<uint64_t>(count[k]);
  }
  if (!fits(cells, whole.count))
    return fail(EINVAL, "%s lies outside of the cells %s", shown(cells).c_str(),
                shown(whole).c_str());
  CAIRN_TRY_ASSIGN(line, find_lists(checkpoint, found, cells));
  const uint64_t elements = view.dimensions() == 1 ? view.counts()[0] : 0;
  if (view.dimensions() != 1 || first < 0 || static_cast<uint64_t>(first) > line->elements() ||
      elements > line->elements() - static_cast<uint64_t>(first))
    return fail(EINVAL, "the cells %s have %llu elements; others are asked for",
                shown(cells).c_str(), static_cast<unsigned long long>(line->elements()));
  if (elements == 0) return Status();
  CAIRN_TRY(check_given(array.base, "array->base"));
  CAIRN_TRY(line->read(static_cast<uint64_t>(first), {view, static_cast<uint8_t*>(array.base)}));
  return found.stored->check();
}

int failed_on(const Status& status, const char* name) {
  return code(annotate(status, "variable '%s'", ckpt::shown_text(name).c_str()));
}

}  // namespace

extern "C" {

int cairn_checkpoint_parts(cairn_checkpoint* checkpoint, int64_t version,
                           cairn_checkpoint_part_visit visit, void* context) {
  const WriteWindow window;
  if (const Status looks = check_looks(checkpoint); !looks.ok()) return code(looks);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  const auto parts = list_parts(checkpoint, version);
  if (!parts.ok()) return code(parts.status());
  for (const cairn_checkpoint_part& one : parts->all)
    if (const int result = visit(context, &one); result != 0) return result;
  return 0;
}

int cairn_checkpoint_pieces(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                            uint32_t part, cairn_checkpoint_piece_visit visit, void* context) {
  const WriteWindow window;
  if (const Status looks = check_looks(checkpoint); !looks.ok()) return code(looks);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  const auto pieces = list_pieces(checkpoint, version, name, part);
  if (!pieces.ok()) return failed_on(pieces.status(), name);
  for (const cairn_checkpoint_piece& one : *pieces)
    if (const int result = visit(context, &one); result != 0) return result;
  return 0;
}

int cairn_checkpoint_read_rank(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                               uint32_t rank, int64_t first, const cairn_array* array) {
  const WriteWindow window;
  if (const Status looks = check_looks(checkpoint); !looks.ok()) return code(looks);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (const Status given = check_given(array, "array"); !given.ok()) return code(given);
  const Status read = read_rank(checkpoint, version, name, rank, first, array);
  return read.ok() ? 0 : failed_on(read, name);
}

int cairn_checkpoint_read_lists(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                                const int64_t* offset, const int64_t* count, int64_t first,
                                const cairn_array* array) {
  const WriteWindow window;
  if (const Status looks = check_looks(checkpoint); !looks.ok()) return code(looks);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (const Status given = check_given(array, "array"); !given.ok()) return code(given);
  if (const Status given = check_given(offset, "offset"); !given.ok()) return code(given);
  if (const Status given = check_given(count, "count"); !given.ok()) return code(given);
  const Status read = read_lists(checkpoint, version, name, offset, count, first, array);
  return read.ok() ? 0 : failed_on(read, name);
}

}  // extern "C"
