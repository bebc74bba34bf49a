// A change of names in the pool of one node: a step of what names.h does on all.
#pragma once

#include <string>

#include "cluster/rpc/job.h"
#include "file/inode/remote.h"
#include "file/namespace/names.h"

namespace cairn::cluster {

enum class NameOp : uint32_t {
  make_directory = 1,
  make_special,  // a symbolic link, FIFO or socket
  set_attributes,
  check_removal,
  remove_directory,
  forget_directory,  // the same, but another node's drain removes it from the covered directory
  claim,   // forget, unless the file was changed here, or somebody has it open for writing
  forget,  // what has no bytes, or a file from the covered directory: another node's pool says what
           // it is from now on
  check_rename,
  rename,
  look,      // whether it is still what `other` says (seen_as_text())
  displace,  // of what was removed here: another node makes the name anew (tier/replace/displace.h)
  forget_unchanged,  // as forget, but a file only where claim would
};
// Paths are relative to the covered directory, without symbolic links, "." and "..".
struct NameChange {
  NameOp op;
  uint32_t mode;  // make_special: with the type; check_rename: that of what is renamed
  std::string path;
  std::string other;   // a link's target, the new path, or the attributes
  uint32_t flags = 0;  // rename: of file::rename()
};

// What is `same` stays.
NameChange set_attributes(const std::string& path, const file::Remote::Change& to);

std::string seen_as_text(const file::Seen& seen);

// Makes it, or says why it cannot be made.
Status change_name(Job& job, const NameChange& change);
// Makes a change for another node, which has found nothing against it in its own pool: 1 if
// something changed, 0 if all was so already.
Result<int64_t> serve_change(Job& job, const NameChange& change);

// Type and permissions of what the pool has under the name; ENOENT.
Result<uint32_t> mode_of_name(Job& job, const std::string& path);

}  // namespace cairn::cluster
