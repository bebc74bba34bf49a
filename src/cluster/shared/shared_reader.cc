#include "cluster/shared/shared_reader.h"

#include "cluster/remote/remote_reader.h"
#include "cluster/shared/shared_file.h"

namespace cairn::cluster {

Result<std::unique_ptr<file::File>> open_shared_reader(Job& job, const std::string& path,
                                                       int flags) {
  auto looked = SharedFile::look(job, path);
  if (!looked.ok()) return looked.status();
  const std::shared_ptr<SharedFile> file = std::move(*looked);
  const Record& record = file->record();
  return open_with_reader(job, {record.mode, record.uid, record.gid, record.size, record.mtime},
                          flags, [file](const Target& piece) { return file->read(&piece, 1); });
}

}  // namespace cairn::cluster
