#include "checkpoint/store/layout_files.h"

#include <algorithm>

#include "base/saved_failure.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_names.h"

namespace cairn::checkpoint {
namespace {

template <typename Record>
Result<Record> load_one(const RecordFile& file, const ReadRecordFile& read) {
  CAIRN_TRY_ASSIGN(bytes, read(file));
  auto record = Record::read(std::move(bytes));
  if (record.ok() && record->hash() != file.hash)
    return fail(EUCLEAN, "%s: does not have this hash", file.name().c_str());
  if (!record.ok()) return annotate(record.status(), "%s", file.name().c_str());
  return record;
}

// The first of the two files that is right counts. If neither is, the error is that of the first.
template <typename Record>
Result<Record> load(const Sha256Hash& hash, std::string_view suffix, uint64_t longest,
                    const ReadRecordFile& read) {
  auto record = load_one<Record>({hash, suffix, longest, 0}, read);
  if (record.ok()) return record;
  const SavedFailure saved(record.status());
  record = load_one<Record>({hash, suffix, longest, 1}, read);
  if (record.ok()) return record;
  return saved.restored();
}

// Reads records from the set's directory in a pool.
ReadRecordFile reads_from(file::FileSystem& fs, uint64_t directory) {
  return [&fs, directory](const RecordFile& file) -> Result<std::vector<uint8_t>> {
    // The record says itself how long it is: the size of its file may be what is damaged.
    CAIRN_TRY_ASSIGN(begin, read_whole(fs, directory, file.name(), sizeof(RecordHead)));
    if (begin.size() < sizeof(RecordHead)) return fail(EUCLEAN, "%s: cut off", file.name().c_str());
    const uint64_t length = record_at<RecordHead>(begin.data()).length;
    return read_whole(fs, directory, file.name(), std::min(length, file.longest));
  };
}

template <typename Record>
Status store(file::FileSystem& fs, uint64_t directory, const Record& record,
             std::string_view suffix, uint64_t longest) {
  const ReadRecordFile read = reads_from(fs, directory);
  for (const uint32_t copy : {0U, 1U}) {
    const RecordFile file{record.hash(), suffix, longest, copy};
    const std::string name = file.name();
    const Status there = load_one<Record>(file, read).status();
    if (there.code() == EPROTONOSUPPORT) return there;
    if (there.ok()) continue;
    if (there.code() != ENOENT) CAIRN_TRY(remove_name(fs, directory, name));
    const std::vector<uint8_t>& bytes = record.record();
    const Status status = publish_file(fs, directory, name, {bytes, bytes.size(), false});
    // EEXIST: another rank was faster with the same.
    if (!status.ok() && status.code() != EEXIST) return status;
  }
  return Status();
}

}  // namespace

std::array<std::string, 2> names_of_record(const Sha256Hash& hash, std::string_view suffix) {
  const std::string name = short_hash(hash) + std::string(suffix);
  return {name, name + std::string(copy_suffix)};
}

std::string RecordFile::name() const { return names_of_record(hash, suffix)[copy]; }

std::string short_hash(const Sha256Hash& hash) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < 16; ++i) {
    text += digits[hash[i] >> 4];
    text += digits[hash[i] & 15];
  }
  return text;
}

Status store_contents(file::FileSystem& fs, uint64_t directory, const Contents& contents) {
  for (uint32_t i = 0; i < contents.layout().decompositions(); ++i)
    CAIRN_TRY(
        store(fs, directory, contents.decomposition(i), decomposition_suffix, max_decomposition));
  return store(fs, directory, contents.layout(), layout_suffix, max_layout);
}

Result<Contents> load_contents(const Sha256Hash& hash, const ReadRecordFile& read) {
  CAIRN_TRY_ASSIGN(layout, load<Layout>(hash, layout_suffix, max_layout, read));
  std::vector<Decomposition> decompositions;
  for (uint32_t i = 0; i < layout.decompositions(); ++i) {
    CAIRN_TRY_ASSIGN(one, load<Decomposition>(layout.decomposition_hash(i), decomposition_suffix,
                                              max_decomposition, read));
    decompositions.push_back(std::move(one));
  }
  auto contents = Contents::make(std::move(layout), std::move(decompositions));
  if (!contents.ok()) return annotate(Status(EUCLEAN), "%s: damaged", short_hash(hash).c_str());
  return contents;
}

Sha256Hash layout_of(const VersionRecord& version) {
  Sha256Hash hash;
  std::copy(std::begin(version.layout), std::end(version.layout), hash.begin());
  return hash;
}

Result<Contents> load_contents(file::FileSystem& fs, uint64_t directory, const Sha256Hash& hash) {
  return load_contents(hash, reads_from(fs, directory));
}

}  // namespace cairn::checkpoint
