// LayoutFiles: the files HASH.decomposition and HASH.layout of a set.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/layout/contents.h"
#include "checkpoint/store/records.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

inline constexpr std::string_view layout_suffix = ".layout";
inline constexpr std::string_view decomposition_suffix = ".decomposition";

// The suffix of a record's second copy: several versions need these records, so each is stored
// twice.
inline constexpr std::string_view copy_suffix = ".copy";
// Returns the names of both copies, the first one first.
std::array<std::string, 2> names_of_record(const Sha256Hash& hash, std::string_view suffix);

// Returns the first 16 bytes of a hash, as file names contain it.
std::string short_hash(const Sha256Hash& hash);

// Makes a layout and its decompositions durable, the layout last. Files that are there already
// stay, unless they are damaged.
Status store_contents(file::FileSystem& fs, uint64_t directory, const Contents& contents);

// One of the two files of a record, wherever it lies.
struct RecordFile {
  const Sha256Hash& hash;
  std::string_view suffix;
  uint64_t longest = 0;  // bytes that such a record may have
  uint32_t copy = 0;     // 0 or 1

  [[nodiscard]] std::string name() const;
};
using ReadRecordFile = std::function<Result<std::vector<uint8_t>>(const RecordFile& file)>;

// Returns the hash of the layout that a version has.
Sha256Hash layout_of(const VersionRecord& version);

// Reads and checks a layout with all its decompositions. Each record is taken from its first file
// or, if that one is damaged, from the second. ENOENT; EUCLEAN: damaged, or not the record that the
// hash names.
Result<Contents> load_contents(const Sha256Hash& layout, const ReadRecordFile& read);
// Loads the records from the set's directory in a pool.
Result<Contents> load_contents(file::FileSystem& fs, uint64_t directory, const Sha256Hash& layout);

}  // namespace cairn::checkpoint
