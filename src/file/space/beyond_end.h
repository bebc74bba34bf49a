// Beyond the end of file: ensures that bytes there read as zeros when the file grows, also after a
// process died.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Notes in the seat that [from, to) may hold bytes beyond the end of file; recovery zeroes them.
inline void note_extension(FileSystem& fs, LocalSeat& seat, uint64_t number, uint64_t from,
                           uint64_t to) {
  format::Seat& words = *seat.words;
  fs.pool.store(words.extending_from, from);
  fs.pool.store(words.extending_to, to);
  fs.pool.store(words.extending_inode, number);
}

// Zeroes the mapped parts of [from, to). Takes no lock; the caller excludes other writers.
Status zero_mapped(const FileSystem& fs, const Map& map, uint64_t from, uint64_t to);

}  // namespace cairn::file
