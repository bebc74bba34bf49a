#include "tier/claim/claim.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>  // RENAME_NOREPLACE too
#include <thread>
#include <vector>

#include "tier/claim/restore.h"
#include "tier/claim/temp_claim.h"
#include "tier/lower/keep_times.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

std::string path_of(const std::string& directory) { return directory + "/" + claim_file; }

// A host that joins the claim of its job writes its own claim under this name. That replaces the
// claim when the first host leaves.
constexpr const char* joined_prefix = ".cairn-claim-of-";
std::string joined_name(const Claim& claim) { return joined_prefix + claim.uuid; }

// Creates a claim, complete from its first moment. -EEXIST: there is one. `owner`: of the file, as
// the file system shows it.
int64_t publish(int directory, const char* name, const std::string& text,
                uint64_t* owner = nullptr) {
  const KeepTimes times(directory);
  const std::string temp_name = temp_claim_name();
  const int64_t opened =
      sys::openat(directory, temp_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (opened < 0) return opened;
  int64_t result = 0;
  {
    const sys::Descriptor file(static_cast<int>(opened));
    const int64_t n = sys::pwrite(file.get(), text.data(), text.size(), 0);
    if (n != static_cast<int64_t>(text.size())) result = n < 0 ? n : -ENOSPC;
    if (result == 0) result = sys::fsync(file.get());
    sys::FileStat st = {};
    if (result == 0 && owner != nullptr && sys::fstat(file.get(), &st) == 0) *owner = st.st_uid;
  }
  if (result == 0) result = sys::linkat(directory, temp_name.c_str(), directory, name);
  // Some file systems have no hard links.
  if (result == -EPERM || result == -EOPNOTSUPP || result == -EMLINK)
    result = sys::renameat2(directory, temp_name.c_str(), directory, name, RENAME_NOREPLACE);
  sys::unlinkat(directory, temp_name.c_str(), 0);
  // A pool may survive a power loss; so must the claim that keeps others out of its directory.
  if (result == 0) result = sys::fsync_directory(directory);
  return result;
}

// Creates a claim in the place of the one that is there, if any.
int64_t replace(int directory, const char* name, const std::string& text,
                uint64_t* owner = nullptr) {
  const std::string temp_name = temp_claim_name();
  int64_t result = publish(directory, temp_name.c_str(), text, owner);
  const KeepTimes times(directory);
  if (result == 0) result = sys::renameat2(directory, temp_name.c_str(), directory, name, 0);
  if (result < 0) sys::unlinkat(directory, temp_name.c_str(), 0);
  return result == 0 ? sys::fsync_directory(directory) : result;
}

// The users whose claims count in a directory.
struct Believed {
  uint64_t owner = no_owner;         // CoverRecord::owner
  uint64_t of_directory = no_owner;  // the directory's owner, where that user's claims count too
  [[nodiscard]] bool has(uint32_t uid) const {
    return is_trusted_owner(uid, owner) || uid == of_directory;
  }
};

// Adds the directory's owner, who may say whether it is covered.
int64_t believed_in(int directory, Believed* believed) {
  sys::FileStat st = {};
  const int64_t result = sys::fstat(directory, &st);
  if (result == 0) believed->of_directory = st.st_uid;
  return result;
}

// The names of the claims of hosts that joined the claim.
std::vector<std::string> joined_names(int directory) {
  std::vector<std::string> names;
  const int64_t opened = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (opened < 0) return names;
  const sys::Descriptor all(static_cast<int>(opened));
  std::vector<sys::DirectoryEntry> entries;
  if (sys::list(all.get(), &entries) < 0) return names;
  for (const sys::DirectoryEntry& entry : entries)
    if (entry.name.rfind(joined_prefix, 0) == 0) names.push_back(entry.name);
  return names;
}

// 0: this is the complete text of a claim.
int64_t check_text(const std::string& text) {
  const std::string kind = "cairn claim ";
  if (text.rfind(kind, 0) != 0) return -EUCLEAN;
  if (text.rfind(kind + "1\n", 0) != 0) return -EPROTONOSUPPORT;
  const Claim claim = claim_of(text);
  return claim.host.empty() || claim.pool.empty() || claim.uuid.empty() ? -EUCLEAN : 0;
}

// Reads a claim's text; 0 or -errno. Others may write to the directory and put a FIFO or an endless
// file under the claim's name. -EUCLEAN: this is not a small regular file with the text of a claim.
int64_t read_claim(int directory, std::string* text, const char* name = claim_file,
                   uint32_t* owner = nullptr) {
  const int64_t opened =
      sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened == -ELOOP || opened == -ENXIO) return -EUCLEAN;  // a link, a socket
  if (opened < 0) return opened;
  const sys::Descriptor file(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(file.get(), &st); result < 0) return result;
  if (!S_ISREG(st.st_mode)) return -EUCLEAN;
  if (owner != nullptr) *owner = st.st_uid;
  text->assign(most_claim_bytes + 1, '\0');
  const int64_t n = sys::pread(file.get(), text->data(), text->size(), 0);
  text->resize(static_cast<size_t>(std::max<int64_t>(n, 0)));
  if (n < 0) return n;
  return text->size() > most_claim_bytes ? -EUCLEAN : check_text(*text);
}

// Reads a claim of a user whose claims count. -ENOENT for any other: every user may make a file of
// this name, so neither its contents count nor an error of opening it (a lease, a mode).
int64_t read_believed(int directory, const std::string& name, const Believed& believed,
                      std::string* text, uint32_t* owner = nullptr) {
  sys::FileStat st = {};
  if (const int64_t looked = sys::lstatat(directory, name.c_str(), &st); looked < 0) return looked;
  if (!believed.has(st.st_uid)) return -ENOENT;
  uint32_t uid = st.st_uid;
  const int64_t read = read_claim(directory, text, name.c_str(), &uid);
  if (!believed.has(uid)) return -ENOENT;  // somebody exchanged it meanwhile
  if (owner != nullptr) *owner = uid;
  return read;
}

// Cairn makes no claim that it would not know again.
Status check_own(const Claim& own) {
  const std::string text = text_of(own);
  if (text.size() <= most_claim_bytes && check_text(text) == 0 && text_of(claim_of(text)) == text)
    return Status();
  return fail(EINVAL,
              "%s: a claim cannot name a pool with this path; it has a line break, or is too "
              "long",
              own.pool.c_str());
}

// The name of the claim of a host that joined; "" if no host has.
std::string successor(int directory, uint64_t owner) {
  for (const std::string& name : joined_names(directory)) {
    std::string text;
    if (read_believed(directory, name, {owner}, &text) == 0) return name;
  }
  return "";
}

// Replaces the claim by that of a host that joined it, in one step; removes it if no host has.
// Files that cannot be restored then stay where a drain displaced them; `*brought` says why.
int64_t hand_on(int directory, uint64_t owner, int64_t* brought) {
  *brought = 0;
  const std::string next = successor(directory, owner);
  if (!next.empty() && sys::renameat2(directory, next.c_str(), directory, claim_file, 0) == 0)
    return 0;
  *brought = restore(directory, owner);
  // While there is a claim, a missing record means that somebody has removed it (parts.h).
  remove_records(directory, owner);
  const int64_t result = sys::unlinkat(directory, claim_file, 0);
  // A host may have joined before the claim was removed, and rely on it.
  const std::string late = successor(directory, owner);
  if (!late.empty())
    sys::renameat2(directory, late.c_str(), directory, claim_file, RENAME_NOREPLACE);
  return result;
}

Status brought_back(int64_t result, const std::string& directory) {
  return result < 0 ? sys::failed(result, "displaced files below it cannot be restored", directory)
                    : Status();
}

// Names the owner of the file that has the claim's name: "user N", or "an unknown user". For
// messages only.
std::string user_of_name(const std::string& directory) {
  sys::FileStat st = {};
  const sys::Descriptor base(static_cast<int>(lower_base(directory)));
  return !base.ok() || sys::lstatat(base.get(), claim_file, &st) < 0
             ? "an unknown user"
             : "user " + std::to_string(st.st_uid);
}

Status unreadable(int64_t result, const std::string& directory) {
  const std::string user = user_of_name(directory);
  if (result == -EUCLEAN)
    return fail(
        EUCLEAN,
        "%s: has the name of a Cairn claim, but is not one; it belongs to %s; check what it "
        "is and move it away: then %s can be covered",
        path_of(directory).c_str(), user.c_str(), directory.c_str());
  if (result == -EPROTONOSUPPORT)
    return fail(EPROTONOSUPPORT,
                "%s: is a claim of a newer version of Cairn and belongs to %s; this version knows "
                "format 1",
                path_of(directory).c_str(), user.c_str());
  return sys::failed(result, ("claim of " + user).c_str(), path_of(directory));
}

// Joins the claim `text` of the same job. False: the claim was removed before other hosts could see
// that this one had joined.
Result<bool> join_claim(int directory, const std::string& path, const Claim& own,
                        const std::string& text, uint64_t* owner) {
  const std::string name = joined_name(own);
  int64_t result = publish(directory, name.c_str(), text_of(own), owner);
  // An earlier job, whose data were kept, left its claim there.
  if (result == -EEXIST) result = replace(directory, name.c_str(), text_of(own), owner);
  if (result < 0) return sys::failed(result, "cannot be claimed", path);
  std::string now;
  if (read_claim(directory, &now) == 0 && (now == text || claim_of(now).uuid == own.uuid))
    return true;
  sys::unlinkat(directory, name.c_str(), 0);
  return false;
}

// "job JOB on host HOST with pool POOL".
std::string holder_of(const Claim& claim) {
  return "job " + (claim.job.empty() ? "(none)" : claim.job) + " on host " + claim.host +
         " with pool " + claim.pool;
}

Status busy(const Claim& claim, const std::string& directory) {
  return fail(EBUSY, "%s is covered by %s (see %s, which belongs to %s)", directory.c_str(),
              holder_of(claim).c_str(), path_of(directory).c_str(),
              user_of_name(directory).c_str());
}

// A job may end on several hosts, leave its data in their pools, and be continued by the next job
// on all of them. So a host that joined the claim of the job before may stay, as long as no other
// job has come since.
enum class Earlier : uint8_t { stranger, joined_before, overtaken };
Earlier earlier_of(int directory, const Claim& own, const Claim& holder, uint64_t owner) {
  std::string text;
  if (own.job.empty() || read_believed(directory, joined_name(own), {owner}, &text) != 0)
    return Earlier::stranger;
  const Claim before = claim_of(text);
  if (before.uuid != own.uuid) return Earlier::stranger;
  return before.job == holder.job ? Earlier::joined_before : Earlier::overtaken;
}

// May the path of the pool in a claim of this user be looked at? A file that any user may write
// must not lead to a path where the kernel waits (an automounter).
bool may_be_followed(int directory, uint32_t uid, uint64_t owner) {
  Believed believed{owner};
  return believed_in(directory, &believed) == 0 && believed.has(uid);
}

// CoverRecord::owner of the directory's cover in this pool.
uint64_t owner_of_claim(file::FileSystem& fs, const std::string& directory) {
  uint64_t owner = no_owner;
  for_each_record(fs, [&](const std::string&, const CoverRecord& record) {
    if (record.path == directory) owner = record.owner;
    return Status();
  }).ignore();  // if it fails, the claims of the user, of root and of the directory's owner count
  return owner;
}

// Removes a void claim. Among the processes of one host that find it void, the kernel's lock on the
// file decides which one does. Returns 0 or -errno; 0 also if the claim was removed or replaced
// meanwhile.
int64_t remove_void(int directory, uint64_t owner, const std::string& text, int64_t* brought) {
  *brought = 0;
  const int64_t opened = sys::openat(directory, claim_file, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (opened < 0) return opened == -ENOENT ? 0 : opened;
  const sys::Descriptor file(static_cast<int>(opened));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (::syscall(SYS_fcntl, file.get(), F_OFD_SETLK, &lock) != 0) return 0;
  sys::FileStat held = {};
  sys::FileStat named = {};
  std::string now(text.size() + 1, '\0');
  const int64_t n = sys::pread(file.get(), now.data(), now.size(), 0);
  if (sys::fstat(file.get(), &held) != 0 || sys::lstatat(directory, claim_file, &named) != 0 ||
      !is_same_file(held, named) || n != static_cast<int64_t>(text.size()) ||
      now.compare(0, text.size(), text) != 0)
    return 0;
  const int64_t result = hand_on(directory, owner, brought);
  return result == -ENOENT ? 0 : result;
}

}  // namespace

Result<ClaimTaken> take_claim(file::FileSystem& fs, const std::string& directory,
                              const ClaimRequest& request) {
  const int64_t opened = lower_base(directory, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", directory);
  const sys::Descriptor fd(static_cast<int>(opened));
  Claim own = own_claim(fs, request.job);
  own.token = request.token;
  CAIRN_TRY(check_own(own));
  ClaimTaken taken;
  constexpr int attempts = 100;
  // On the host that holds the claim a run of this job may be about to put the job into it.
  constexpr auto pause = std::chrono::milliseconds(100);
  for (int i = 0; i < attempts; ++i) {
    const int64_t result = publish(fd.get(), claim_file, text_of(own), &taken.owner);
    taken.token = own.token;
    if (result == 0) {
      remove_claims_left(fd.get(), taken.owner);
      return taken;
    }
    const bool is_unwritable = result == -EROFS || result == -EACCES;
    if (result != -EEXIST && !is_unwritable)
      return sys::failed(result, "cannot be claimed", directory);
    std::string text;
    uint32_t uid = 0;
    // A claim that was made before, or from elsewhere, keeps others out of a directory that they
    // cannot write to as well.
    const int64_t read = read_claim(fd.get(), &text, claim_file, &uid);
    if (read == -ENOENT && is_unwritable) {
      taken.is_unwritable = true;
      return taken;
    }
    if (read == -ENOENT) continue;
    if (read < 0) return unreadable(read, directory);
    const Claim other = claim_of(text);
    const bool believed = is_trusted_owner(uid, request.owner);
    const auto adopt_token = [&]() -> Status {
      if (!believed || other.token.empty() || other.token == own.token ||
          other.token == request.foreign)
        return Status();
      if (request.before_adopting) CAIRN_TRY(request.before_adopting(other.token));
      taken.token = own.token = other.token;
      return Status();
    };
    if (other.host == own.host && other.uuid == own.uuid) {
      CAIRN_TRY(adopt_token());
      taken.owner = uid;
      // Hosts that join a claim look for their job in it.
      const bool names_job = own.job.empty() || other.job == own.job;
      if (believed && names_job && other.token == own.token) return taken;
      if (own.job.empty()) own.job = other.job;
      if (const int64_t named = replace(fd.get(), claim_file, text_of(own), &taken.owner);
          named < 0)
        return sys::failed(named, "cannot be claimed", directory);
      return taken;
    }
    const Earlier earlier = earlier_of(fd.get(), own, other, request.owner);
    if ((!own.job.empty() && other.job == own.job) || earlier == Earlier::joined_before) {
      CAIRN_TRY(adopt_token());
      auto joined = join_claim(fd.get(), directory, own, text, &taken.owner);
      if (!joined.ok()) return joined.status();
      if (*joined) return taken;
      continue;
    }
    if (other.host == own.host && may_be_followed(fd.get(), uid, request.owner) &&
        is_void(other, own, directory, holds_data_of(fs))) {
      int64_t brought = 0;  // ignored: the cover has ended, and its files hold up no new one
      const int64_t removed = remove_void(fd.get(), request.owner, text, &brought);
      if (removed < 0) return sys::failed(removed, "remove", path_of(directory));
    } else if (earlier == Earlier::overtaken && i + 1 < attempts) {
      std::this_thread::sleep_for(pause);
    } else {
      return busy(other, directory);
    }
  }
  return fail(EBUSY, "%s: its claim keeps changing", directory.c_str());
}

Result<ClaimTokens> believed_claims(const file::FileSystem& fs, int directory,
                                    const std::string& path, uint64_t owner, bool all) {
  ClaimTokens found;
  const Claim own = own_claim(fs, "");
  std::vector<std::string> names;
  if (all) names = joined_names(directory);
  if (!all) names.push_back(joined_name(own));
  names.emplace_back(claim_file);
  for (const std::string& name : names) {
    std::string text;
    const int64_t read = read_believed(directory, name, {owner}, &text);
    // This is not a claim, or this user may not read it.
    if (read == -ENOENT || read == -EUCLEAN || read == -EACCES || read == -EPERM) continue;
    if (read < 0) return unreadable(read, path);
    const Claim claim = claim_of(text);
    if (!claim.token.empty()) found.tokens.push_back(claim.token);
    found.has_own = found.has_own || (claim.host == own.host && claim.uuid == own.uuid);
  }
  return found;
}

Status refuse_covered(const file::FileSystem& fs, int directory, const std::string& path) {
  Believed believed;
  if (const int64_t result = believed_in(directory, &believed); result < 0)
    return sys::failed(result, "stat", path);
  std::string text;
  const int64_t read = read_believed(directory, claim_file, believed, &text);
  if (read == -ENOENT || read == -EUCLEAN) return Status();
  if (read < 0) return unreadable(read, path);
  const Claim claim = claim_of(text);
  const Claim own = own_claim(fs, "");
  if (claim.uuid == own.uuid ||
      (claim.host == own.host && is_void(claim, own, path, holds_data_of(fs))))
    return Status();
  return fail(
      ELOOP, "%s is covered itself, by %s (see %s, which belongs to %s); covers do not nest",
      path.c_str(), holder_of(claim).c_str(), path_of(path).c_str(), user_of_name(path).c_str());
}

bool is_claimed_above(const std::string& directory) {
  sys::FileStat st = {};
  const sys::Descriptor base(static_cast<int>(lower_base(directory)));
  if (!base.ok() || sys::fstat(base.get(), &st) < 0) return false;
  std::string text;
  const int64_t read = read_believed(base.get(), claim_file, {no_owner, st.st_uid}, &text);
  return read != -ENOENT && read != -ENOTDIR && read != -EUCLEAN;
}

bool is_claimed(const std::string& directory) {
  std::string text;
  const int64_t base = lower_base(directory);
  if (base < 0) return base != -ENOENT && base != -ENOTDIR;
  const int64_t read = read_claim(sys::Descriptor(static_cast<int>(base)).get(), &text);
  return read != -ENOENT && read != -ENOTDIR && read != -EUCLEAN;
}

Result<std::vector<Claim>> other_claims(file::FileSystem& fs, const std::string& directory) {
  std::vector<Claim> claims;
  const int64_t opened = lower_base(directory, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", directory);
  const sys::Descriptor fd(static_cast<int>(opened));
  const Claim own = own_claim(fs, "");
  Believed believed{owner_of_claim(fs, directory)};
  if (const int64_t result = believed_in(fd.get(), &believed); result < 0)
    return sys::failed(result, "stat", directory);
  std::vector<std::string> names = joined_names(fd.get());
  names.emplace_back(claim_file);
  for (const std::string& name : names) {
    std::string text;
    // It was removed just now, or is not a claim.
    if (read_believed(fd.get(), name, believed, &text) != 0) continue;
    Claim claim = claim_of(text);
    const bool is_known = std::any_of(claims.begin(), claims.end(), [&](const Claim& other) {
      return other.uuid == claim.uuid;  // it became the claim while the names were read
    });
    if (is_known || claim.uuid == own.uuid) continue;
    if (claim.host == own.host && is_void(claim, own, directory, holds_data_of(fs))) continue;
    claims.push_back(std::move(claim));
  }
  return claims;
}

Status drop_claim(const file::FileSystem& fs, const std::string& directory, uint64_t owner) {
  const int64_t opened = lower_base(directory, O_RDONLY);
  if (opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP) return Status();
  if (opened < 0) return sys::failed(opened, "open", directory);
  const sys::Descriptor fd(static_cast<int>(opened));
  const KeepTimes times(fd.get());
  const Claim own = own_claim(fs, "");
  remove_claims_left(fd.get(), owner);
  // This host leaves, so no other process may replace the claim by this host's.
  std::string text;
  const std::string joined = joined_name(own);
  if (read_believed(fd.get(), joined, {owner}, &text) == 0)
    sys::unlinkat(fd.get(), joined.c_str(), 0);
  const int64_t read = read_believed(fd.get(), claim_file, {owner}, &text);
  if (read == -ENOENT || read == -ENOTDIR || read == -EUCLEAN) return Status();  // it is not ours
  if (read < 0) return unreadable(read, directory);
  const Claim other = claim_of(text);
  if (other.host != own.host || other.uuid != own.uuid) return Status();
  int64_t brought = 0;
  const int64_t result = hand_on(fd.get(), owner, &brought);
  if (result < 0 && result != -ENOENT) return sys::failed(result, "claim", path_of(directory));
  return brought_back(brought, directory);
}

Status free_claim(const std::string& directory, bool forced, HoldsData holds_data) {
  const int64_t opened = lower_base(directory, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", directory);
  const sys::Descriptor fd(static_cast<int>(opened));
  const KeepTimes times(fd.get());
  std::string text;
  const int64_t read = read_claim(fd.get(), &text);
  if (read == -ENOENT) return fail(ENOENT, "%s: has no claim", directory.c_str());
  if (read < 0) return unreadable(read, directory);
  const Claim claim = claim_of(text);
  const Claim own = claim_of_host();
  const bool gone = claim.host == own.host && is_void(claim, own, directory, holds_data);
  if (!gone && (!forced || pool_is_here(claim, own))) return busy(claim, directory);
  int64_t brought = 0;
  const int64_t removed = remove_void(fd.get(), no_owner, text, &brought);
  return removed < 0 ? sys::failed(removed, "remove", path_of(directory))
                     : brought_back(brought, directory);
}

}  // namespace cairn::tier
