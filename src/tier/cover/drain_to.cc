#include "tier/cover/drain_to.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "file/data/io.h"
#include "file/namespace/tree.h"
#include "tier/claim/claim.h"
#include "tier/claim/kept_directory.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover/nesting.h"
#include "tier/drain/undrained.h"
#include "tier/lower/beneath.h"
#include "tier/lower/lower_base.h"
#include "tier/record/attributes.h"
#include "tier/record/locate.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/replace/drain_state.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"
#include "tier/system/pool_file.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

// The mode of a directory that a drain has made, until the drain has written everything in it. A
// drain after a kill recognises the directory by it.
constexpr uint32_t unfinished_mode = S_ISVTX | S_IRWXU;

// A directory of the pool that the walk is in.
struct WrittenDirectory {
  file::Map map;
  std::string below;         // its path below the top, "" or with a slash at its end
  sys::FileStat there = {};  // the directory that it is written to
  bool made = false;         // the other directory did not have it
  bool touched = false;      // something was written in it
  std::vector<file::Listed> directories = {};  // still to be visited
};

// The first name that was written of a file with several names.
struct FirstName {
  std::string path;
  sys::FileStat there;
};

class ElsewhereWriter {
 public:
  // `total`: bytes that are to be written, as far as that is known.
  // `owner`: CoverRecord::owner.
  ElsewhereWriter(Cover& cover, uint64_t owner, uint64_t total, const DrainCalls& calls,
                  DrainToReport& report)
      : fs_(*cover.fs),
        cover_(cover),
        owner_(owner),
        calls_(calls),
        report_(report),
        total_(total) {
    // Each attempt of this pool uses this name. If one is killed, the next one replaces the file
    // that it left.
    const Claim own = own_claim(fs_, "");
    temp_name_ =
        drain_prefix + cover_name(own.host).substr(0, 8) + "-" + cover.name + cover_name(own.uuid);
  }

  Status write() {
    auto top = file::live_inode(fs_, cover_.top);
    if (!top.ok()) return top.status();
    const int64_t opened = lower_base(report_.path);
    if (opened < 0) return sys::failed(opened, "open", report_.path);
    beneath_ = Beneath(sys::Descriptor(static_cast<int>(opened)), report_.path);
    keeps_birth_ = sys::keeps_birth(beneath_.fd());
    std::vector<WrittenDirectory> way;
    file::Tree tree(fs_, cover_.top);
    way.push_back({{*top, cover_.top}, ""});
    if (const int64_t result = look(beneath_.fd(), &way.back().there); result < 0)
      return sys::failed(result, "stat", report_.path);
    write_names(way.back());
    while (!way.empty() && !cancelled_) {
      WrittenDirectory& level = way.back();
      if (level.directories.empty()) {
        finish(level);
        way.pop_back();
        continue;
      }
      const file::Listed listed = level.directories.back();
      level.directories.pop_back();
      auto inode = file::live_inode(fs_, listed.inode);
      if (!inode.ok()) continue;
      WrittenDirectory next = {{*inode, listed.inode}, level.below + name_of(listed) + "/"};
      if (const Status entered = tree.enter(level.map, listed); !entered.ok()) {
        failed(path_of(next), entered);
        continue;
      }
      if (!make(level, listed, &next)) continue;
      way.push_back(std::move(next));
      write_names(way.back());
    }
    if (cancelled_)
      return fail(ECANCELED, "draining %s to %s was stopped", cover_.path.c_str(),
                  report_.path.c_str());
    tell_parts();
    const DrainReport& drained = report_.drained;
    if (drained.failed == 0 && drained.conflicts == 0) return Status();
    return fail(out_of_space_ ? ENOSPC : EIO,
                "%s: %llu files could not be written, %llu are there already and differ",
                report_.path.c_str(), static_cast<unsigned long long>(drained.failed),
                static_cast<unsigned long long>(drained.conflicts));
  }

 private:
  // --- reports ---
  void tell(const std::string& text) const {
    if (calls_.problem) calls_.problem(text.c_str());
  }
  void failed(const std::string& path, const Status& status) {
    ++report_.drained.failed;
    out_of_space_ = out_of_space_ || status.code() == ENOSPC || status.code() == EDQUOT;
    const std::string detail = last_detail();
    tell(detail.find(path) == std::string::npos ? path + ": " + detail : detail);
  }
  void conflict(const std::string& path) {
    ++report_.drained.conflicts;
    tell(path + ": something else is there already; it stays, and so does the pool's");
  }
  void missing(const std::string& path, bool is_directory) {
    // If the covered directory is still there, so are the bytes that were only read.
    if (!report_.is_lost) return;
    ++report_.missing;
    tell(cover_.path + "/" + path +
         (is_directory
              ? ": cannot be written: the pool has never listed this directory"
              : ": cannot be written: it was only read, and the pool does not hold its bytes"));
  }
  void tell_parts() {
    const Status status =
        for_each_part(fs_, cover_.name, [&](const std::string& uuid, uint64_t bytes) {
          ++report_.missing_parts;
          tell(cover_.path + ": cannot be written: part " + uuid + " (" + std::to_string(bytes) +
               " bytes) of a file that several nodes wrote" +
               (report_.is_lost ? ": its record was in that directory" : ""));
          return Status();
        });
    if (!status.ok()) failed(cover_.path, status);
  }

  [[nodiscard]] std::string path_of(const WrittenDirectory& level) const {
    const std::string path = report_.path + "/" + level.below;
    return path.substr(0, path.size() - 1);
  }

  bool advance(uint64_t bytes) {
    done_ += bytes;
    if (calls_.progress && !calls_.progress(done_, std::max(done_, total_))) cancelled_ = true;
    return !cancelled_;
  }

  int64_t look(int fd, sys::FileStat* st) const {
    const int64_t result = sys::fstat(fd, st);
    if (!keeps_birth_) st->birth = 0;
    return result;
  }

  // The user, root, or the owner that the pool has for the file must have made it.
  [[nodiscard]] bool is_of_ours(const file::Map& map, const sys::FileStat& st) const {
    return is_trusted_owner(st.st_uid, owner_) || st.st_uid == attributes_now(fs_, map).uid;
  }
  // May the file's other names become links to it? They may if it gives the rights that the pool
  // says, and no more.
  [[nodiscard]] bool may_be_linked(const file::Map& map, const sys::FileStat& st) const {
    constexpr uint32_t permissions = 07777;
    return is_of_ours(map, st) &&
           (S_ISLNK(st.st_mode) ||
            (st.st_mode & permissions) == (attributes_now(fs_, map).mode & permissions));
  }

  // --- directories ---
  // ESTALE: another directory has its place by now. Other users may be able to exchange it, and
  // must not get the files.
  Result<sys::Descriptor> open(const WrittenDirectory& level) const {
    const std::string path = path_of(level);
    const int64_t opened = beneath_.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (opened < 0) return sys::failed(opened, "open", path);
    sys::Descriptor directory(static_cast<int>(opened));
    sys::FileStat found = {};
    if (const int64_t result = look(directory.get(), &found); result < 0)
      return sys::failed(result, "stat", path);
    if (!is_same_file(found, level.there))
      return fail(ESTALE, "%s: it was replaced by another directory meanwhile", path.c_str());
    return directory;
  }

  void write_names(WrittenDirectory& level) {
    const std::string path = path_of(level);
    const auto directory = open(level);
    if (!directory.ok()) return failed(path, directory.status());
    const Status status = for_each_name(fs_, level.map, false, [&](const file::Listed& listed) {
      if (cancelled_) return Status(ECANCELED);
      auto inode = file::live_inode(fs_, listed.inode);
      if (!inode.ok()) return Status();
      const file::Map map{*inode, listed.inode};
      const std::string name = name_of(listed);
      const bool is_directory = S_ISDIR((*inode)->mode.load());
      const bool is_lazy = ((*inode)->flags.load() & format::flag_lazy) != 0;
      if (level.below.empty() ? is_hidden_at_top(name) : is_hidden(name))
        failed(path + "/" + name, fail(EINVAL, "the name is reserved for Cairn"));
      else if (is_lazy)
        missing(level.below + name, is_directory);
      else if (is_directory)
        level.directories.push_back(listed);
      else
        write_name(level, directory->get(), listed, map);
      return Status();
    });
    if (!status.ok() && !cancelled_) failed(path, status);
  }

  // Makes sure that the other directory has this directory. False: it has not, and a report was
  // made.
  bool make(WrittenDirectory& above, const file::Listed& listed, WrittenDirectory* level) {
    const std::string path = path_of(*level);
    const auto directory = open(above);
    if (!directory.ok()) {
      failed(path, directory.status());
      return false;
    }
    // It gets its own mode when everything is in it.
    const int64_t made = sys::mkdirat(directory->get(), listed.name, unfinished_mode);
    if (made < 0 && made != -EEXIST) {
      failed(path, sys::failed(made, "mkdir", path));
      return false;
    }
    const int64_t opened =
        sys::openat(directory->get(), listed.name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (opened == -ENOTDIR || opened == -ELOOP) {
      conflict(path);
      return false;
    }
    const sys::Descriptor there(static_cast<int>(std::max<int64_t>(-1, opened)));
    sys::FileStat st = {};
    std::vector<sys::DirectoryEntry> entries;
    int64_t looked = opened < 0 ? opened : look(there.get(), &st);
    if (looked == 0 && made == 0) looked = list_of(there.get(), &entries);
    if (looked < 0) {
      failed(path, sys::failed(looked, "open", path));
      return false;
    }
    // If there are names in a new directory, somebody has exchanged it. The owner of a directory
    // can read all files that are written into it, so it must be a trusted user.
    if (!entries.empty() || !is_of_ours(level->map, st)) {
      conflict(path);
      return false;
    }
    if (made == 0 && !is_trusted_owner(above.there.st_uid, owner_)) drop_access_lists(there.get());
    level->there = st;
    level->made = made == 0 || (st.st_mode & 01777) == unfinished_mode;
    above.touched = above.touched || made == 0;
    if (made == 0) ++report_.drained.directories;
    return true;
  }

  // Gives a new directory its owner, mode and times, and makes names durable.
  void finish(const WrittenDirectory& level) {
    if (!level.made && !level.touched) return;
    const std::string path = path_of(level);
    const auto directory = open(level);
    if (!directory.ok()) return failed(path, directory.status());
    if (level.made) {
      const Status status = set_attributes(fs_, level.map, attributes_now(fs_, level.map),
                                           directory->get(), {}, path);
      if (!status.ok()) failed(path, status);
    }
    if (const int64_t result = sys::fsync_directory(directory->get()); result < 0)
      failed(path, sys::failed(result, "fsync", path));
  }

  // --- files, links and special files ---
  void write_name(WrittenDirectory& level, int directory, const file::Listed& listed,
                  const file::Map& map) {
    const std::string path = path_of(level) + "/" + name_of(listed);
    const auto first = linked_.find(map.number);
    if (first != linked_.end() && link_to(first->second, directory, listed.name)) {
      level.touched = true;
      ++report_.drained.files;
      return;
    }
    sys::FileStat st = {};
    const int64_t looked = sys::lstatat(directory, listed.name, &st);
    if (looked < 0 && looked != -ENOENT) return failed(path, sys::failed(looked, "stat", path));
    if (looked == 0) {
      auto same = is_same_there(directory, listed, map, &st);
      if (!same.ok()) return failed(path, same.status());
      // Another user's file with these bytes can get other ones when the pool has let go of them.
      if (!*same || !is_of_ours(map, st)) return conflict(path);
    } else {
      const Status status = write_new(level, directory, listed, map, path, &st);
      if (cancelled_) return;
      if (status.code() == EEXIST) return conflict(path);
      if (!status.ok()) return failed(path, status);
      level.touched = true;
      ++report_.drained.files;
    }
    const bool is_written = looked < 0 && S_ISREG(st.st_mode);  // `st` is of the file itself
    if (map.inode->links.load() > 1 && (is_written || may_be_linked(map, st)))
      linked_.emplace(map.number, FirstName{path, st});
  }

  [[nodiscard]] bool link_to(const FirstName& first, int directory, const char* name) const {
    const int64_t opened = beneath_.open(first.path, O_PATH | O_NOFOLLOW);
    if (opened < 0) return false;
    const sys::Descriptor file(static_cast<int>(opened));
    sys::FileStat found = {};
    return look(file.get(), &found) == 0 && is_same_file(found, first.there) &&
           link_open_file(file.get(), directory, name) == 0;
  }

  // `*st`: of the file that was written.
  Status write_new(const WrittenDirectory& level, int directory, const file::Listed& listed,
                   const file::Map& map, const std::string& path, sys::FileStat* st) {
    // Another user's directory could give new files a list that lets others in.
    const NewFileList list{is_trusted_owner(level.there.st_uid, owner_), ""};
    // A drain that was killed may have left a file of this name. If it cannot be removed, another
    // user has the name.
    const int64_t removed = sys::unlinkat(directory, temp_name_.c_str(), 0);
    if (removed < 0 && removed != -ENOENT)
      temp_name_ = temp_name_.substr(0, temp_name_.rfind('-') + 1) + sys::random_name();
    const file::Attributes wanted = attributes_now(fs_, map);
    Status status = S_ISREG(wanted.mode)
                        ? write_regular({directory, temp_name_, path, list}, map, wanted, st)
                        : make_special(fs_, map, wanted, {directory, temp_name_, path, list});
    if (status.ok() && !S_ISREG(wanted.mode)) {
      const int64_t result = sys::lstatat(directory, temp_name_.c_str(), st);
      if (result < 0) status = sys::failed(result, "stat", path);
    }
    if (status.ok()) {
      const int64_t result = rename_to_free(directory, temp_name_, directory, listed.name);
      if (result < 0) status = sys::failed(result, "rename", path);
    }
    if (!status.ok()) sys::unlinkat(directory, temp_name_.c_str(), 0);
    return status;
  }

  Status write_regular(const FileToMake& made, const file::Map& map, const file::Attributes& wanted,
                       sys::FileStat* st) {
    const std::string& path = made.path;
    const int64_t opened = sys::openat(made.directory, made.name.c_str(),
                                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (opened < 0) return sys::failed(opened, "cannot be written beside it", path);
    const sys::Descriptor file(static_cast<int>(opened));
    give_list(file.get(), made.list, false);
    CAIRN_TRY(
        copy_contents(fs_, map, file.get(), path, [&](uint64_t bytes) { return advance(bytes); }));
    CAIRN_TRY(set_attributes(fs_, map, wanted, file.get(), {}, path));
    if (const int64_t result = sys::fsync(file.get()); result < 0)
      return sys::failed(result, "fsync", path);
    if (const int64_t result = sys::fstat(file.get(), st); result < 0)
      return sys::failed(result, "stat", path);
    report_.drained.bytes += wanted.size;
    return Status();
  }

  // `*st`: what the name leads to; on return true, the file that was compared.
  Result<bool> is_same_there(int directory, const file::Listed& listed, const file::Map& map,
                             sys::FileStat* st) {
    const auto mode = static_cast<uint32_t>(map.inode->mode.load());
    if ((st->st_mode & S_IFMT) != (mode & S_IFMT)) return false;
    if (!S_ISREG(mode)) {
      if ((S_ISCHR(mode) || S_ISBLK(mode)) && attributes_now(fs_, map).rdev != st->st_rdev)
        return false;
      return is_same_special(fs_, directory, listed.name, map, *st);
    }
    const uint64_t size = map.inode->size.load();
    if (static_cast<uint64_t>(st->st_size) != size) return false;
    const int64_t opened = sys::openat(directory, listed.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (opened < 0) return sys::failed(opened, "open", report_.path + "/.../" + name_of(listed));
    const sys::Descriptor there(static_cast<int>(opened));
    if (const int64_t result = sys::fstat(there.get(), st); result < 0)
      return sys::failed(result, "stat", report_.path + "/.../" + name_of(listed));
    if (!S_ISREG(st->st_mode)) return false;
    PoolFile here(fs_, map.number, O_RDONLY);
    CAIRN_TRY(here.status());
    constexpr size_t piece = 1 << 20;
    std::vector<char> a(std::min<uint64_t>(piece, size));
    std::vector<char> b(a.size());
    for (uint64_t at = 0; at < size;) {
      CAIRN_TRY_ASSIGN(n, file::read_at(*here, a.data(), a.size(), at));
      if (n == 0) return false;
      for (size_t done = 0; done < n;) {
        const int64_t read = sys::pread(there.get(), b.data() + done, n - done, at + done);
        if (read < 0) return sys::failed(read, "read", name_of(listed));
        if (read == 0) return false;
        done += static_cast<size_t>(read);
      }
      if (std::memcmp(a.data(), b.data(), n) != 0) return false;
      at += n;
    }
    return true;
  }

  file::FileSystem& fs_;
  Cover& cover_;
  uint64_t owner_;
  const DrainCalls& calls_;
  DrainToReport& report_;
  uint64_t total_;
  uint64_t done_ = 0;
  std::string temp_name_;
  Beneath beneath_;                       // the other directory
  bool keeps_birth_ = true;               // of the file system
  std::map<uint64_t, FirstName> linked_;  // files with several names
  bool cancelled_ = false;
  bool out_of_space_ = false;
};

}  // namespace

Status find_elsewhere(Cover& cover, const std::string& elsewhere, DrainToReport* report) {
  file::FileSystem& fs = *cover.fs;
  if (const int64_t result = sys::real_path(elsewhere.c_str(), O_DIRECTORY, &report->path);
      result < 0)
    return sys::failed(result, "cannot be drained to", elsewhere);
  const int64_t opened = lower_base(report->path, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "cannot be drained to", elsewhere);
  sys::close(static_cast<int>(opened));
  auto record = read_record(fs, cover.covers, cover.name);
  if (!record.ok()) return record.status();
  CAIRN_TRY_ASSIGN(here, look_at_covered(fs, *record, cover.path));
  report->is_lost = here == Covered::other || here == Covered::gone;
  CAIRN_TRY_ASSIGN(there, look_at_covered(fs, *record, report->path));
  report->is_covered = there == Covered::same || there == Covered::unclaimed ||
                       (there == Covered::unknown && report->path == cover.path);
  if (!report->is_covered) return refuse_elsewhere(cover, report->path);
  if (report->path == cover.path) return Status();
  auto own = read_record(fs, cover.covers, cover_name(report->path));
  if (own.ok())
    return fail(ELOOP, "%s: cannot be drained to, because it is covered itself",
                report->path.c_str());
  if (own.code() != ENOENT) return own.status();
  cover.path = report->path;
  return move_cover(fs, cover.top, cover.path);
}

Status drain_to(Cover& cover, const DrainCalls& calls, DrainToReport* report) {
  file::FileSystem& fs = *cover.fs;
  CAIRN_TRY_ASSIGN(lock, lock_drain(fs, cover.name));
  CAIRN_TRY_ASSIGN(others, has_other_members(cover));
  CAIRN_TRY_ASSIGN(run, is_run_under_way(fs, cover.name));
  if (others || run)
    return fail(EBUSY, "%s: processes still use it; drain it when they have ended",
                cover.path.c_str());
  CAIRN_TRY_ASSIGN(undrained, undrained_data(fs, cover.top));
  CAIRN_TRY_ASSIGN(record, read_record(fs, cover.covers, cover.name));
  return ElsewhereWriter(cover, record.owner, undrained.bytes, calls, *report).write();
}

}  // namespace cairn::tier
