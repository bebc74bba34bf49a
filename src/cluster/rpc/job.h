// Job: this process among those that write files together on several nodes, and its node's server.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/record/records_directory.h"
#include "cluster/rpc/buffers.h"
#include "cluster/rpc/contents.h"
#include "cluster/rpc/coordinator.h"
#include "cluster/rpc/held_files.h"
#include "cluster/rpc/protocol.h"
#include "cluster/rpc/transport.h"
#include "tier/system/pool_file.h"

namespace cairn::cluster {

using Part = std::shared_ptr<tier::PoolFile>;

class Job {
 public:
  struct Place {
    std::string directory;        // the covered one, its real path
    std::string cover;            // the cover's name in the pool
    const Node* nodes = nullptr;  // one copy for all processes here: it stays where it is
    uint32_t count = 0;
    uint32_t self = 0;
  };
  // As cairn_still_waiting.
  using StillWaiting = void (*)(void* context, uint64_t waited_ms, const char* path,
                                const char* whom);
  Job(file::FileSystem& fs, Place place, Ask messenger, StillWaiting waiting, void* context);

  [[nodiscard]] file::FileSystem& fs() const { return fs_; }
  [[nodiscard]] const std::string& directory() const { return place_.directory; }
  // Where the records of its shared files lie.
  [[nodiscard]] const RecordsOf& records() const { return records_; }
  [[nodiscard]] const std::string& cover() const { return place_.cover; }
  [[nodiscard]] uint32_t nodes() const { return place_.count; }
  [[nodiscard]] RecordNode node(uint32_t number) const;
  [[nodiscard]] const char* host_of(uint32_t number) const { return place_.nodes[number].host; }
  [[nodiscard]] uint32_t self() const { return place_.self; }
  [[nodiscard]] const RecordNode& own_node() const { return own_; }
  // The job's number of a pool, `nodes()` if it is in none of its nodes.
  [[nodiscard]] uint32_t number_of(const Uuid& pool) const;

  // EIO: bytes of a file lie on a node that is none of the job's.
  [[nodiscard]] Status not_in_job(const RecordNode& node, const std::string& path, uint64_t begin,
                                  uint64_t end) const;

  // This node's part of a file; ENOENT if there is none and `make` is not set. A process that has
  // the part holds its space, also after its removal.
  Result<Part> part(const Uuid& uuid, bool make);
  Status remove_part(const Uuid& uuid);
  // Removes the parts that no record knows.
  Status clean();

  [[nodiscard]] bool has_messages() const { return messenger_ != nullptr; }
  Status ask(Question* questions, size_t count) const;
  // One request with few bytes in its reply. The reply's value.
  Result<int64_t> ask(uint32_t node, const Request& request, const std::vector<ByteRun>& runs = {},
                      std::vector<Posted>* posted = nullptr) const;

  // A call that is about `path` waits for a process of the job that is there. Need not return.
  void still_waiting(uint64_t waited_ms, const std::string& path, const std::string& whom) const {
    if (waiting_ != nullptr) waiting_(context_, waited_ms, path.c_str(), whom.c_str());
  }

  Buffers& buffers() { return buffers_; }

  // In a forked child, which is not a process of the job: from now on it cannot ask other nodes.
  void fall_silent() { silent_ = true; }
  // What was opened by name loses its job with this one.
  void add_contents(const std::shared_ptr<RemoteContents>& contents);
  void end_contents();
  [[nodiscard]] bool has_ended() const { return ended_; }

  // For its server (serve.h).
  HeldFiles& held() { return held_; }
  Coordinator& coordinator() { return homes_; }
  // A part, kept open from one request to the next. ENOENT: there is none.
  Result<Part> part_to_serve(const Uuid& uuid);
  // A renaming that was not told to be over has ended when another one begins: its process was
  // killed, and the lock taken from it.
  void note_renaming(bool begins);
  // Of the names that the node had before the job (preexisting_names.h); set before it serves.
  [[nodiscard]] int64_t number_of_names() const { return number_of_names_; }
  void set_number_of_names(int64_t number) { number_of_names_ = number; }
  // Of this node (Past), which only its server counts.
  std::atomic<uint32_t> taken{0};
  std::atomic<uint32_t> renamings{0};

  // The counts of all nodes, as this process has heard of them. A process that finds a name on no
  // node, and hears that more files were taken, may have asked one node too early and another one
  // too late. Of renamings: new_name.h.
  [[nodiscard]] std::vector<Past> heard();
  void note_taken(const std::vector<Past>& of_nodes);
  void note_renamings(const std::vector<Past>& of_nodes);

  // A FIFO or socket has lost its last name here because of another node's process.
  using SpecialRemoved = void (*)(uint64_t inode, uint64_t generation, uint32_t mode);
  void on_special_removed(SpecialRemoved removed) { special_removed_ = removed; }
  void special_removed(uint64_t inode, uint64_t generation, uint32_t mode) const {
    if (const SpecialRemoved removed = special_removed_) removed(inode, generation, mode);
  }

 private:
  Status note_records() const;
  Result<Part> open_part(const Uuid& uuid, bool make);  // `parts_mutex_` is held

  file::FileSystem& fs_;
  Place place_;
  RecordsOf records_;
  RecordNode own_;
  std::vector<uint32_t> by_pool_;  // numbers of nodes
  Ask messenger_;
  StillWaiting waiting_;
  void* context_;
  std::atomic<bool> silent_{false};
  std::atomic<bool> ended_{false};
  std::mutex contents_mutex_;
  std::vector<std::weak_ptr<RemoteContents>> contents_;
  int64_t number_of_names_ = 0;
  std::atomic<SpecialRemoved> special_removed_{nullptr};
  Coordinator homes_;
  HeldFiles held_{fs_};
  Buffers buffers_;
  std::mutex heard_mutex_;
  std::vector<Past> heard_;
  std::mutex parts_mutex_;
  // Not held open: other processes of this node would keep the space of what one of them removes.
  std::map<Uuid, std::weak_ptr<tier::PoolFile>> parts_;
  std::map<Uuid, Part> served_;  // by the server, which is told what is removed
};

}  // namespace cairn::cluster
