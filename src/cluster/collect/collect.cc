#include "cluster/collect/collect.h"

#include <algorithm>
#include <set>

#include "cluster/collect/collect_file.h"
#include "cluster/record/cover_records.h"
#include "cluster/shared/unshare.h"
#include "tier/record/parts.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

// The nodes that are waited for, in one line.
class Waiting {
 public:
  explicit Waiting(const std::string& directory) : directory_(directory) {}
  void add(const std::string& path, const Record& record, const std::vector<uint32_t>& nodes) {
    if (count_++ == 0) first_ = directory_ + "/" + path;
    for (const uint32_t node : nodes)
      nodes_.insert("node " + record.nodes[node].host + " (pool " + record.nodes[node].path + ")");
  }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] Status status() const {
    std::string who;
    for (const std::string& node : nodes_) who += (who.empty() ? "" : ", ") + node;
    const std::string more =
        count_ > 1 ? " and " + std::to_string(count_ - 1) + " more files" : std::string();
    return fail(EAGAIN, "%s%s: waiting for %s: run `cairn drain %s` there", first_.c_str(),
                more.c_str(), who.c_str(), directory_.c_str());
  }

 private:
  const std::string& directory_;
  std::string first_;
  std::set<std::string> nodes_;
  uint64_t count_ = 0;
};

Result<std::set<std::string>> parts_of(const tier::Cover& cover, uint64_t* bytes) {
  std::set<std::string> parts;
  CAIRN_TRY(tier::for_each_part(*cover.fs, cover.name, [&](const std::string& uuid, uint64_t held) {
    parts.insert(uuid);
    *bytes += held;
    return Status();
  }));
  return parts;
}

Result<std::vector<std::string>> shared_files(const RecordsDirectory& records, PassedOver* passed) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    paths.push_back(path);
    return Status();
  };
  CAIRN_TRY(for_each_shared(records, add, passed));
  return paths;
}

// What lies there and is passed over.
void tell_ignored(const std::string& directory, const std::string& ignored,
                  const PassedOver& passed, const tier::DrainCalls& calls) {
  if (!calls.problem) return;
  const std::string records = directory + "/" + tier::records_directory;
  if (!ignored.empty()) calls.problem((records + ": ignored: it " + ignored).c_str());
  if (passed.path.empty()) return;
  std::string text = records + "/" + told(passed.path) + ": ignored: it " + passed.why;
  if (passed.is_ours)
    text +=
        "; check whether Cairn wrote it, and move it away or run `chmod -R go-w " + records + "`";
  calls.problem(text.c_str());
}

// The part has become an ordinary file of the cover (unshare.h), by a process that was killed
// before it could say so.
Result<bool> is_plain(const Collecting& all, const Record& record) {
  const std::string uuid = hex_of(record.uuid);
  auto number = tier::find_part(all.fs, all.cover_name, uuid, false);
  if (!number.ok()) return number.status();
  if (*number == 0) return false;
  auto inode = file::live_inode(all.fs, *number);
  if (!inode.ok()) return inode.status();
  if ((*inode)->links.load() < 2) return false;
  auto second = tier::find_part(all.fs, all.cover_name, uuid + unshared_suffix, false);
  if (!second.ok()) return second.status();
  return *second == 0;
}

// Parts by what records say of them.
struct Parts {
  std::set<std::string> garbage;  // not needed, unless a record says otherwise
  std::set<std::string> named;    // by a record
};

// True if the file still needs its parts.
Result<bool> collect_one(Collecting& all, const std::string& path, Waiting* waiting, Parts* parts) {
  constexpr int most_tries = 10;
  Status status;
  for (int i = 0; i < most_tries; ++i) {
    auto record = read_record(all.records, path);
    if (record.code() == ENOENT) {
      CAIRN_TRY(check_gone(all.records, path));
      return false;
    }
    if (!record.ok()) return record.status();
    parts->named.insert(hex_of(record->uuid));
    auto plain = is_plain(all, *record);
    if (!plain.ok()) return plain.status();
    if (*plain) {
      status = remove_record(all.records, path);
      if (!status.ok() && status.code() != ENOENT) return status;
      return false;
    }
    FileCollector file(all, path, *record);
    status = file.collect();
    if (status.code() == EAGAIN) continue;  // written again, or somebody else was faster
    if (!status.ok()) return status;
    if (!file.is_ours()) return false;
    if (file.missing().empty()) return false;
    // Our own mark is gone: another node has finished the file in this moment.
    const auto is_own = [&](uint32_t node) { return record->nodes[node].pool == all.pool; };
    if (std::any_of(file.missing().begin(), file.missing().end(), is_own)) continue;
    parts->garbage.erase(hex_of(record->uuid));
    waiting->add(path, *record, file.missing());
    return true;
  }
  const std::string detail = last_detail();
  return fail(EBUSY, "%s", detail.c_str());
}

}  // namespace

Status collect(tier::Cover& cover, const tier::DrainCalls& calls, tier::DrainReport* report) {
  file::FileSystem& fs = *cover.fs;
  auto lock = tier::lock_drain(fs, cover.name);
  if (!lock.ok()) return lock.status();
  // Before the records are read: none of these is younger than they are.
  uint64_t total = 0;
  CAIRN_TRY_ASSIGN(held, parts_of(cover, &total));
  auto others = tier::has_other_members(cover);
  if (!others.ok()) return others.status();
  if (*others) {
    if (held.empty()) return Status();
    report->waiting += held.size();
    return fail(EAGAIN,
                "%s: files that several nodes write are left until its processes have ended",
                cover.path.c_str());
  }
  CAIRN_TRY_ASSIGN(opened, open_records_of(cover));
  if (!opened.covered.ok()) return Status();
  PassedOver passed;
  auto paths = opened.found ? shared_files(opened.records, &passed)
                            : Result<std::vector<std::string>>(std::vector<std::string>());
  if (!paths.ok()) return paths.status();
  tell_ignored(cover.path, opened.ignored, passed, calls);
  const bool kept = opened.kept;
  Collecting all{fs,         cover.path,  opened.covered, opened.records,
                 cover.name, uuid_of(fs), calls,          *report,
                 0,          total};
  Parts parts = {std::move(held), {}};
  Waiting waiting(cover.path);
  // As a damaged record does.
  uint64_t failed = passed.is_ours ? 1 : 0;
  uint64_t conflicts = 0;
  bool out_of_space = false;
  for (const std::string& path : *paths) {
    auto needed = collect_one(all, path, &waiting, &parts);
    if (needed.ok()) continue;
    if (needed.code() == ECANCELED) return needed.status();
    const std::string lower = cover.path + "/" + told(path);
    std::string text = last_detail();
    if (text.find(lower) == std::string::npos) text.insert(0, lower + ": ");
    ++(needed.code() == ESTALE ? conflicts : failed);
    out_of_space = out_of_space || needed.code() == ENOSPC || needed.code() == EDQUOT;
    if (calls.problem) calls.problem(text.c_str());
    // Whichever its part is, it stays.
    auto record = read_record(all.records, path);
    if (record.ok())
      parts.garbage.erase(hex_of(record->uuid));
    else
      parts.garbage.clear();
  }
  report->failed += failed;
  report->conflicts += conflicts;
  report->waiting += waiting.count();
  uint64_t orphans = 0;
  for (const std::string& uuid : parts.garbage) {
    if ((kept || !passed.path.empty()) && parts.named.count(uuid) == 0)
      ++orphans;
    else
      CAIRN_TRY(tier::remove_part(fs, cover.name, uuid));
  }
  if (opened.found) CAIRN_TRY(clean_records(opened.records));
  if (orphans != 0) {
    const std::string records_in = std::string("the records in ") + tier::records_directory;
    const std::string text = cover.path + ": " +
                             (kept ? records_in + " were removed or exchanged; "
                                   : "not all of " + records_in + " count; ") +
                             std::to_string(orphans) +
                             " parts of files that several nodes wrote stay in the pool";
    if (calls.problem) calls.problem(text.c_str());
  }
  failed += orphans;
  if (failed + conflicts != 0)
    return fail(out_of_space ? ENOSPC : EIO,
                "%s: %llu files that several nodes write could not be put together, %llu changed "
                "there outside Cairn",
                cover.path.c_str(), static_cast<unsigned long long>(failed),
                static_cast<unsigned long long>(conflicts));
  return waiting.count() == 0 ? Status() : waiting.status();
}

bool is_held_up(file::FileSystem& fs, const std::string& directory, const std::string& cover_name) {
  const Uuid own = uuid_of(fs);
  const RecordsOf of = records_of(fs, directory, cover_name);
  bool found = false;
  PassedOver passed;
  const auto look = [&](const std::string& path) {
    const auto record = read_record(of, path);
    found = record.code() == EUCLEAN || record.code() == EPROTONOSUPPORT;
    if (record.ok())
      for (const uint32_t node : holders_of(*record))
        found = found || record->nodes[node].pool == own;
    return found ? Status(ECANCELED) : Status();
  };
  // A directory that cannot be read says nothing; a drain tells why.
  for_each_shared(of, look, &passed).ignore();
  return found || passed.is_ours;
}

Status forget_parts(const tier::Cover& cover) {
  uint64_t bytes = 0;
  auto parts = parts_of(cover, &bytes);
  if (!parts.ok()) return parts.status();
  if (parts->empty()) return Status();
  const Uuid own = uuid_of(*cover.fs);
  const RecordsOf of = records_of(*cover.fs, cover.path, cover.name);
  auto records = RecordsDirectory::open(of);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  auto paths = shared_files(*records, nullptr);
  if (!paths.ok()) return paths.status();
  for (const std::string& path : *paths) {
    auto record = read_record(*records, path);
    if (!record.ok() || parts->count(hex_of(record->uuid)) == 0) continue;
    for (const uint32_t node : holders_of(*record)) {
      if (record->nodes[node].pool != own) continue;
      const Status status = remove_record(*records, path);
      if (!status.ok() && status.code() != ENOENT) return status;
      break;
    }
  }
  return clean_records(*records);
}

}  // namespace cairn::cluster
