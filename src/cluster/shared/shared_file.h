// SharedFile is a file that processes on several nodes have open (include/cairn/adapter/shared.h
// says it for users).
//
// Invariants
//  1. Bytes are in this node's part before `written_` or the home's log say so.
//  2. What the record says of a part is in it, and durable as far as its pool is.
//  3. Only rank 0 of a group changes the record, while it holds the record's lock. A job is the
//     only one in its directory, so a lock in a server's memory is enough. The rename of the record
//     is the commit.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/rpc/group.h"
#include "cluster/rpc/job.h"
#include "cluster/rpc/job_lock.h"

namespace cairn::cluster {

class SharedFile {
 public:
  // What rank 0 is asked to open.
  struct Wanted {
    std::string path;
    int flags = 0;
    uint32_t mode = 0;
    file::File* local = nullptr;
  };
  static Result<std::unique_ptr<SharedFile>> open(Job& job, const GroupCalls& group,
                                                  const Wanted& wanted);
  // As the last commit left it, for reading by this process alone: nobody is told, no permission
  // looked at. It need not be closed. ENOENT.
  static Result<std::unique_ptr<SharedFile>> look(Job& job, const std::string& path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  Status close();
  Status commit();
  Status truncate(uint64_t size);
  Status set_immediate(bool on);
  // All of it, or an error.
  Result<size_t> write(const Target* pieces, size_t count);
  Result<uint64_t> read(const Target* pieces, size_t count);
  Result<uint64_t> size();
  Status lock() { return cluster::lock(job_, home_node_, home_, path_); }
  Status unlock() { return cluster::unlock(job_, home_node_, home_); }
  Result<int64_t> fetch_add(uint32_t which, int64_t value);
  Status store(uint32_t which, int64_t value);
  // What look() found.
  [[nodiscard]] const Record& record() const { return record_; }

 private:
  SharedFile(Job& job, const GroupCalls& group) : job_(job), group_(group) {}

  // --- shared_open.cc: what rank 0 does, and what it tells the others
  Status open_first(const Wanted& wanted);
  Status make_record(const Wanted& wanted, bool* made);
  Status stop_counting();
  Status adopt(file::File& local);
  [[nodiscard]] Bytes announcement() const;
  Status take_announcement(const Bytes& bytes);

  // --- shared_commit.cc
  struct Also {
    bool cut = false;  // the file ends at `size` from then on
    uint64_t size = 0;
    bool close = false;  // the group has it open no more, before anyone returns
  };
  Status commit(const Also& also);
  // On rank 0, when all have said what they wrote.
  Status publish(const std::vector<Share>& written, uint64_t end, bool cut, uint64_t size);
  Result<Record> newest_record();
  Status take_news();
  Status write_piece(const Target& piece, size_t* done);
  Status post(ByteSet* bytes);

  // A write that the pool did not take, which the next commit tells all. The caller alone is told
  // what it did wrong.
  struct Failure {
    int code = 0;
    uint64_t offset = 0;
    std::string cause;
  };
  void note_failure(Failure failure);

  // --- shared_read.cc
  struct Plan;
  void plan(const Target& piece, uint64_t size, Plan* plan) const;
  Status fetch(const Plan& plan);
  Status fetch_base(const Plan& plan) const;
  Status fetch_remote(const Plan& plan) const;

  [[nodiscard]] uint64_t size_now() const;  // `mutex_` is held
  Request request(Op op) const;

  Job& job_;
  Group group_;
  std::string path_;               // below the covered directory; where rank 0 has found it last
  int64_t looked_when_moved_ = 0;  // how often records had been moved
  bool writable_ = false;
  uint64_t home_ = 0;
  uint32_t home_node_ = 0;
  bool immediate_ = false;
  bool counted_ = false;  // here, as one of the groups that have the file open
  Part part_;             // null until there is one

  // For threads of this process.
  mutable std::mutex mutex_;
  Record record_;
  ByteSet written_;             // by this process, since the last commit
  ByteSet committing_;          // the same, while a commit is under way
  Failure failed_;              // since the last commit; of several the one that lies lowest
  int64_t news_ = 0;            // entries of the home's log that are in `record_`
  int64_t committed_news_ = 0;  // and that a commit has put into the record in lower
};

}  // namespace cairn::cluster
