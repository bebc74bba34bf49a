#include "cluster/shared/moved_records.h"

#include <map>

#include "cluster/record/directories.h"
#include "cluster/shared/held_record.h"
#include "tier/system/system.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

// Where the keeper counts them.
constexpr uint64_t count_home = 0x6d6f766564ULL;

bool has_records(const RecordsOf& of, const std::string& path) {
  const auto records = RecordsDirectory::open(of);
  return records.ok() && records->open_directory(path).ok();
}

// The locks of all records in a directory, which keep them as they are.
class Locked {
 public:
  explicit Locked(const Job& job) : job_(job) {}
  ~Locked() {
    for (const auto& [uuid, path] : locked_) unlock_record(job_, uuid).ignore();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  // Until all are: one may be made, or get another life, while another one's lock is waited for.
  Status lock_all(const std::string& below) {
    size_t before = 0;
    do {
      before = locked_.size();
      CAIRN_TRY(for_each_shared_in(job_.records(), below, true, [&](const std::string& name) {
        return lock_one(below + "/" + name);
      }));
    } while (locked_.size() != before);
    return Status();
  }

 private:
  Status lock_one(const std::string& path) {
    const auto record = read_record(job_.records(), path);
    // One that has gone, or that nobody can read, and so nobody changes.
    if (!record.ok() || locked_.contains(record->uuid)) return Status();
    CAIRN_TRY(lock_record(job_, record->uuid, path));
    locked_[record->uuid] = path;
    return Status();
  }

  const Job& job_;
  std::map<Uuid, std::string> locked_;
};

Result<int64_t> count(const Job& job, int64_t by) {
  if (!job.has_messages()) return int64_t{0};
  Request ask = {};
  ask.op = Op::fetch_add;
  ask.home = count_home;
  ask.value = by;
  return job.ask(keeper, ask);
}

}  // namespace

Status check_no_records(const Job& job, const std::string& path) {
  return for_each_shared_in(job.records(), path, true, [&](const std::string&) {
    return fail(ENOTEMPTY, "%s: directory not empty", path.c_str());
  });
}

namespace {

// ENOENT: cleaned up, or another node was faster; or the new place's parent was empty and went just
// now.
Status try_to_rename(const RecordsOf& of, const std::string& from, const std::string& to) {
  CAIRN_TRY_ASSIGN(records, RecordsDirectory::open(of));
  CAIRN_TRY_ASSIGN(old_above, records.open_directory(above_of(from)));
  CAIRN_TRY_ASSIGN(new_above, records.make_directory(above_of(to)));
  CAIRN_TRY(records.check_free(new_above, to));
  const auto rename = [&] {
    return sys::renameat2(old_above.get(), name_in(from).c_str(), new_above.get(),
                          name_in(to).c_str(), 0);
  };
  int64_t result = rename();
  if (result == -ENOTEMPTY || result == -EEXIST) {
    // What files left that were there before.
    CAIRN_TRY(clean_records_in(of, to));
    result = rename();
  }
  if (result < 0) return sys::failed(result, "rename", records.path_of(from));
  CAIRN_TRY(sync_directory(new_above, records.path_of(above_of(to))));
  return sync_directory(old_above, records.path_of(above_of(from)));
}

}  // namespace

Result<int> rename_records(const RecordsOf& of, const std::string& from, const std::string& to) {
  constexpr int tries = 10;
  Status status;
  for (int i = 0; i < tries; ++i) {
    if (!has_records(of, from)) return 0;
    status = try_to_rename(of, from, to);
    if (status.code() != ENOENT) break;
  }
  if (status.ok()) return 1;
  return status.code() == ENOENT && !has_records(of, from) ? Result<int>(0) : status;
}

Status move_records(const Job& job, const std::string& from, const std::string& to) {
  if (!has_records(job.records(), from)) return Status();
  Locked locked(job);
  CAIRN_TRY(locked.lock_all(from));
  CAIRN_TRY(count(job, 1).status());
  return rename_records(job.records(), from, to).status();
}

Result<int64_t> times_moved(const Job& job) { return count(job, 0); }

Result<std::string> find_record(const Job& job, const Uuid& uuid) {
  std::string found;
  CAIRN_TRY(for_each_shared(job.records(), [&](const std::string& path) {
    const auto record = read_record(job.records(), path);
    if (record.ok() && record->uuid == uuid) found = path;
    return Status();
  }));
  return found;
}

}  // namespace cairn::cluster
