#include "cluster/record/trusted_path.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "cluster/record/directories.h"
#include "file/namespace/directory.h"
#include "pool/lanes/seats.h"
#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"
#include "tier/record/locate.h"
#include "tier/record/record.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

// Where the way is in the pool, as far as that knows it.
class InPool {
 public:
  explicit InPool(file::FileSystem& fs) : fs_(fs) {}

  Status begin(const std::string& cover_name) {
    CAIRN_TRY_ASSIGN(covers, tier::find_covers(fs_, false));
    if (covers == 0) return Status();
    CAIRN_TRY_ASSIGN(top, tier::find_child(fs_, covers, cover_name));
    if (top == 0) return Status();
    CAIRN_TRY_ASSIGN(cover, tier::cover_of_top(fs_, top));
    if (cover == nullptr) return Status();
    cover_ = cover;
    return enter(top);
  }

  // Goes on to this name. The pool knows it from now on, or nothing any more.
  Status go(const std::string& text) {
    lower_.reset();
    above_ = at_;
    name_ = text;
    if (!is_known()) return Status();
    CAIRN_TRY_ASSIGN(name, file::make_name(text.data(), text.size()));
    uint64_t number = 0;
    {
      pool::SeatGuard seat(fs_.pool);
      if (!seat.ok()) return pool::no_seat(fs_.pool);
      auto slot = file::find_name(fs_, at_, name);
      if (!slot.ok() && slot.code() != ENOENT) return slot.status();
      if (slot.ok()) number = slot->inode;
    }
    if (number == 0) {
      at_ = {};
      return Status();
    }
    auto entry = tier::entry_of(fs_, at_, 0, number);
    if (!entry.ok() && entry.code() != ENOENT) return entry.status();
    if (entry.ok() && entry->has_lower) lower_ = entry->lower;
    return enter(number);
  }

  [[nodiscard]] bool is_known() const { return at_.inode != nullptr; }
  // What it remembers of the directory of that name is this one.
  [[nodiscard]] bool means(const sys::FileStat& st) const {
    return lower_ && S_ISDIR(at_.inode->mode.load()) && tier::is_remembered(*cover_, *lower_, st);
  }
  // Lower has had the directory.
  [[nodiscard]] bool has_lower() const { return lower_.has_value(); }
  // Which permissions it is to be made with.
  [[nodiscard]] uint32_t mode() const {
    return is_known() ? (at_.inode->mode.load() & 0777) | S_IRWXU : 0777;
  }
  // It was removed in lower, and this one has been made there.
  Status note(const sys::FileStat& st) {
    if (!is_known()) return Status();
    const file::Witness witness = tier::directory_witness(*cover_, st, 0);
    return tier::set_witness(fs_, above_, name_, &witness);
  }

 private:
  Status enter(uint64_t number) {
    CAIRN_TRY_ASSIGN(inode, file::live_inode(fs_, number));
    at_ = {inode, number};
    return Status();
  }

  file::FileSystem& fs_;
  const tier::KnownCover* cover_ = nullptr;
  file::Map at_ = {};
  file::Map above_ = {};
  std::string name_;  // in `above_`
  std::optional<file::Witness> lower_;
};

Status another(const std::string& path, const sys::FileStat& st) {
  return fail(ESTALE,
              "%s: a directory of user %u has this name and is not the one in the pool; nothing is "
              "written into it, and the pool keeps its own: move it away and drain again",
              path.c_str(), st.st_uid);
}

Status make_one(int above, const std::string& name, uint32_t mode, const std::string& path) {
  const int64_t made = sys::mkdirat(above, name.c_str(), mode);
  if (made < 0) return sys::failed(made, "mkdir", path);
  const int64_t opened = sys::openat(above, ".", O_RDONLY | O_DIRECTORY);
  if (opened < 0) return sys::failed(opened, "open", path);
  return sync_directory(sys::Descriptor(static_cast<int>(opened)), path);
}

}  // namespace

Result<sys::Descriptor> open_trusted(const TrustedStart& from, const std::string& below,
                                     bool make) {
  InPool pool(from.fs);
  CAIRN_TRY(pool.begin(from.cover_name));
  sys::Descriptor above;
  for (size_t at = 0; at < below.size();) {
    const size_t end = std::min(below.find('/', at), below.size());
    const std::string path = from.directory + "/" + below.substr(0, end);
    const std::string name = below.substr(at, end - at);
    at = end + 1;
    CAIRN_TRY(pool.go(name));
    const int directory = above.ok() ? above.get() : from.covered.get();
    const auto open = [&] {
      return sys::openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    };
    int64_t opened = open();
    bool made = false;
    if (opened == -ENOENT && make) {
      // A drain makes it, with its own mode.
      if (pool.is_known() && !pool.has_lower())
        return fail(ESTALE,
                    "%s: the pool has this directory, which could not be drained; drain again",
                    path.c_str());
      const Status status = make_one(directory, name, pool.mode(), path);
      if (!status.ok() && status.code() != EEXIST) return status;
      made = status.ok();
      opened = open();
    }
    if (opened < 0) return sys::failed(opened, "open", path);
    above = sys::Descriptor(static_cast<int>(opened));
    sys::FileStat st = {};
    if (const int64_t result = sys::fstat(above.get(), &st); result < 0)
      return sys::failed(result, "stat", path);
    const bool is_believed = tier::is_trusted_owner(st.st_uid, from.owner);
    const bool may_be_written = pool.is_known() && !made ? pool.means(st) : is_believed;
    const bool may_be_looked_at = !pool.has_lower() || pool.means(st);
    if (make ? !may_be_written : !may_be_looked_at) return another(path, st);
    if (made) CAIRN_TRY(pool.note(st));
  }
  const int64_t opened = sys::openat(above.ok() ? above.get() : from.covered.get(), ".",
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return sys::failed(opened, "open", from.directory + "/" + below);
  return sys::Descriptor(static_cast<int>(opened));
}

}  // namespace cairn::cluster
