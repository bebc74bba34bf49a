#include "cluster/shared/by_name.h"

#include <fcntl.h>

#include <algorithm>

#include "cluster/record/base_file.h"
#include "cluster/record/directories.h"
#include "cluster/record/trusted_path.h"
#include "cluster/remote/name_broadcast.h"
#include "cluster/shared/held_record.h"
#include "file/inode/file_system.h"
#include "tier/lower/keep_times.h"
#include "tier/system/system.h"

namespace cairn::cluster {

namespace sys = tier::sys;

Status remove_parts(Job& job, const Record& record) {
  for (const RecordNode& node : record.nodes) {
    const uint32_t number = job.number_of(node.pool);
    if (number == job.nodes()) continue;
    if (number == job.self()) CAIRN_TRY(job.remove_part(record.uuid));
    // Here too: the node's server may be another process, which has it open.
    Request ask = {};
    ask.op = Op::remove_part;
    ask.uuid = record.uuid;
    job.ask(number, ask).status().ignore();  // its node removes it when it next joins a job
  }
  return Status();
}

Status remove_shared(Job& job, const std::string& path) {
  auto record = read_record(job.records(), path);
  if (!record.ok()) return record.status();
  CAIRN_TRY(remove_record(job.records(), path));
  return remove_parts(job, *record);
}

Result<int> remove_below(Job& job, const std::string& path) {
  const std::string place = job.directory() + "/" + path;
  auto covered = open_covered(job.directory());
  if (covered.code() == ENOENT || covered.code() == ENOTDIR) return 0;
  if (!covered.ok()) return covered.status();
  // Another directory may have been put in its place, with a file of that name which is not meant.
  auto above = open_trusted({job.fs(), job.cover(), job.directory(), *covered, job.records().owner},
                            above_of(path), false);
  if (above.code() == ENOENT || above.code() == ENOTDIR) return 0;
  if (!above.ok()) return above.status();
  // A drain would take it for a change that was made behind the job's back.
  const tier::KeepTimes times(above->get());
  const int64_t removed = sys::unlinkat(above->get(), name_in(path).c_str(), 0);
  if (removed == -ENOENT) return 0;
  if (removed < 0) return sys::failed(removed, "unlink", place);
  // Others may know it from there, which would keep their directory from being removed. What one of
  // them has changed or has open for writing by now is a file of its own.
  on_others(job, {NameOp::claim, 0, path, ""}).ignore();
  return 1;
}

namespace {

// A process that has the file open sees the next epoch, and reads the record again before it
// commits.
Status commit(const Job& job, const std::string& path, Record& record) {
  ++record.epoch;
  return write_record(job.records(), path, record, false);
}

}  // namespace

Status set_size(Job& job, const std::string& path, uint64_t size) {
  return with_record(job, path, [&](Record& record) -> Status {
    auto open = is_open(job, record.uuid);
    if (!open.ok()) return open.status();
    const Record before = record;
    record.size = size;
    record.mtime = file::now_ns();
    record.base.end = std::min(record.base.end, size);
    record.map.truncate(size);
    // Nobody holds on to the parts, which would keep their space.
    const bool begins_anew = size == 0 && !*open;
    if (begins_anew) {
      record.uuid = random_uuid();
      record.nodes.clear();
      record.map.clear();
    }
    CAIRN_TRY(commit(job, path, record));
    return begins_anew ? remove_parts(job, before) : Status();
  });
}

Status set_attributes(Job& job, const std::string& path, const NewAttributes& attributes) {
  return with_record(job, path, [&](Record& record) {
    record.mode = attributes.mode.value_or(record.mode);
    record.uid = attributes.uid.value_or(record.uid);
    record.gid = attributes.gid.value_or(record.gid);
    record.mtime = attributes.mtime.value_or(record.mtime);
    return commit(job, path, record);
  });
}

Status rename_shared(Job& job, const std::string& from, const std::string& to, bool keep) {
  return with_record(job, from, [&](Record& record) -> Status {
    CAIRN_TRY(check_closed(job, record, from));
    if (record.base.exists)
      return fail(EXDEV, "%s: some of its bytes are in the file of that name in %s", from.c_str(),
                  job.directory().c_str());
    auto replaced = read_record(job.records(), to);
    if (!replaced.ok() && replaced.code() != ENOENT) return replaced.status();
    CAIRN_TRY(rename_record(job.records(), from, to, keep));
    CAIRN_TRY(forget_collected(job.records(), from));
    CAIRN_TRY(forget_collected(job.records(), to));
    return replaced.ok() ? remove_parts(job, *replaced) : Status();
  });
}

}  // namespace cairn::cluster
