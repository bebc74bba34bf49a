// C API: the parts of a version of several hosts, as one host's pool has them
// (include/cairn/checkpoint.h).
#include "capi/checkpoint/handle.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::code;
using cairn::capi::number_of;
using cairn::capi::place_of;
using cairn::capi::with_variable;
namespace ckpt = cairn::checkpoint;

namespace {

using Presence = ckpt::StoredVersion::Presence;
static_assert(CAIRN_PART_MISSING == static_cast<int>(Presence::none) &&
              CAIRN_PART_OWN == static_cast<int>(Presence::own) &&
              CAIRN_PART_COPY == static_cast<int>(Presence::copy));

Status check_looks(const cairn_checkpoint* checkpoint) {
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  return checkpoint->session.run() == nullptr
             ? Status()
             : fail(EINVAL, "parts are those of a context that looks (CAIRN_CHECKPOINT_LOOK)");
}

cairn_checkpoint_part shown(const ckpt::VersionPart& part, uint32_t number) {
  cairn_checkpoint_part shown{};
  shown.struct_size = sizeof shown;
  shown.part = number;
  shown.presence = static_cast<uint32_t>(part.presence);
  shown.ranks = part.ranks;
  shown.bytes = part.bytes;
  shown.host = part.host.c_str();
  return shown;
}

cairn_checkpoint_piece shown(const ckpt::PartPiece& piece) {
  cairn_checkpoint_piece shown{};
  shown.struct_size = sizeof shown;
  shown.dimensions = piece.box.dimensions;
  shown.rank = piece.rank;
  for (unsigned k = 0; k < piece.box.dimensions; ++k) {
    shown.offset[k] = static_cast<int64_t>(piece.box.offset[k]);
    shown.count[k] = static_cast<int64_t>(piece.box.count[k]);
  }
  return shown;
}

Status check_read(const cairn_checkpoint* checkpoint, const char* name, const void* array) {
  CAIRN_TRY(check_looks(checkpoint));
  CAIRN_TRY(check_given(name, "the variable's name"));
  return check_given(array, "array");
}

}  // namespace

extern "C" {

int cairn_checkpoint_parts(cairn_checkpoint* checkpoint, int64_t version,
                           cairn_checkpoint_part_visit visit, void* context) {
  const WriteWindow window;
  if (const Status looks = check_looks(checkpoint); !looks.ok()) return code(looks);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  std::vector<ckpt::VersionPart> parts;
  const Status read = checkpoint->session.read([&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(found, reader->list_parts(number_of(version)));
    parts = std::move(found);
    return Status();
  });
  if (!read.ok()) return code(read);
  for (uint32_t i = 0; i < parts.size(); ++i) {
    const cairn_checkpoint_part part = shown(parts[i], i);
    if (const int result = visit(context, &part); result != 0) return result;
  }
  return 0;
}

int cairn_checkpoint_pieces(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                            uint32_t part, cairn_checkpoint_piece_visit visit, void* context) {
  const WriteWindow window;
  if (const Status looks = check_looks(checkpoint); !looks.ok()) return code(looks);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  std::vector<ckpt::PartPiece> pieces;
  const Status read = checkpoint->session.read([&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(found, reader->list_pieces(number_of(version), name, part));
    pieces = std::move(found);
    return Status();
  });
  if (!read.ok()) return code(with_variable(read, name));
  for (const ckpt::PartPiece& one : pieces) {
    const cairn_checkpoint_piece piece = shown(one);
    if (const int result = visit(context, &piece); result != 0) return result;
  }
  return 0;
}

int cairn_checkpoint_read_rank(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                               uint32_t rank, int64_t first, const cairn_array* array) {
  const WriteWindow window;
  if (const Status given = check_read(checkpoint, name, array); !given.ok()) return code(given);
  const Status read = checkpoint->session.read([&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(place, place_of(array));
    return reader->read_rank(number_of(version), name, rank, first, place);
  });
  return code(with_variable(read, name));
}

int cairn_checkpoint_read_lists(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                                const int64_t* offset, const int64_t* count, int64_t first,
                                const cairn_array* array) {
  const WriteWindow window;
  if (const Status given = check_read(checkpoint, name, array); !given.ok()) return code(given);
  if (const Status given = check_given(offset, "offset"); !given.ok()) return code(given);
  if (const Status given = check_given(count, "count"); !given.ok()) return code(given);
  const Status read = checkpoint->session.read([&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(place, place_of(array));
    return reader->read_lists(number_of(version), name, {offset, count}, first, place);
  });
  return code(with_variable(read, name));
}

}  // extern "C"
