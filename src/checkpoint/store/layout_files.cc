#include "checkpoint/store/layout_files.h"

#include <cstring>

#include "checkpoint/store/new_file.h"
#include "file/namespace/names.h"

namespace cairn::checkpoint {
namespace {

std::string name_of(const Sha256Hash& hash, std::string_view suffix) {
  return short_hash(hash) + std::string(suffix);
}

template <typename Record>
Result<Record> load(file::FileSystem& fs, uint64_t directory, const std::string& name,
                    const Sha256Hash& hash, uint64_t longest) {
  CAIRN_TRY_ASSIGN(bytes, read_whole(fs, directory, name, longest));
  auto record = Record::read(std::move(bytes));
  if (record.ok() && record->hash() != hash)
    return fail(EUCLEAN, "%s: does not have this hash", name.c_str());
  if (!record.ok()) return annotate(record.status(), "%s", name.c_str());
  return record;
}

Result<Decomposition> load_decomposition(file::FileSystem& fs, uint64_t directory,
                                         const Sha256Hash& hash) {
  return load<Decomposition>(fs, directory, name_of(hash, decomposition_suffix), hash,
                             max_decomposition);
}

Result<Layout> load_layout(file::FileSystem& fs, uint64_t directory, const Sha256Hash& hash) {
  return load<Layout>(fs, directory, name_of(hash, layout_suffix), hash, max_layout);
}

// `there`: what looking for it found.
Status store(file::FileSystem& fs, uint64_t directory, const std::string& name,
             const std::vector<uint8_t>& record, Status there) {
  if (there.ok() || there.code() == EPROTONOSUPPORT) return there;
  if (there.code() == EUCLEAN) {
    const Status removed = file::unlink_name(fs, directory, name);
    if (!removed.ok() && removed.code() != ENOENT) return removed;
  } else if (there.code() != ENOENT) {
    return there;
  }
  const Status status = publish_file(fs, directory, name, {record, record.size(), false});
  return status.code() == EEXIST ? Status() : status;  // another rank was faster with the same
}

}  // namespace

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
  for (uint32_t i = 0; i < contents.layout().decompositions(); ++i) {
    const Decomposition& one = contents.decomposition(i);
    CAIRN_TRY(store(fs, directory, name_of(one.hash(), decomposition_suffix), one.record(),
                    load_decomposition(fs, directory, one.hash()).status()));
  }
  const Layout& layout = contents.layout();
  return store(fs, directory, name_of(layout.hash(), layout_suffix), layout.record(),
               load_layout(fs, directory, layout.hash()).status());
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
