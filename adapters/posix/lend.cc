#include "posix/lend.h"

#include "posix/covered.h"
#include "posix/engine.h"
#include "posix/table.h"

namespace posix {
namespace {

cairn_file* file_of(int fd) {
  table::Use use(fd);
  if (!use || use->kind != Kind::kFile) return nullptr;
  cairn_retain(use->file);
  return use->file;
}

bool covers(const char* path) {
  if (outside(path)) return false;
  Spot spot;
  return locate(AT_FDCWD, path, &spot) == 0 && spot.cover != nullptr;
}

constexpr Lent lent = {
    file_of,
    covers,
    [](cairn_file* file) { return cairn_close(file); },
    [](cairn_file* file, void* buffer, size_t size, uint64_t offset) {
      return cairn_pread(file, buffer, size, offset);
    },
    [](cairn_file* file, const void* buffer, size_t size, uint64_t offset) {
      return cairn_pwrite(file, buffer, size, offset);
    },
    [](cairn_file* file, cairn_stat* st) { return cairn_fstat(file, st); },
    [](cairn_file* file, uint64_t size) { return cairn_ftruncate(file, size); },
    [](cairn_file* file, int mode, uint64_t offset, uint64_t size) {
      return cairn_fallocate(file, mode, offset, size);
    },
    [](cairn_file* file) { return cairn_fsync(file); },
};

}  // namespace

const Lent& lend() { return lent; }

}  // namespace posix
