// Opening: rank 0 finds or makes the record and tells the others what is in it.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "cluster/local/local_entry.h"
#include "cluster/record/base_file.h"
#include "cluster/remote/remote_files.h"
#include "cluster/shared/held_record.h"
#include "cluster/shared/shared_file.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/inode/open_table.h"
#include "tier/system/system.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

struct Announcement {
  uint64_t home;
  uint32_t home_node;
  uint32_t writable;
  uint64_t path;  // bytes of it; the record's follow
};

// As the kernel would for the file itself.
bool is_allowed(const Record& record, unsigned wanted) {
  if (::geteuid() == 0) return true;
  unsigned shift = 0;
  if (record.uid == ::geteuid())
    shift = 6;
  else if (record.gid == ::getegid())
    shift = 3;
  return (record.mode >> shift & wanted) == wanted;
}

unsigned access_of(int flags) {
  constexpr unsigned r = 4;
  constexpr unsigned w = 2;
  if ((flags & O_ACCMODE) == O_RDONLY) return r;
  return (flags & O_ACCMODE) == O_WRONLY ? w : r | w;
}

// Only names that stay below the covered directory, as they are.
Status check_path(const std::string& path) {
  return is_path_below(path)
             ? Status()
             : fail(EINVAL, "invalid path '%s': expected a path below a covered directory",
                    path.c_str());
}

// What would be written there goes past the parts, and no share map would hear of it.
Status check_no_writer(Job& job, const std::string& path) {
  auto entry = local_entry(job, path);
  if (!entry.ok()) return entry.code() == ENOENT ? Status() : entry.status();
  if (!entry->exists()) return Status();
  const bool is_read_only = file::for_each_open_file(job.fs(), [&](const format::OpenFile& open) {
    return open.inode.load() != entry->map.number || (open.flags.load() & O_ACCMODE) == O_RDONLY;
  });
  if (is_read_only) return Status();
  return fail(EBUSY, "%s: other calls have it open for writing on node %s, and must close it first",
              path.c_str(), job.own_node().host.c_str());
}

}  // namespace

Status SharedFile::make_record(const Wanted& wanted, bool* made) {
  CAIRN_TRY(check_no_writer(job_, wanted.path));
  const std::string lower = job_.directory() + "/" + wanted.path;
  sys::FileStat st = {};
  const auto look = [&] { return stat_below(job_.directory(), wanted.path, &st); };
  // One that was removed by its name is still there until that is drained.
  if (look().ok()) displace_everywhere(job_, wanted.path);
  const Status looked = look();
  const bool there = looked.ok();
  if (!there && looked.code() != ENOENT && looked.code() != ENOTDIR) return looked;
  if (there && S_ISDIR(st.st_mode)) return fail(EISDIR, "%s: is a directory", lower.c_str());
  const bool exists = there || wanted.local != nullptr;
  if (exists && (wanted.flags & O_CREAT) != 0 && (wanted.flags & O_EXCL) != 0)
    return fail(EEXIST, "%s: exists", lower.c_str());
  if (!exists && (wanted.flags & O_CREAT) == 0)
    return fail(ENOENT, "%s: no such file", lower.c_str());
  if (there && wanted.local == nullptr && !S_ISREG(st.st_mode))
    return fail(EOPNOTSUPP, "%s: not a regular file", lower.c_str());
  record_ = Record();
  record_.uuid = random_uuid();
  record_.mode = wanted.mode & 0777;
  record_.uid = ::geteuid();
  record_.gid = ::getegid();
  record_.mtime = file::now_ns();
  if (there && wanted.local == nullptr) {
    record_.size = static_cast<uint64_t>(st.st_size);
    record_.mode = st.st_mode & 07777;
    record_.uid = st.st_uid;
    record_.gid = st.st_gid;
    record_.mtime = sys::mtime_of(st);
    record_.base = {true, st.st_ino, record_.size, record_.mtime, record_.size, st.birth};
    if (!is_allowed(record_, access_of(wanted.flags)))
      return fail(EACCES, "%s: permission denied", lower.c_str());
  }
  if (wanted.local != nullptr) CAIRN_TRY(adopt(*wanted.local));
  const Status status = write_record(job_.records(), wanted.path, record_, true);
  *made = status.ok();
  if (!status.ok() && part_ != nullptr) {
    part_ = nullptr;
    job_.remove_part(record_.uuid).ignore();  // the failure that is told is the first one
  }
  return status;
}

// What other calls have written under this name, in this node's pool only: the part's first bytes.
Status SharedFile::adopt(file::File& local) {
  auto part = job_.part(record_.uuid, true);
  if (!part.ok()) return part.status();
  part_ = *part;
  const file::Map map = local.map();
  record_.mode = map.inode->mode.load() & 07777;
  std::vector<uint8_t> buffer(size_t{1} << 20);
  uint64_t done = 0;
  while (true) {
    auto n = file::read_at(local, buffer.data(), buffer.size(), done);
    if (!n.ok()) return n.status();
    if (*n == 0) break;
    auto written = file::write_at(**part_, buffer.data(), *n, done);
    if (!written.ok()) return written.status();
    done += *written;
    if (*written != *n)
      return fail(ENOSPC, "the pool is full at offset %llu", static_cast<unsigned long long>(done));
  }
  CAIRN_TRY(file::sync_file(job_.fs(), (**part_).map()));
  record_.size = done;
  record_.map.add({0, done, 0, 1}, record_.node_of(job_.own_node()));
  return Status();
}

Status SharedFile::open_first(const Wanted& wanted) {
  CAIRN_TRY(check_path(wanted.path));
  path_ = wanted.path;
  const bool exclusive = (wanted.flags & O_CREAT) != 0 && (wanted.flags & O_EXCL) != 0;
  // Another group may make it, or delete it, between the two looks.
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    auto found = read_record(job_.records(), path_);
    if (found.ok()) {
      if (exclusive) return fail(EEXIST, "%s: exists", path_.c_str());
      if (!is_allowed(*found, access_of(wanted.flags)))
        return fail(EACCES, "%s: permission denied", path_.c_str());
      record_ = std::move(*found);
      // What has been put together of it will be of the past.
      return writable_ ? forget_collected(job_.records(), path_) : Status();
    }
    if (found.code() != ENOENT) return found.status();
    bool made = false;
    const Status status = make_record(wanted, &made);
    if (made || status.code() != EEXIST || exclusive) return status;
  }
  return fail(EBUSY, "%s: other processes keep creating and removing it", path_.c_str());
}

Bytes SharedFile::announcement() const {
  const Announcement head = {home_, home_node_, writable_ ? 1U : 0U, path_.size()};
  const Bytes record = bytes_of(record_);
  Bytes bytes(sizeof head + path_.size() + record.size());
  uint8_t* to = bytes.data();
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + sizeof head, path_.data(), path_.size());
  std::memcpy(to + sizeof head + path_.size(), record.data(), record.size());
  return bytes;
}

Status SharedFile::take_announcement(const Bytes& bytes) {
  Announcement head = {};
  if (bytes.size() < sizeof head) return fail(EIO, "invalid reply of rank 0 about the file");
  std::memcpy(&head, bytes.data(), sizeof head);
  home_ = head.home;
  home_node_ = head.home_node;
  writable_ = head.writable != 0;
  path_.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof head, head.path);
  const size_t at = sizeof head + head.path;
  auto record = record_of(bytes.data() + at, bytes.size() - at, path_);
  if (!record.ok()) return record.status();
  record_ = std::move(*record);
  return Status();
}

Result<std::unique_ptr<SharedFile>> SharedFile::open(Job& job, const GroupCalls& group,
                                                     const Wanted& wanted) {
  std::unique_ptr<SharedFile> file(new SharedFile(job, group));
  Status status;
  if (file->group_.is_first()) {
    file->writable_ = (wanted.flags & O_ACCMODE) != O_RDONLY;
    file->home_node_ = job.self();
    const Uuid id = random_uuid();
    std::memcpy(&file->home_, id.data(), sizeof file->home_);
    status = file->open_first(wanted);
  }
  if (status.ok() && file->group_.is_first()) {
    status = count_open(job, file->record_.uuid, 1);
    file->counted_ = status.ok();
  }
  CAIRN_TRY(file->group_.agree(status));
  Bytes bytes = file->group_.is_first() ? file->announcement() : Bytes();
  CAIRN_TRY(file->group_.broadcast(&bytes));
  status = file->take_announcement(bytes);
  // A process that only reads needs none, and may have none.
  if (status.ok() && file->part_ == nullptr) {
    auto part = job.part(file->record_.uuid, file->writable_);
    if (part.ok())
      file->part_ = *part;
    else if (part.code() != ENOENT || file->writable_)
      status = part.status();
  }
  CAIRN_TRY(file->group_.agree(status));
  return file;
}

Result<std::unique_ptr<SharedFile>> SharedFile::look(Job& job, const std::string& path) {
  CAIRN_TRY(check_path(path));
  std::unique_ptr<SharedFile> file(new SharedFile(job, {}));
  file->path_ = path;
  auto record = read_record(job.records(), path);
  if (!record.ok()) return record.status();
  file->record_ = std::move(*record);
  return file;
}

// As one of the groups that have the file open.
Status SharedFile::stop_counting() {
  return std::exchange(counted_, false) ? count_open(job_, record_.uuid, -1) : Status();
}

// After an open that failed on others, or a commit without its end.
SharedFile::~SharedFile() { stop_counting().ignore(); }

Request SharedFile::request(Op op) const {
  Request request = {};
  request.op = op;
  request.home = home_;
  request.uuid = record_.uuid;
  return request;
}

Result<int64_t> SharedFile::fetch_add(uint32_t which, int64_t value) {
  Request ask = request(Op::fetch_add);
  ask.which = which;
  ask.value = value;
  return job_.ask(home_node_, ask);
}

Status SharedFile::store(uint32_t which, int64_t value) {
  Request ask = request(Op::store);
  ask.which = which;
  ask.value = value;
  return job_.ask(home_node_, ask).status();
}

}  // namespace cairn::cluster
