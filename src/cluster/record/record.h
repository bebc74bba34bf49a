// Record: what all nodes know of a shared file. `DIR/.cairn/PATH.record` in the covered directory,
// which every node sees; written aside and renamed, so that there is an old or a new one.
// docs/format/record.md says it in words, records_directory.h which ones count.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cluster/record/records_directory.h"
#include "cluster/record/share_map.h"
#include "cluster/record/uuid.h"
#include "tier/lower/lower.h"

namespace cairn::cluster {

struct RecordNode {
  Uuid pool = {};
  std::string host;
  std::string path;  // of the pool
};

// The file of the same name in the covered directory from which bytes come that nobody wrote.
struct Base {
  bool exists = false;
  uint64_t inode = 0;
  uint64_t size = 0;
  uint64_t mtime = 0;
  uint64_t end = 0;    // bytes from here on were cut since
  uint64_t birth = 0;  // sys::FileStat::birth; 0: not known
};

struct Record {
  Uuid uuid = {};      // names the parts: another life of the same name has another one
  uint64_t epoch = 0;  // counts commits
  uint64_t size = 0;
  uint32_t mode = 0;  // permissions
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t mtime = 0;
  Base base;
  std::vector<RecordNode> nodes;
  ShareMap map;

  // The index of a pool in `nodes`, which it is put into if need be.
  uint32_t node_of(const RecordNode& node);
};

std::vector<uint8_t> bytes_of(const Record& record);
// EUCLEAN if they are no record, EPROTONOSUPPORT if they are one of a later version.
Result<Record> record_of(const void* bytes, size_t size, const std::string& path);

// Where records and what belongs to them lie, below a covered directory: whole paths, for messages.
using tier::records_directory;
std::string record_path(const std::string& directory, const std::string& path);
std::string aside_path(const std::string& directory, const std::string& path, const Record& record);
std::string mark_path(const std::string& directory, const std::string& path, const Record& record,
                      const Uuid& pool);
// These are relative to the records directory. Aside: a file that is being put together out of its
// parts (collect.h), as they are by this record. Mark: made by a node when its own bytes are in it.
std::string record_name(const std::string& path);
std::string aside_name(const std::string& path, const Record& record);
std::string mark_name(const std::string& path, const Record& record, const Uuid& pool);
// Made by a node whose programs still run (collect_ahead.h).
std::string ahead_name(const std::string& path, const Record& record, const Uuid& pool);

// ENOENT if there is none that counts.
Result<Record> read_record(const RecordsOf& of, const std::string& path);
Result<Record> read_record(const RecordsDirectory& records, const std::string& path);
// After read_record() has found none: EPERM if something has its name that does not count, and may
// be the record all the same.
Status check_gone(const RecordsDirectory& records, const std::string& path);
// Makes the directories above it too. `exclusive`: EEXIST if there is one already.
Status write_record(const RecordsOf& of, const std::string& path, const Record& record,
                    bool exclusive);
// Without what belongs to it. `keep`: EEXIST if the new name has one.
Status rename_record(const RecordsOf& of, const std::string& from, const std::string& to,
                     bool keep);
// With what belongs to it. ENOENT if there is none.
Status remove_record(const RecordsDirectory& records, const std::string& path);
Status remove_record(const RecordsOf& of, const std::string& path);
// Aside files and marks, of any epoch.
Status forget_collected(const RecordsOf& of, const std::string& path);
// Removes what no record of this epoch owns, and empty directories. `.cairn` itself stays until the
// last claim on the covered directory is removed (tier/claim/claim.h).
Status clean_records(const RecordsDirectory& records);
Status clean_records(const RecordsOf& of);
// The same of one directory's, which goes itself if it has no records.
Status clean_records_in(const RecordsOf& of, const std::string& path);
// The record of that time still is the one in force.
bool is_same_epoch(const Record& a, const Record& b);
// Calls visit(path) for each shared file below the covered directory. What is passed over may be,
// or hold, the record of any part.
using VisitShared = std::function<Status(const std::string& path)>;
Status for_each_shared(const RecordsDirectory& records, const VisitShared& visit,
                       PassedOver* passed);
Status for_each_shared(const RecordsOf& of, const VisitShared& visit, PassedOver* passed = nullptr);
// Those in one directory ("": the covered one itself), and `deep` those below it, by their paths
// from there.
Status for_each_shared_in(const RecordsOf& of, const std::string& below, bool deep,
                          const VisitShared& visit);

}  // namespace cairn::cluster
