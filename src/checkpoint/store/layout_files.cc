#include "checkpoint/store/layout_files.h"

#include <algorithm>

#include "base/saved_failure.h"
#include "checkpoint/record/records.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_names.h"

namespace cairn::checkpoint {
namespace {

template <typename Record>
Result<Record> load_one(file::FileSystem& fs, uint64_t directory, const std::string& name,
                        const Sha256Hash& hash, uint64_t longest) {
  // The record says itself how long it is: the size of its file may be what is damaged.
  CAIRN_TRY_ASSIGN(begin, read_whole(fs, directory, name, sizeof(RecordHead)));
  if (begin.size() < sizeof(RecordHead)) return fail(EUCLEAN, "%s: cut off", name.c_str());
  const uint64_t length = record_at<RecordHead>(begin.data()).length;
  CAIRN_TRY_ASSIGN(bytes, read_whole(fs, directory, name, std::min(length, longest)));
  auto record = Record::read(std::move(bytes));
  if (record.ok() && record->hash() != hash)
    return fail(EUCLEAN, "%s: does not have this hash", name.c_str());
  if (!record.ok()) return annotate(record.status(), "%s", name.c_str());
  return record;
}

// The first of both that is right.
template <typename Record>
Result<Record> load(file::FileSystem& fs, uint64_t directory, const Sha256Hash& hash,
                    std::string_view suffix, uint64_t longest) {
  const auto names = names_of_record(hash, suffix);
  auto record = load_one<Record>(fs, directory, names[0], hash, longest);
  if (record.ok()) return record;
  const SavedFailure saved(record.status());
  record = load_one<Record>(fs, directory, names[1], hash, longest);
  if (record.ok()) return record;
  return saved.restored();
}

Result<Decomposition> load_decomposition(file::FileSystem& fs, uint64_t directory,
                                         const Sha256Hash& hash) {
  return load<Decomposition>(fs, directory, hash, decomposition_suffix, max_decomposition);
}

Result<Layout> load_layout(file::FileSystem& fs, uint64_t directory, const Sha256Hash& hash) {
  return load<Layout>(fs, directory, hash, layout_suffix, max_layout);
}

template <typename Record>
Status store(file::FileSystem& fs, uint64_t directory, const Record& record,
             std::string_view suffix, uint64_t longest) {
  for (const std::string& name : names_of_record(record.hash(), suffix)) {
    const Status there = load_one<Record>(fs, directory, name, record.hash(), longest).status();
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

Result<Contents> load_contents(file::FileSystem& fs, uint64_t directory, const Sha256Hash& hash) {
  CAIRN_TRY_ASSIGN(layout, load_layout(fs, directory, hash));
  std::vector<Decomposition> decompositions;
  for (uint32_t i = 0; i < layout.decompositions(); ++i) {
    CAIRN_TRY_ASSIGN(one, load_decomposition(fs, directory, layout.decomposition_hash(i)));
    decompositions.push_back(std::move(one));
  }
  auto contents = Contents::make(std::move(layout), std::move(decompositions));
  if (!contents.ok()) return annotate(Status(EUCLEAN), "%s: damaged", short_hash(hash).c_str());
  return contents;
}

}  // namespace cairn::checkpoint
