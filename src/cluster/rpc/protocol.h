// Messages: what processes of a job ask the servers of their nodes. Within one job, so in the
// machine's own words.
#pragma once

#include <cstdint>

#include "cluster/record/record.h"
#include "file/inode/remote.h"

namespace cairn::cluster {

enum class Op : uint32_t {
  read = 1,     // runs of a part: their bytes, one behind the other
  remove_part,  // its file is gone
  change_name,  // name_op.h
  // Ordinary files of a node's pool (local_server.h), by name; read_file: `uuid` says which.
  look_file,  // its reply's value: Past
  read_file,
  change_file,
  rename_file,  // `value`: flags of file::rename()
  remove_file,
  // Of the state that follows the path: nobody opens it from now on (file/inode/moving.h), unless
  // somebody has it open. EAGAIN: it is moving; `value` 1: for too long.
  reserve_file,
  release_reserved,
  take_file,  // remove_file, of one that is reserved
  list_files,
  hold_file,  // for writing if `which` is 1 (held_files.h). EAGAIN: it is moving; `value` 1: for
              // too long
  // Of those that are held, by `uuid`.
  release_file,
  read_held,    // one run; short at the end of file only
  write_held,   // at `value`, the bytes that follow; how many
  append_held,  // the bytes that follow, and `home` zeros; where, and in a word behind it, how many
  cut_held,     // to `value`
  change_held,  // FileChange follows
  sync_held,
  look_held,
  look_names,     // the number of those that the node had when the job began (preexisting_names.h)
  make_names,     // of those that another one had: they follow
  look_process,   // how the process `value` of its node is: ProcessState
  note_renaming,  // of a directory: begins if `value` is 1, else is over
  // What a file's home keeps for those who have it open (coordinator.h).
  fetch_add,
  store,
  // For the process `value` of node `which` (job_lock.h), which says what it does with it: text
  // follows. 0: another one has it, who follows the reply. That one is gone if `uuid` says so: 2,
  // and what it has said follows.
  lock,
  unlock,  // if that process has it
  post,    // runs that a process has just written
  news,    // what was posted from `value` on
  trim,    // nobody asks for what was posted before `value`
  end,
};

struct Request {
  Op op;
  uint32_t which;  // fetch_add, store: the word; post: the node that wrote; change_name: the
                   // change; lock: the node
  uint64_t home;   // names what is kept
  Uuid uuid;
  int64_t value;
  uint64_t runs;  // that follow
  uint64_t text;  // bytes that follow them: a path, and a zero byte before what else there is; or
                  // contents of a file
};

struct Reply {
  int32_t error;  // an errno; then text follows
  uint32_t padding;
  int64_t value;
  uint64_t size;  // of what follows
};

// Whether a file can be taken (take_file). Soon: it is moving, or was changed in this tick of the
// clock.
enum class Busy : uint32_t { no, soon, yes };

// An ordinary file, as its node shows it to others.
struct FileState {
  Uuid file;  // inode and generation
  uint64_t size;
  uint64_t blocks;  // of 4 KiB
  uint64_t atime;
  uint64_t mtime;
  uint64_t ctime;
  uint64_t btime;
  uint32_t mode;
  uint32_t uid;
  uint32_t gid;
  uint32_t links;
  Busy busy;  // told if `which` is 1
  // 1: there is none, but one of the covered directory was removed here, or moved away, which is
  // still to be drained.
  uint32_t removed;
  // The file in the covered directory that it takes the place of (file::Witness), if
  // `has_lower` is not 0.
  uint64_t has_lower;
  file::WitnessWords lower;
};

// What has happened on a node since the job began that makes void what it says of names, or has
// said.
struct Past {
  // Ordinary files that other nodes have taken from this one.
  uint32_t taken;
  // Of directories, begun and over: one is under way, on some nodes or all, while this is odd.
  uint32_t renamings;
};

// change_file: follows the path. What is not `same` changes.
struct FileChange {
  static constexpr uint64_t same = file::Remote::Change::same;
  uint64_t size = same;
  file::Remote::Change attributes;
};

// list_files: each is followed by its name.
struct ListedFile {
  uint64_t inode;
  uint64_t length;
};

enum class ProcessState : int64_t { gone, lives, stopped };

// lock: a process that has it.
struct Holder {
  uint64_t node;
  uint64_t process;
};

struct Posted {
  ByteRun run;
  uint64_t node;  // index into the job's nodes
};

inline constexpr uint64_t most_bytes = 8ULL << 20;       // that follow a reply
inline constexpr uint64_t most_news = 1024;              // entries that a reply holds
inline constexpr uint64_t longest_intent = 12ULL << 10;  // that is told with a lock
inline constexpr uint64_t most_listed = 64ULL << 10;     // bytes of names in a reply
inline constexpr uint64_t most_runs = 32768;             // that follow a request
inline constexpr uint64_t most_written = 512ULL << 10;   // bytes that follow a request
inline constexpr size_t reply_capacity = sizeof(Reply) + most_bytes;
inline constexpr size_t request_capacity = sizeof(Request) + most_runs * sizeof(ByteRun);
static_assert(request_capacity >= sizeof(Request) + most_written);

}  // namespace cairn::cluster
