// Opens a file whose contents come from a ContentSource.
#pragma once

#include <memory>

#include "file/open/open_file.h"
#include "tier/system/source.h"

namespace cairn::tier {

// The attributes of such a file.
struct SourceAttributes {
  uint32_t mode = 0;  // permissions
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t size = 0;
  uint64_t mtime = 0;
};
// Opens a file without a name, with these flags of open(2). It ends with its last descriptor. Its
// source is released when the next one is opened, or with the pool.
Result<std::unique_ptr<file::File>> open_source(file::FileSystem& fs,
                                                const SourceAttributes& attributes, int flags,
                                                std::shared_ptr<ContentSource> source);

}  // namespace cairn::tier
