#include "cluster/collect_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "cluster/base_file.h"
#include "cluster/directories.h"
#include "tier/attributes.h"
#include "tier/parts.h"
#include "tier/pool_file.h"
#include "tier/written_aside.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

// So much of the share map is looked at in one go.
constexpr uint64_t window = 64 << 20;
constexpr int most_tries = 10;

int64_t look(const std::string& path, struct stat* st) {
  return sys::lstatat(AT_FDCWD, path.c_str(), st);
}

// Whether the name is there.
Result<bool> find(const std::string& path, struct stat* st) {
  const int64_t result = look(path, st);
  if (result < 0 && result != -ENOENT && result != -ENOTDIR)
    return sys::failed(result, "stat", path);
  return result == 0;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_base(const Base& base, const struct stat& st) {
  return base.exists && S_ISREG(st.st_mode) && st.st_ino == base.inode &&
         static_cast<uint64_t>(st.st_size) == base.size && sys::mtime_of(st) == base.mtime;
}

// The first offset from `at` on that a node holds; UINT64_MAX if there is none.
uint64_t next_held(const ShareMap& map, uint64_t at) {
  uint64_t next = UINT64_MAX;
  for (const auto& [run, node] : map.shares()) {
    if (at >= run.end()) continue;
    uint64_t begin = run.offset;
    if (run.count > 1 && at > begin) begin += (at - begin) / run.stride * run.stride;
    if (at >= begin + run.length) begin += run.stride;
    next = std::min(next, std::max(at, begin));
  }
  return next;
}

Status changed_meanwhile(const std::string& path) {
  return fail(EAGAIN, "%s: written again while it was collected", path.c_str());
}

}  // namespace

bool Collecting::advance(uint64_t bytes) {
  done += bytes;
  return !calls.progress || calls.progress(done, std::max(done, total));
}

Uuid uuid_of(const file::FileSystem& fs) {
  Uuid uuid = {};
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t word = fs.pool.superblock().uuid[i].load();
    std::memcpy(uuid.data() + 8 * i, &word, sizeof word);
  }
  return uuid;
}

std::vector<uint32_t> holders_of(const Record& record) {
  ShareMap map = record.map;
  map.truncate(record.size);
  map.normalise();
  std::set<uint32_t> nodes;
  for (const Share& share : map.shares()) nodes.insert(share.node);
  return {nodes.begin(), nodes.end()};
}

FileCollector::FileCollector(Collecting& all, const std::string& path, Record record)
    : all_(all),
      path_(path),
      record_(std::move(record)),
      holders_(holders_of(record_)),
      own_(ShareMap::nobody),
      lower_(all.directory + "/" + path),
      aside_(aside_path(all.directory, path, record_)) {
  for (uint32_t i = 0; i < record_.nodes.size(); ++i)
    if (record_.nodes[i].pool == all_.pool) own_ = i;
  holds_ = std::find(holders_.begin(), holders_.end(), own_) != holders_.end();
  // Of a file that nobody holds anything of, whoever comes does it all.
  copies_base_ = holders_.empty() || holders_.front() == own_;
}

std::string FileCollector::mark_of(const Uuid& pool) const {
  return mark_path(all_.directory, path_, record_, pool);
}

Status FileCollector::check_record() const {
  auto now = read_record(all_.directory, path_);
  if (now.code() == ENOENT || (now.ok() && !is_same_epoch(*now, record_)))
    return changed_meanwhile(lower_);
  return now.status();
}

Status FileCollector::collect() {
  auto published = is_published();
  if (!published.ok()) return published.status();
  if (*published) return settle();
  Status status = holds_ || holders_.empty() ? give_share() : Status();
  if (status.ok() && !find_missing()) status = publish();
  if (status.code() != ESTALE) return status;
  // What lies there may be what somebody who was faster has put together: the record goes before the marks.
  const std::string detail = last_detail();
  published = is_published();
  if (!published.ok()) return published.status();
  if (*published) return settle();
  CAIRN_TRY(check_record());
  return fail(ESTALE, "%s", detail.c_str());
}

// Somebody has renamed it and went no further.
Result<bool> FileCollector::is_published() const {
  struct stat there = {};
  auto found = find(lower_, &there);
  if (!found.ok() || !*found || !S_ISREG(there.st_mode))
    return found.ok() ? Result<bool>(false) : found;
  auto marks = all_marks();
  if (!marks.ok()) return marks.status();
  for (const std::string& path : *marks) {
    struct stat mark = {};
    found = find(path, &mark);
    if (!found.ok()) return found;
    if (*found && is_same_file(mark, there)) return true;
  }
  return false;
}

// Of a file that nobody holds anything of, any node may have put its mark in.
Result<std::vector<std::string>> FileCollector::all_marks() const {
  std::vector<std::string> marks = {mark_of(all_.pool)};
  for (const RecordNode& node : record_.nodes) marks.push_back(mark_of(node.pool));
  if (!holders_.empty()) return marks;
  const std::string own = marks.front();
  const std::string parent = parent_of(own);
  const std::string start = own.substr(parent.size() + 1, own.rfind('-') - parent.size());
  const int64_t opened = sys::open_beneath(parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (opened == -ENOENT) return marks;
  if (opened < 0) return sys::failed(opened, "open", parent);
  const sys::Descriptor directory(static_cast<int>(opened));
  std::vector<sys::Entry> entries;
  if (const int64_t result = sys::list(directory.get(), &entries); result < 0)
    return sys::failed(result, "list", parent);
  for (const sys::Entry& entry : entries)
    if (entry.name.starts_with(start)) marks.push_back(parent + "/" + entry.name);
  return marks;
}

Status FileCollector::give_share() {
  const std::string mark = mark_of(all_.pool);
  for (int i = 0; i < most_tries; ++i) {
    struct stat marked = {};
    struct stat aside = {};
    const bool has_mark = look(mark, &marked) == 0;
    if (has_mark && look(aside_, &aside) == 0 && is_same_file(marked, aside)) return Status();
    if (has_mark) sys::unlinkat(AT_FDCWD, mark.c_str(), 0);  // about an aside file that is gone
    const int64_t opened =
        sys::openat(AT_FDCWD, aside_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (opened == -ENOENT) return changed_meanwhile(lower_);
    if (opened < 0) return sys::failed(opened, "cannot be made", aside_);
    const sys::Descriptor fd(static_cast<int>(opened));
    CAIRN_TRY(write_share(fd.get()));
    // By its name, which is all that a file system without O_TMPFILE knows; so it is looked at afterwards.
    const int64_t linked = sys::linkat(AT_FDCWD, aside_.c_str(), AT_FDCWD, mark.c_str());
    if (linked < 0 && linked != -ENOENT) return sys::failed(linked, "mark", mark);
    struct stat written = {};
    if (linked < 0 || sys::fstat(fd.get(), &written) != 0 || look(mark, &marked) != 0 ||
        !is_same_file(marked, written)) {
      CAIRN_TRY(check_record());
      continue;
    }
    return sync_directory(parent_of(mark));
  }
  return fail(EBUSY, "%s: somebody keeps removing it", aside_.c_str());
}

Status FileCollector::write_share(int aside) {
  // All who do this do the same, whoever is first.
  if (const int64_t result = sys::ftruncate(aside, record_.size); result < 0)
    return sys::failed(result, "truncate", aside_);
  const uint64_t done = all_.done;
  const uint64_t bytes = all_.report.bytes;
  const Status status = copy_pieces(aside);
  if (!status.ok()) {
    all_.done = done;
    all_.report.bytes = bytes;
    return status;
  }
  if (const int64_t result = sys::fsync(aside); result < 0)
    return sys::failed(result, "fsync", aside_);
  return Status();
}

Status FileCollector::copy_pieces(int aside) {
  auto inode = tier::find_part(all_.fs, all_.cover_name, hex_of(record_.uuid), false);
  if (!inode.ok()) return inode.status();
  if (*inode == 0 && holds_)
    return fail(EIO, "%s: the part of it that pool %s held is not there any more", lower_.c_str(),
                all_.fs.pool.path.c_str());
  std::unique_ptr<tier::PoolFile> part;
  if (*inode != 0) {
    part = std::make_unique<tier::PoolFile>(all_.fs, *inode, O_RDONLY);
    CAIRN_TRY(part->status());
  }
  tier::CheckedCopy copy(aside, lower_, [this](uint64_t bytes) {
    all_.report.bytes += bytes;
    return all_.advance(bytes);
  });
  const uint64_t base_end =
      copies_base_ && record_.base.exists ? std::min(record_.base.end, record_.base.size) : 0;
  const uint64_t end = std::min(record_.size, std::max(record_.map.end(), base_end));
  sys::Descriptor base;
  for (uint64_t at = 0; at < end; at += window) {
    if (at >= base_end) at = next_held(record_.map, at);
    if (at >= end) break;
    for (const ShareMap::Piece& piece : record_.map.find(at, std::min(at + window, end))) {
      if (piece.node != own_ && piece.node != ShareMap::nobody) continue;
      const bool is_base = piece.node == ShareMap::nobody;
      const uint64_t stop = is_base ? std::min(piece.end, base_end) : piece.end;
      if (piece.begin >= stop) continue;
      if (is_base && !base.ok()) {
        auto opened = this->base();
        if (!opened.ok()) return opened.status();
        base = std::move(*opened);
      }
      auto copied = is_base ? copy.from_lower(base.get(), piece.begin, stop)
                            : copy.from_pool(**part, piece.begin, stop);
      if (!copied.ok()) return copied.status();
      if (*copied < stop)
        return fail(is_base ? ESTALE : EIO, "%s: %s ends at offset %llu", lower_.c_str(),
                    is_base ? "cut there behind our back; it" : "the part of it in the pool",
                    static_cast<unsigned long long>(*copied));
    }
  }
  return Status();
}

Result<sys::Descriptor> FileCollector::base() const {
  auto file = open_base(all_.directory, path_, record_.base);
  if (file.ok() || (file.code() != ENOENT && file.code() != ENOTDIR && file.code() != ELOOP &&
                    file.code() != ESTALE))
    return file;
  return fail(
      ESTALE,
      "%s: changed there behind our back, and bytes of what it was are needed; both are kept",
      lower_.c_str());
}

bool FileCollector::find_missing() {
  missing_.clear();
  struct stat aside = {};
  const bool is_there = look(aside_, &aside) == 0;
  for (const uint32_t node : holders_) {
    struct stat mark = {};
    if (!is_there || look(mark_of(record_.nodes[node].pool), &mark) != 0 ||
        !is_same_file(mark, aside))
      missing_.push_back(node);
  }
  return !missing_.empty();
}

Status FileCollector::set_attributes(int aside) const {
  auto permissions = tier::give_owner(aside, record_.uid, record_.gid, record_.mode, lower_);
  if (!permissions.ok()) return permissions.status();
  if (record_.base.exists)
    if (auto old = base(); old.ok()) tier::copy_attributes(aside, old->get());
  CAIRN_TRY(tier::set_mode_and_times(aside, *permissions, record_.mtime, record_.mtime, lower_));
  if (const int64_t result = sys::fsync(aside); result < 0)
    return sys::failed(result, "fsync", aside_);
  return Status();
}

Status FileCollector::publish() {
  int64_t opened = sys::openat(AT_FDCWD, aside_.c_str(), O_RDONLY | O_NOFOLLOW);
  // One who was killed here has given it a mode already.
  if (opened == -EACCES && sys::chmodat(AT_FDCWD, aside_.c_str(), 0600) == 0)
    opened = sys::openat(AT_FDCWD, aside_.c_str(), O_RDONLY | O_NOFOLLOW);
  if (opened == -ENOENT) return changed_meanwhile(lower_);  // somebody was faster
  if (opened < 0) return sys::failed(opened, "open", aside_);
  const sys::Descriptor aside(static_cast<int>(opened));
  CAIRN_TRY(set_attributes(aside.get()));
  CAIRN_TRY(check_record());
  const std::string parent = parent_of(lower_);
  CAIRN_TRY(make_directories(all_.directory, parent));
  const int64_t above = sys::open_beneath(parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (above < 0) return sys::failed(above, "open", parent);
  const sys::Descriptor directory(static_cast<int>(above));
  const std::string name = lower_.substr(parent.size() + 1);
  struct stat st = {};
  const int64_t looked = sys::lstatat(directory.get(), name.c_str(), &st);
  if (looked < 0 && looked != -ENOENT) return sys::failed(looked, "stat", lower_);
  int64_t result = -EEXIST;
  if (looked == -ENOENT)
    result = tier::rename_to_free(AT_FDCWD, aside_, directory.get(), name.c_str());
  else if (is_base(record_.base, st))
    result = sys::renameat2(AT_FDCWD, aside_.c_str(), directory.get(), name.c_str(), 0);
  if (result == -ENOENT) return changed_meanwhile(lower_);
  if (result == -EEXIST)
    return fail(ESTALE, "%s: %s there behind our back; both are kept", lower_.c_str(),
                record_.base.exists ? "changed" : "made");
  if (result < 0) return sys::failed(result, "rename", lower_);
  ++all_.report.files;
  return settle();
}

// The file has its name: what it was made from goes, the record first.
Status FileCollector::settle() {
  CAIRN_TRY(sync_directory(parent_of(lower_)));
  const std::string record = record_path(all_.directory, path_);
  const Status checked = check_record();
  if (!checked.ok() && checked.code() != EAGAIN) return checked;
  if (checked.ok()) {
    const int64_t result = sys::unlinkat(AT_FDCWD, record.c_str(), 0);
    if (result < 0 && result != -ENOENT) return sys::failed(result, "remove", record);
    const Status synced = sync_directory(parent_of(record));
    // Somebody who was done as well has removed the empty directory.
    if (!synced.ok() && synced.code() != ENOENT) return synced;
  }
  sys::unlinkat(AT_FDCWD, mark_of(all_.pool).c_str(), 0);
  for (const RecordNode& node : record_.nodes)
    sys::unlinkat(AT_FDCWD, mark_of(node.pool).c_str(), 0);
  missing_.clear();
  return Status();
}

}  // namespace cairn::cluster
