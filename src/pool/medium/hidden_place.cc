#include "pool/medium/hidden_place.h"

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pool/medium/pool_directory.h"

namespace cairn::pool {
namespace {

constexpr const char* prefix = ".cairn-unfinished-";
constexpr const char* inner_name = "pool";
constexpr const char* mark = "cairn-made";
constexpr int most_tries = 100;

// Returns the text of the mark: the inode number of the directory, so that a link that was moved
// from another directory does not count.
std::string text_of_mark(const Directory& place) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(place.status().st_ino));
  return text;
}

bool is_private(const Directory& place) {
  const struct stat st = place.status();
  return st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

// Returns true for a link of this user. Others can know the text, but cannot make a link that
// belongs to this user.
bool has_own_mark(const Directory& place) {
  struct stat st {};
  return place.look(mark, &st) && S_ISLNK(st.st_mode) && st.st_uid == geteuid() &&
         place.link_target(mark) == text_of_mark(place);
}

bool is_made_by_cairn(const Directory& above, const Directory& place) {
  return is_private(place) && (has_own_mark(place) || above.is_closed());
}

enum class Locks : uint8_t { needed, if_there };

// Opens and locks a place. EBUSY if another process has the lock, ESTALE if the place has gone
// meanwhile. A file system without locks has no places that are known to be left over.
Result<Directory> open_locked(const Directory& above, const std::string& name, Locks locks) {
  CAIRN_TRY_ASSIGN(entered, above.enter(name));
  CAIRN_TRY_ASSIGN(place, entered.readable());
  if (flock(place.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EWOULDBLOCK)
      return fail(EBUSY, "%s: another process is creating or removing a pool in it",
                  place.path().c_str());
    if (locks == Locks::needed)
      return fail(error, "%s: lock it: %s", place.path().c_str(), strerror(error));
  }
  if (!above.holds(name, place))
    return fail(ESTALE, "%s: another process has removed it", place.path().c_str());
  return place;
}

// Removes only a pool's own files. Skips missing names, so that last_detail() keeps the earlier
// failure.
void take_apart(const Directory& above, const std::string& name, const Directory& place) {
  if (place.has(inner_name)) {
    if (auto pool = place.enter(inner_name); pool.ok() && pool->status().st_uid == geteuid())
      take_pool_apart(*pool);
    place.remove_directory(inner_name).ignore();
  }
  // The mark is removed last: the marked place is empty then, or stays.
  if (!place.has(inner_name) && place.has(mark)) place.remove(mark).ignore();
  if (above.holds(name, place)) above.remove_directory(name).ignore();
}

void remove_those_left_over(const Directory& above) {
  auto names = above.names();
  if (!names.ok()) return;
  for (const std::string& name : *names)
    if (is_hidden_place(name)) remove_hidden_place(above, name).ignore();
}

}  // namespace

bool is_hidden_place(const std::string& name) { return name.starts_with(prefix); }

Status remove_hidden_place(const Directory& above, const std::string& name) {
  CAIRN_TRY_ASSIGN(seen, above.enter(name));
  if (!is_made_by_cairn(above, seen))
    return fail(EPERM,
                "%s: not removed, because others can write to %s and may have put it there; if a "
                "pool was created or removed in it, remove it by hand",
                seen.path().c_str(), above.path().c_str());
  CAIRN_TRY_ASSIGN(place, open_locked(above, name, Locks::needed));
  // The lock may be another directory's.
  if (!is_made_by_cairn(above, place))
    return fail(ESTALE, "%s: another process has removed it", place.path().c_str());
  take_apart(above, name, place);
  if (above.has(name))
    return fail(ENOTEMPTY, "%s: other files lie in it and were left", place.path().c_str());
  return Status();
}

HiddenPlace::~HiddenPlace() {
  if (place_.descriptor() >= 0) take_apart(above_, name_, place_);
}

Status HiddenPlace::make(const Directory& above, const std::string& pool_name) {
  pool_name_ = pool_name;
  CAIRN_TRY_ASSIGN(same, above.again());
  above_ = std::move(same);
  remove_those_left_over(above_);
  for (int tries = 0; tries < most_tries; ++tries) {
    auto made_name = above_.make_new(prefix);
    if (!made_name.ok())
      return fail(made_name.code(), "%s: %s", above_.path_of(pool_name).c_str(),
                  strerror(made_name.code()));
    const std::string& name = *made_name;
    auto made = open_locked(above_, name, Locks::if_there);
    // Another process may take it for a remnant and remove it before this one has locked it, or
    // others can have put another directory in its place. In both cases, another one is made.
    if (made.code() == EBUSY || made.code() == ESTALE || made.code() == ENOENT) continue;
    if (!made.ok()) {
      above_.remove_directory(name).ignore();
      return made.status();
    }
    if (!made->is_empty()) continue;
    if (!is_private(*made)) {
      const struct stat st = made->status();
      if (st.st_uid == geteuid()) above_.remove_directory(name).ignore();
      return fail(EPERM,
                  "%s: a directory that was made there with mode 0700 has mode %04o and owner %u, "
                  "so others could change a pool in it; choose another file system",
                  above_.path().c_str(), st.st_mode & 07777U, st.st_uid);
    }
    if (Status marked = made->make_link(text_of_mark(*made), mark); !marked.ok()) {
      above_.remove_directory(name).ignore();
      return marked;
    }
    name_ = name;
    place_ = std::move(*made);
    return Status();
  }
  return fail(EAGAIN, "%s: other processes rename or remove what is made there; retry",
              above_.path().c_str());
}

Status HiddenPlace::make_pool() {
  CAIRN_TRY(place_.make(inner_name));
  CAIRN_TRY_ASSIGN(made, place_.enter(inner_name));
  pool_ = std::move(made);
  return Status();
}

Status HiddenPlace::take(const Directory& pool) {
  const auto is_another = [&] {
    return fail(ENOENT, "%s: the pool has been removed, and another directory has its name",
                above_.path_of(pool_name_).c_str());
  };
  if (!above_.holds(pool_name_, pool)) return is_another();
  // No other process may take the place apart until its contents are certain.
  CAIRN_TRY(place_.remove(mark));
  CAIRN_TRY(above_.rename(pool_name_, place_, inner_name));
  if (place_.holds(inner_name, pool)) {
    place_.make_link(text_of_mark(place_), mark).ignore();  // should this process be killed now
    return Status();
  }
  // Another process has just put another directory under the name. It goes back, or stays here.
  if (place_.rename(inner_name, above_, pool_name_).ok()) return is_another();
  const Directory closes = std::move(place_);
  return fail(ENOENT, "%s: another directory had its name, and is now %s; move it to its place",
              above_.path_of(pool_name_).c_str(), closes.path_of(inner_name).c_str());
}

Status HiddenPlace::give_name(bool is_volatile) {
  const Status status = place_.rename(inner_name, above_, pool_name_);
  if (status.code() == ENOTEMPTY || status.code() == ENOTDIR)
    return fail(EEXIST, "%s: %s", above_.path_of(pool_name_).c_str(), strerror(EEXIST));
  CAIRN_TRY(status);
  return is_volatile ? Status() : above_.sync();
}

}  // namespace cairn::pool
