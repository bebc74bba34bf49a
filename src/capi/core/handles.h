// Handles: what the opaque types of the C API are.
#pragma once

#include <cstddef>
#include <memory>

#include "cairn/cairn.h"
#include "file/data/mapping.h"
#include "file/data/pieces.h"
#include "file/inode/file_system.h"
#include "file/open/open_file.h"
#include "file/open/process.h"
#include "persist/region/write_window.h"

struct cairn_pool {
  std::unique_ptr<cairn::file::FileSystem> fs;
  // The source of lazy files' contents; destroyed before the file system.
  std::unique_ptr<cairn::file::Lower> lower;
  cairn::file::Mappings mappings;
  cairn::file::ForkedLane forked;
};

// Every call that reaches a pool has one first of all.
using cairn::persist::WriteWindow;

// A cairn_file is a file::File; the C name has no body of its own.
namespace cairn::capi {

inline file::File& file_of(cairn_file* handle) { return *reinterpret_cast<file::File*>(handle); }
inline cairn_file* handle_of(file::File* file) { return reinterpret_cast<cairn_file*>(file); }
inline file::FileSystem& fs_of(cairn_pool* pool) { return *pool->fs; }

// The API's form of a result: 0 or a negative errno.
inline int code(Status status) { return -status.code(); }
template <typename T>
ssize_t count(const Result<T>& result) {
  return result.ok() ? static_cast<ssize_t>(*result) : -result.code();
}

// EFAULT: an address that has to be given is NULL.
inline Status check_given(const void* address, const char* what) {
  return address != nullptr ? Status() : fail(EFAULT, "%s is NULL", what);
}

// EINVAL: bits that mean nothing here, and may in a later version.
inline Status check_flags(uint64_t flags, uint64_t known, const char* call) {
  if ((flags & ~known) == 0) return Status();
  return fail(EINVAL, "%s: invalid flags %#llx", call, static_cast<unsigned long long>(flags));
}

// The API's pieces, which have the same layout.
static_assert(sizeof(cairn_piece) == sizeof(file::BufferPiece) &&
              offsetof(cairn_piece, offset) == offsetof(file::BufferPiece, offset));
inline const file::BufferPiece* pieces_of(const cairn_piece* pieces) {
  return reinterpret_cast<const file::BufferPiece*>(pieces);
}

// The open flags in force.
inline int flags_of(const file::File& file) { return static_cast<int>(file.shared->flags.load()); }

// ESTALE: there is no inode of that number; a directory may be given as it was found
// (file::found_as).
Result<file::Map> live_map(file::FileSystem& fs, uint64_t found);
void fill_stat(file::FileSystem& fs, const file::Map& map, cairn_stat* st);

}  // namespace cairn::capi
