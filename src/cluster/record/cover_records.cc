#include "cluster/record/cover_records.h"

#include "cluster/record/base_file.h"
#include "tier/cover/covered_directory.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"

namespace cairn::cluster {
namespace {

Status look_for_records(const RecordsOf& of, CoverRecords* opened) {
  auto records = RecordsDirectory::open_in(opened->covered, of, &opened->ignored);
  if (!records.ok() && records.code() != ENOENT) return records.status();
  opened->found = records.ok();
  if (opened->found) opened->records = std::move(*records);
  return Status();
}

}  // namespace

Result<CoverRecords> open_records_of(const tier::Cover& cover) {
  CAIRN_TRY_ASSIGN(covered, tier::open_covered(cover));
  CoverRecords opened;
  opened.covered = std::move(covered.directory);
  if (!opened.covered.ok()) return opened;
  CAIRN_TRY(look_for_records({cover.path, covered.owner}, &opened));
  CAIRN_TRY_ASSIGN(lost, tier::are_records_lost(*cover.fs, cover.name));
  opened.kept = lost || !opened.found;
  if (opened.kept) return opened;
  CAIRN_TRY_ASSIGN(exchanged,
                   tier::are_records_exchanged(*cover.fs, cover.name, opened.records.descriptor()));
  opened.kept = exchanged;
  return opened;
}

Result<CoverRecords> open_records_of(file::FileSystem& fs, const std::string& directory,
                                     const std::string& cover_name) {
  tier::Cover cover;
  cover.fs = &fs;
  cover.path = directory;
  cover.name = cover_name;
  CAIRN_TRY_ASSIGN(covers, tier::find_covers(fs, false));
  cover.covers = covers;
  const auto record = covers == 0 ? Result<tier::CoverRecord>(Status(ENOENT))
                                  : tier::read_record(fs, covers, cover_name);
  if (record.ok()) return open_records_of(cover);
  if (record.code() != ENOENT) return record.status();
  CoverRecords opened;
  CAIRN_TRY_ASSIGN(covered, open_covered(directory));
  opened.covered = std::move(covered);
  CAIRN_TRY(look_for_records({directory}, &opened));
  return opened;
}

}  // namespace cairn::cluster
