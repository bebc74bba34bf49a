#include "runs/stale_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "machine/file_name.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

// The text of the claim, with a line's end before each line; "" if it cannot be read. Other users
// may write to the directory. If they put a FIFO there, opening it must not block this process.
std::string text_of(const DataFile& directory, const std::string& name, uid_t* owner = nullptr) {
  const int file =
      openat(directory.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return "";
  struct stat st {};
  constexpr size_t most_bytes = size_t{64} << 10;  // the library's bound, too
  std::string text(most_bytes + 1, '\0');
  const ssize_t size =
      fstat(file, &st) == 0 && S_ISREG(st.st_mode) ? pread(file, text.data(), text.size(), 0) : -1;
  close(file);
  if (size <= 0 || static_cast<size_t>(size) > most_bytes) return "";
  if (owner != nullptr) *owner = st.st_uid;
  text.resize(static_cast<size_t>(size));
  return '\n' + text;
}

// The covered directory; no descriptor if it is not there. It need not be readable.
DataFile look_at_directory(const std::string& path) {
  return {open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path};
}

std::string own_host() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

// The value of a line of the claim.
std::string value_of(const std::string& text, const std::string& key) {
  const size_t at = text.find('\n' + key + ' ');
  if (at == std::string::npos) return "";
  const size_t from = at + key.size() + 2;
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace

namespace {

// Is the pool there? A pool that this user may not look at counts.
bool is_there(const std::string& pool) {
  return access(pool.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// Does a claim of this owner lead to a pool? Those of the user, of root and of the directory's
// owner do. Root follows all, to finish what users have left.
bool is_trusted_owner(const DataFile& directory, uid_t owner) {
  const uid_t user = geteuid();
  return user == 0 || owner == user || owner == 0 || directory.status().st_uid == owner;
}

}  // namespace

Claimed claim_of(const std::string& path) {
  const DataFile directory = look_at_directory(path);
  if (directory.descriptor() < 0) return {};
  uid_t owner = 0;
  const std::string text = text_of(directory, ".cairn-claim", &owner);
  Claimed claim{value_of(text, "host"), value_of(text, "pool")};
  claim.owner = owner;
  // A claim that any user can write must not lead to a path where the kernel waits (an
  // automounter).
  claim.is_followed = claim.pool.starts_with('/') && is_trusted_owner(directory, owner);
  claim.here = claim.is_followed && claim.host == own_host() && is_there(claim.pool);
  return claim;
}

bool Claimed::is_lost(const std::string& path) const {
  return pool == path && host == own_host() && !is_there(path);
}

namespace {

// Visits the claim in `directory` and those that joined it on other hosts: visit(path, text).
template <typename Visit>
void for_each_claim(const std::string& path, const Visit& visit) {
  const DataFile directory = look_at_directory(path);
  std::vector<std::string> names;
  try {
    names = names_in(directory.descriptor(), path);
  } catch (const Error&) {
    return;  // no claim can be seen
  }
  for (const std::string& name : names)
    if (name == ".cairn-claim" || name.starts_with(".cairn-claim-of-"))
      visit(fmt::format("{}/{}", path, name), text_of(directory, name));
}

}  // namespace

std::string stale_claim(const std::string& directory, const std::string& pool) {
  const std::string host = own_host();
  std::string found;
  for_each_claim(directory, [&](const std::string& path, const std::string& text) {
    if (value_of(text, "host") == host && value_of(text, "pool") == pool) found = path;
  });
  return found;
}

std::vector<std::string> claiming_hosts(const std::string& directory) {
  std::set<std::string> hosts;
  for_each_claim(directory, [&](const std::string&, const std::string& text) {
    if (const std::string host = value_of(text, "host"); !host.empty()) hosts.insert(host);
  });
  return {hosts.begin(), hosts.end()};
}

}  // namespace cairn::cli
