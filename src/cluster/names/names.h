// What the pools of a job's nodes all have: directories, symbolic links, FIFOs and sockets, names
// that hold no bytes, so that one rank can make the directory that all write into; and the names of
// files that lie in the covered directory.
//
// A change to such a name is made on every node before the call returns, one at a time in the job,
// or on none: the other nodes' servers make it in their pools. Each node's drain carries it to the
// covered directory, where it is the same for all. A file of the covered directory that one node
// changes, moves or removes is forgotten by the others: they ask from then on (remote_files.h), and
// leave what is in that directory to the one.
#pragma once

#include <functional>
#include <string>

#include "cluster/rpc/job.h"
#include "file/namespace/names.h"

namespace cairn::cluster {

// EEXIST, ENOENT, ENOTDIR, ENOSPC, ... as the system's calls; also for what another node has in its
// pool under that name.
Status make_directory(Job& job, const std::string& path, uint32_t mode);
Status make_symbolic_link(Job& job, const std::string& path, const std::string& target);
// A FIFO or socket; `mode` with the type.
Status make_special(Job& job, const std::string& path, uint32_t mode);
// Mode, owner and times of what all nodes have.
Status set_attributes_everywhere(Job& job, const std::string& path,
                                 const file::Remote::Change& attributes);
// As set_attributes_everywhere(), of what is not a directory, by its inode on this node: under all
// names that it has there. ENOENT: it has none.
Status set_attributes_of(Job& job, const file::Seen& inode, const file::Remote::Change& attributes);
// ENOTEMPTY also if another node's pool has something in it.
Status remove_directory(Job& job, const std::string& path);
// Anything but a directory that this node's pool has.
Status remove_file(Job& job, const std::string& path);
// Uses a file that was created, before another process may open it.
using UseMade = std::function<Status(const file::Created& made)>;
// A new ordinary file of this node; EEXIST if any node has one of the name, or makes one in this
// moment.
Status make_file(Job& job, const std::string& path, uint32_t mode, const UseMade& use);
// As make_file(), without waiting for others. ESTALE: another node has made it in the same moment,
// and this one has given way.
Status make_or_give_way(Job& job, const std::string& path, uint32_t mode, const UseMade& use);
// Gives a further name to what is not a directory, or the first one to a file that was created
// without. Of a file on this node; EEXIST as for make_file(). ESTALE: the inode is another one by
// now than that of `generation`.
Status link_inode(Job& job, const file::Seen& inode, const std::string& path);
// This node is about to change a file: others forget what they know of it from the covered
// directory, and ask from then on. EBUSY: one of them has changed it, or has it open for writing;
// ESTALE: one of them has claimed it.
Status claim_file(Job& job, const std::string& path);
// `keep`: EEXIST if the new name is there. EXDEV for a directory that the covered directory has
// too: other nodes know other things of what is in it.
Status rename_name(Job& job, const std::string& from, const std::string& to, bool keep);
// Renames a shared file or, where there is none, another node's file, as rename_name() does. What
// this node's pool has under the new name stays. ENOENT: no node has the file.
Status rename_of_job(Job& job, const std::string& from, const std::string& to, bool keep);

}  // namespace cairn::cluster
