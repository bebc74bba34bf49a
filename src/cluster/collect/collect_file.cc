#include "cluster/collect/collect_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/saved_failure.h"
#include "cluster/record/base_file.h"
#include "cluster/record/directories.h"
#include "cluster/record/trusted_path.h"
#include "file/inode/open_table.h"
#include "file/inode/pins.h"
#include "tier/changes/changes.h"
#include "tier/record/attributes.h"
#include "tier/record/parts.h"
#include "tier/system/pool_file.h"
#include "tier/system/temp_file.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

// So much of the share map is looked at in one go.
constexpr uint64_t window = 64 << 20;
constexpr int most_tries = 10;

int64_t look(const sys::Descriptor& directory, const std::string& name, sys::FileStat* st) {
  return sys::lstatat(directory.get(), name.c_str(), st);
}

// Whether the name is there. `path`: for messages.
Result<bool> find(const sys::Descriptor& directory, const std::string& name,
                  const std::string& path, sys::FileStat* st) {
  const int64_t result = look(directory, name, st);
  if (result < 0 && result != -ENOENT) return sys::failed(result, "stat", path);
  return result == 0;
}

bool is_link_to(const sys::Descriptor& directory, const std::string& name, int file) {
  sys::FileStat link = {};
  sys::FileStat st = {};
  return look(directory, name, &link) == 0 && sys::fstat(file, &st) == 0 &&
         tier::is_same_file(link, st);
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

bool is_shared_ahead(file::FileSystem& fs, const file::Map& part) {
  const uint64_t time = part.inode->drained.load();
  return time != 0 && part.inode->links.load() == 1 && time == tier::change_time(fs, part);
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
      lower_(all.directory + "/" + told(path)),
      name_(name_in(path)),
      aside_(name_in(aside_name(path, record_))),
      aside_path_(all.records.path_of(aside_name(path, record_))) {
  for (uint32_t i = 0; i < record_.nodes.size(); ++i)
    if (record_.nodes[i].pool == all_.pool) own_ = i;
  holds_ = std::find(holders_.begin(), holders_.end(), own_) != holders_.end();
  // Of a file of which no node holds anything, the first node that comes does it all.
  copies_base_ = holders_.empty() || holders_.front() == own_;
}

std::string FileCollector::mark_of(const Uuid& pool) const {
  return name_in(mark_name(path_, record_, pool));
}

std::string FileCollector::ahead_of(const Uuid& pool) const {
  return name_in(ahead_name(path_, record_, pool));
}

Status FileCollector::check_record() const {
  auto now = read_record(all_.records, path_);
  if (now.code() == ENOENT || (now.ok() && !is_same_epoch(*now, record_)))
    return changed_meanwhile(lower_);
  return now.status();
}

Status FileCollector::open_places() {
  const std::string above = above_of(path_);
  auto place = all_.records.open_directory(above);
  if (place.code() == ENOENT) return changed_meanwhile(lower_);
  CAIRN_TRY(place.status());
  place_ = std::move(*place);
  auto found = open_directory(all_.covered.get(), above, all_.directory);
  above_ = found.ok() ? std::move(*found) : sys::Descriptor();
  // What stands in the way of a directory is told when that is to be made.
  const bool is_none = found.code() == ENOENT || found.code() == ENOTDIR || found.code() == ELOOP;
  return is_none ? Status() : found.status();
}

Status FileCollector::collect() {
  CAIRN_TRY(open_places());
  auto published = is_published();
  if (!published.ok()) return published.status();
  if (*published) return settle();
  Status status = holds_ || holders_.empty() ? give_share() : Status();
  if (status.ok() && !find_missing()) status = publish();
  if (status.code() != ESTALE) return status;
  // A faster node may have published the file meanwhile: it removes the record before the marks.
  const SavedFailure saved(status);
  CAIRN_TRY(open_places());
  published = is_published();
  if (!published.ok()) return published.status();
  if (*published) return settle();
  CAIRN_TRY(check_record());
  return saved.restored();
}

// Somebody has renamed it and went no further.
Result<bool> FileCollector::is_published() const {
  sys::FileStat there = {};
  if (!above_.ok()) return false;
  auto found = find(above_, name_, lower_, &there);
  if (!found.ok() || !*found || !S_ISREG(there.st_mode))
    return found.ok() ? Result<bool>(false) : found;
  auto marks = all_marks();
  if (!marks.ok()) return marks.status();
  for (const std::string& name : *marks) {
    sys::FileStat mark = {};
    found = find(place_, name, lower_, &mark);
    if (!found.ok()) return found;
    if (*found && tier::is_same_file(mark, there)) return true;
  }
  return false;
}

// Of a file that nobody holds anything of, any node may have put its mark in.
Result<std::vector<std::string>> FileCollector::all_marks() const {
  std::vector<std::string> marks = {mark_of(all_.pool)};
  for (const RecordNode& node : record_.nodes) marks.push_back(mark_of(node.pool));
  if (!holders_.empty()) return marks;
  const std::string start = marks.front().substr(0, marks.front().rfind('-') + 1);
  const std::string parent = all_.records.path_of(above_of(path_));
  auto directory = open_directory(place_.get(), "", parent);
  if (directory.code() == ENOENT) return marks;
  if (!directory.ok()) return directory.status();
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t result = sys::list(directory->get(), &entries); result < 0 && result != -ENOENT)
    return sys::failed(result, "list", parent);
  for (const sys::DirectoryEntry& entry : entries)
    if (entry.name.starts_with(start)) marks.push_back(entry.name);
  return marks;
}

// All nodes write the same one. One that was killed at the end may have given it to its owner.
Result<sys::Descriptor> FileCollector::check_aside(int64_t opened) const {
  if (opened < 0) return sys::failed(opened, "open", aside_path_);
  sys::Descriptor aside(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(aside.get(), &st); result < 0)
    return sys::failed(result, "stat", aside_path_);
  const bool is_ours =
      tier::is_trusted_owner(st.st_uid, all_.records.of().owner) || st.st_uid == record_.uid;
  if (S_ISREG(st.st_mode) && is_ours) return aside;
  return fail(EPERM, "%s: is not a file of Cairn's (user %u, mode %06o); move it away",
              aside_path_.c_str(), st.st_uid, st.st_mode);
}

Result<sys::Descriptor> FileCollector::make_aside() const {
  for (int i = 0; i < most_tries; ++i) {
    const int64_t made =
        sys::openat(place_.get(), aside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (made >= 0) return sys::Descriptor(static_cast<int>(made));
    if (made != -EEXIST) return sys::failed(made, "cannot be created", aside_path_);
    const int64_t opened =
        sys::openat(place_.get(), aside_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (opened != -ENOENT) return check_aside(opened);
  }
  return fail(EBUSY, "%s: another process keeps removing it", aside_path_.c_str());
}

Result<sys::Descriptor> FileCollector::open_aside() const {
  const auto open = [&](int flags) {
    return sys::openat(place_.get(), aside_.c_str(), flags | O_NOFOLLOW | O_NONBLOCK);
  };
  int64_t opened = open(O_RDONLY);
  if (opened == -EACCES) {
    // One that was killed here has given it a mode already.
    CAIRN_TRY_ASSIGN(closed, check_aside(open(O_PATH)));
    const std::string itself = "/proc/self/fd/" + std::to_string(closed.get());
    if (sys::chmodat(AT_FDCWD, itself.c_str(), 0600) == 0) opened = open(O_RDONLY);
  }
  return check_aside(opened);
}

Status FileCollector::give_share() {
  const std::string mark = mark_of(all_.pool);
  for (int i = 0; i < most_tries; ++i) {
    sys::FileStat marked = {};
    sys::FileStat aside = {};
    const bool has_mark = look(place_, mark, &marked) == 0;
    if (has_mark && look(place_, aside_, &aside) == 0 && tier::is_same_file(marked, aside))
      return Status();
    // About an aside file that is gone.
    if (has_mark) sys::unlinkat(place_.get(), mark.c_str(), 0);
    const bool is_written = has_written_ahead();
    auto fd = make_aside();
    if (fd.code() == ENOENT) return changed_meanwhile(lower_);
    CAIRN_TRY(fd.status());
    // Another one than a moment ago: it is looked at once more.
    if (is_written && !is_link_to(place_, ahead_of(all_.pool), fd->get())) continue;
    if (!is_written) CAIRN_TRY(write_share(fd->get()));
    // By its name, which is all that a file system without O_TMPFILE knows; so it is looked at
    // afterwards.
    const int64_t linked = sys::linkat(place_.get(), aside_.c_str(), place_.get(), mark.c_str());
    if (linked < 0 && linked != -ENOENT) return sys::failed(linked, "mark", aside_path_);
    sys::FileStat written = {};
    if (linked < 0 || sys::fstat(fd->get(), &written) != 0 || look(place_, mark, &marked) != 0 ||
        !tier::is_same_file(marked, written)) {
      CAIRN_TRY(check_record());
      continue;
    }
    sys::unlinkat(place_.get(), ahead_of(all_.pool).c_str(), 0);
    return sync_place();
  }
  return fail(EBUSY, "%s: another process keeps removing it", aside_path_.c_str());
}

bool FileCollector::has_written_ahead() const {
  sys::FileStat ahead = {};
  sys::FileStat aside = {};
  if (look(place_, ahead_of(all_.pool), &ahead) != 0 || look(place_, aside_, &aside) != 0 ||
      !tier::is_same_file(ahead, aside))
    return false;
  auto number = tier::find_part(all_.fs, all_.cover_name, hex_of(record_.uuid), false);
  if (!number.ok() || *number == 0) return false;
  auto inode = file::live_inode(all_.fs, *number);
  return inode.ok() && is_shared_ahead(all_.fs, {*inode, *number});
}

// The link first: a note without it is about nothing.
Status FileCollector::note_ahead(int aside) {
  const std::string ahead = ahead_of(all_.pool);
  sys::unlinkat(place_.get(), ahead.c_str(), 0);
  const int64_t linked = sys::linkat(place_.get(), aside_.c_str(), place_.get(), ahead.c_str());
  if (linked < 0 && linked != -ENOENT) return sys::failed(linked, "mark", aside_path_);
  if (linked < 0 || !is_link_to(place_, ahead, aside)) return changed_meanwhile(lower_);
  return sync_place();
}

Status FileCollector::share_ahead(const file::Map& part) {
  CAIRN_TRY(open_places());
  auto published = is_published();
  if (!published.ok() || *published) return published.status();
  sys::FileStat mark = {};
  if (look(place_, mark_of(all_.pool), &mark) == 0) return Status();  // by an earlier run's end
  const auto busy = [this] { return fail(EBUSY, "%s: processes write to it", lower_.c_str()); };
  // Stores through a mapping move no time on, and a hole that is punched may move it on too early.
  CAIRN_TRY_ASSIGN(shape, tier::shape_at_rest(all_.fs, part));
  const uint64_t time = tier::change_time(all_.fs, part);
  if (file::is_pinned(all_.fs, part.number) || !tier::wait_for_tick(time)) return busy();
  auto aside = make_aside();
  if (aside.code() == ENOENT) return changed_meanwhile(lower_);
  CAIRN_TRY(aside.status());
  CAIRN_TRY(write_share(aside->get()));
  CAIRN_TRY(note_ahead(aside->get()));
  CAIRN_TRY(check_record());
  if (file::is_open(all_.fs, part.number) || file::is_pinned(all_.fs, part.number) ||
      tier::change_time(all_.fs, part) != time || part.inode->shape.load() != shape)
    return busy();
  tier::set_drained(all_.fs, part, time);
  return Status();
}

Status FileCollector::sync_place() const {
  return sync_directory(place_, all_.records.path_of(above_of(path_)));
}

Status FileCollector::write_share(int aside) {
  // All nodes that do this do the same, whichever is first.
  if (const int64_t result = sys::ftruncate(aside, record_.size); result < 0)
    return sys::failed(result, "truncate", aside_path_);
  const uint64_t done = all_.done;
  const uint64_t bytes = all_.report.bytes;
  const Status status = copy_pieces(aside);
  if (!status.ok()) {
    all_.done = done;
    all_.report.bytes = bytes;
    return status;
  }
  if (const int64_t result = sys::fsync(aside); result < 0)
    return sys::failed(result, "fsync", aside_path_);
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
                    is_base ? "truncated there outside Cairn; it" : "the part of it in the pool",
                    static_cast<unsigned long long>(*copied));
    }
  }
  return Status();
}

Result<sys::Descriptor> FileCollector::base() const {
  auto file = open_base(all_.covered, all_.directory, path_, record_.base);
  if (file.ok() || (file.code() != ENOENT && file.code() != ENOTDIR && file.code() != ELOOP &&
                    file.code() != ESTALE))
    return file;
  return fail(
      ESTALE,
      "%s: changed there outside Cairn, and bytes of its old contents are needed; both are kept",
      lower_.c_str());
}

bool FileCollector::find_missing() {
  missing_.clear();
  sys::FileStat aside = {};
  const bool is_there = look(place_, aside_, &aside) == 0;
  for (const uint32_t node : holders_) {
    sys::FileStat mark = {};
    if (!is_there || look(place_, mark_of(record_.nodes[node].pool), &mark) != 0 ||
        !tier::is_same_file(mark, aside))
      missing_.push_back(node);
  }
  return !missing_.empty();
}

// Others' files stay the user's, unless that is root. Then no bit may make them run as the user,
// and the group's rights are for the group that the record says.
Result<uint32_t> FileCollector::give_owner(int aside) const {
  const bool is_own = record_.uid == ::geteuid() || record_.uid == all_.records.of().owner;
  if (is_own || ::geteuid() == 0)
    return tier::give_owner(aside, record_.uid, record_.gid, record_.mode, lower_);
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(aside, &st); result < 0)
    return sys::failed(result, "stat", lower_);
  const uint32_t permissions = record_.mode & ~static_cast<uint32_t>(S_ISUID | S_ISGID);
  constexpr auto same = static_cast<uint32_t>(-1);
  if (st.st_gid == record_.gid || sys::fchownat(aside, "", same, record_.gid) == 0)
    return permissions;
  // Another group may do what everybody may.
  const uint32_t others = (permissions & S_IRWXO) << 3;
  return permissions & (others | ~static_cast<uint32_t>(S_IRWXG));
}

// What the old file had besides, an access list for one: it was said by its owner.
void FileCollector::carry_attributes(int aside) const {
  sys::FileStat st = {};
  if (!record_.base.exists) return;
  auto old = base();
  if (old.ok() && sys::fstat(old->get(), &st) == 0 && st.st_uid == record_.uid)
    tier::copy_attributes(aside, old->get());
}

Status FileCollector::set_attributes(int aside) const {
  auto permissions = give_owner(aside);
  if (!permissions.ok()) return permissions.status();
  carry_attributes(aside);
  CAIRN_TRY(tier::set_mode_and_times(aside, *permissions, record_.mtime, record_.mtime, lower_));
  if (const int64_t result = sys::fsync(aside); result < 0)
    return sys::failed(result, "fsync", aside_path_);
  return Status();
}

Status FileCollector::publish() {
  auto aside = open_aside();
  if (aside.code() == ENOENT) return changed_meanwhile(lower_);  // somebody was faster
  CAIRN_TRY(aside.status());
  CAIRN_TRY(set_attributes(aside->get()));
  CAIRN_TRY(check_record());
  auto above = open_trusted(
      {all_.fs, all_.cover_name, all_.directory, all_.covered, all_.records.of().owner},
      above_of(path_), true);
  if (!above.ok()) return above.status();
  above_ = std::move(*above);
  sys::FileStat st = {};
  const int64_t looked = look(above_, name_, &st);
  if (looked < 0 && looked != -ENOENT) return sys::failed(looked, "stat", lower_);
  int64_t result = -EEXIST;
  if (looked == -ENOENT)
    result = tier::rename_to_free(place_.get(), aside_, above_.get(), name_.c_str());
  else if (is_base(record_.base, st))
    result = sys::renameat2(place_.get(), aside_.c_str(), above_.get(), name_.c_str(), 0);
  if (result == -ENOENT) return changed_meanwhile(lower_);
  if (result == -EEXIST)
    return fail(ESTALE, "%s: %s there outside Cairn; both are kept", lower_.c_str(),
                record_.base.exists ? "changed" : "created");
  if (result < 0) return sys::failed(result, "rename", lower_);
  ++all_.report.files;
  return settle();
}

// The file has its name: removes what it was made from, the record first.
Status FileCollector::settle() {
  CAIRN_TRY(sync_directory(above_, lower_));
  const Status checked = check_record();
  if (!checked.ok() && checked.code() != EAGAIN) return checked;
  if (checked.ok()) {
    const std::string record = name_in(record_name(path_));
    const int64_t result = sys::unlinkat(place_.get(), record.c_str(), 0);
    if (result < 0 && result != -ENOENT)
      return sys::failed(result, "remove", record_path(all_.directory, path_));
    CAIRN_TRY(sync_place());
  }
  sys::unlinkat(place_.get(), mark_of(all_.pool).c_str(), 0);
  for (const RecordNode& node : record_.nodes) {
    sys::unlinkat(place_.get(), mark_of(node.pool).c_str(), 0);
    sys::unlinkat(place_.get(), ahead_of(node.pool).c_str(), 0);
  }
  missing_.clear();
  return Status();
}

}  // namespace cairn::cluster
