// LayoutFiles: the files HASH.decomposition and HASH.layout of a set.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/layout/contents.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

inline constexpr std::string_view layout_suffix = ".layout";
inline constexpr std::string_view decomposition_suffix = ".decomposition";

// Several versions need these records, so each is there twice. The second has this behind its name.
inline constexpr std::string_view copy_suffix = ".copy";
// The names of both, the first one first.
std::array<std::string, 2> names_of_record(const Sha256Hash& hash, std::string_view suffix);

// The first 16 bytes of a hash, as names of files have it.
std::string short_hash(const Sha256Hash& hash);

// Makes a layout and its decompositions durable, the layout last. What is there already stays,
// unless it is damaged.
Status store_contents(file::FileSystem& fs, uint64_t directory, const Contents& contents);

// Reads and checks a layout with all its decompositions. ENOENT; EUCLEAN: damaged, or not what the
// hash names.
Result<Contents> load_contents(file::FileSystem& fs, uint64_t directory, const Sha256Hash& layout);

}  // namespace cairn::checkpoint
