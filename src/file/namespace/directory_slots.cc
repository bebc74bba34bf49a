#include "file/namespace/directory_slots.h"

#include <cerrno>
#include <memory>

namespace cairn::file::slots {

Status damaged_directory(const Map& directory) {
  return fail(EIO, "directory %llu is damaged", static_cast<unsigned long long>(directory.number));
}

uint8_t* find_block(const FileSystem& fs, const Map& directory, uint64_t file_block) {
  const uint64_t generation = directory.inode->generation.load();
  MapCursor cursor;
  if (!walk(fs.pool, directory, file_block, &cursor).ok() || !cursor.block) return nullptr;
  uint8_t* place = fs.pool.at(cursor.block);
  DirectoryBlocks* known = fs.directory_blocks.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto fresh = std::make_unique<DirectoryBlocks>();
    if (fs.directory_blocks.compare_exchange_strong(known, fresh.get())) known = fresh.release();
  }
  if (is_live(*directory.inode)) known->remember(directory.number, generation, file_block, place);
  return place;
}

}  // namespace cairn::file::slots
