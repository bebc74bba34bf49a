#include "cluster/collect/collect_ahead.h"

#include <map>
#include <string>
#include <vector>

#include "cluster/collect/collect_file.h"
#include "cluster/record/cover_records.h"
#include "file/inode/open_table.h"
#include "tier/changes/changes.h"
#include "tier/record/parts.h"

namespace cairn::cluster {
namespace {

struct Due {
  file::Map part;
  uint64_t bytes = 0;
};
using DueParts = std::map<std::string, Due>;  // by uuid

bool is_quiet(uint64_t changed, const tier::DrainCalls& calls) {
  return changed + calls.while_running->quiet_ns <= file::now_ns();
}

// Parts whose shares are not in lower, as far as this node can tell. What is not due yet is
// counted.
Result<DueParts> due_parts(const tier::Cover& cover, const tier::DrainCalls& calls,
                           tier::DrainReport* report) {
  DueParts due;
  const auto visit = [&](const std::string& uuid, uint64_t bytes) -> Status {
    CAIRN_TRY_ASSIGN(number, tier::find_part(*cover.fs, cover.name, uuid, false));
    if (number == 0) return Status();
    CAIRN_TRY_ASSIGN(inode, file::live_inode(*cover.fs, number));
    const file::Map part{inode, number};
    if (is_shared_ahead(*cover.fs, part)) return Status();
    if (inode->links.load() != 1)
      return Status();  // an ordinary file by now (unshare.h), or removed
    if (file::is_open(*cover.fs, number) || !is_quiet(tier::change_time(*cover.fs, part), calls)) {
      ++report->postponed;
      report->postponed_bytes += bytes;
    } else {
      due[uuid] = {part, bytes};
    }
    return Status();
  };
  CAIRN_TRY(tier::for_each_part(*cover.fs, cover.name, visit));
  return due;
}

// EBUSY, EAGAIN: it is for a later call.
Status share_one(Collecting& all, const std::string& path, const Record& record, const Due& due) {
  if (!is_quiet(record.mtime, all.calls)) return Status(EBUSY);
  FileCollector file(all, path, record);
  return file.is_ours() ? file.share_ahead(due.part) : Status();
}

}  // namespace

Status collect_ahead(tier::Cover& cover, const tier::DrainCalls& calls, tier::DrainReport* report) {
  file::FileSystem& fs = *cover.fs;
  auto lock = tier::lock_drain(fs, cover.name);
  if (!lock.ok()) return lock.status();
  CAIRN_TRY_ASSIGN(due, due_parts(cover, calls, report));
  if (due.empty()) return Status();
  CAIRN_TRY_ASSIGN(opened, open_records_of(cover));
  if (!opened.covered.ok() || !opened.found) return Status();
  uint64_t total = 0;
  for (const auto& [uuid, one] : due) total += one.bytes;
  Collecting all{fs,         cover.path,  opened.covered, opened.records,
                 cover.name, uuid_of(fs), calls,          *report,
                 0,          total};
  std::vector<std::string> paths;
  const auto add = [&paths](const std::string& path) {
    paths.push_back(path);
    return Status();
  };
  PassedOver passed;  // told at the end of the run
  CAIRN_TRY(for_each_shared(opened.records, add, &passed));
  uint64_t failed = 0;
  for (const std::string& path : paths) {
    const auto record = read_record(opened.records, path);
    const auto found = record.ok() ? due.find(hex_of(record->uuid)) : due.end();
    if (found == due.end()) continue;
    const Status status = share_one(all, path, *record, found->second);
    if (status.code() == ECANCELED) return status;
    if (status.code() == EBUSY || status.code() == EAGAIN) {
      ++report->postponed;
      report->postponed_bytes += found->second.bytes;
    } else if (!status.ok()) {
      ++failed;
      if (calls.problem) calls.problem(last_detail());
    }
  }
  report->failed += failed;
  if (failed == 0) return Status();
  return fail(EIO,
              "%s: this node's bytes of %llu files that several nodes write could not be written",
              cover.path.c_str(), static_cast<unsigned long long>(failed));
}

}  // namespace cairn::cluster
