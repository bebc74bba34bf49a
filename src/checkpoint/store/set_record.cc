#include "checkpoint/store/set_record.h"

#include <algorithm>
#include <cstring>

#include "checkpoint/record/head.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {

Status check_set_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (name.empty() || name.size() > sizeof(SetRecord::name) || name[0] == '.' ||
      !std::all_of(name.begin(), name.end(), is_allowed))
    return fail(EINVAL,
                "checkpoint set '%s': expected 1 to 64 of A-Z a-z 0-9 . _ - without a leading dot",
                shown_text(name).c_str());
  return Status();
}

Uuid pool_uuid(const file::FileSystem& fs) {
  Uuid uuid;
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t half = fs.pool.superblock().uuid[i].load();
    std::memcpy(uuid.data() + 8 * i, &half, sizeof half);
  }
  return uuid;
}

SetRecord make_set_record(const Uuid& pool, const std::string& name, const Uuid& uuid,
                          uint64_t created) {
  SetRecord record{};
  std::memcpy(record.set, uuid.data(), uuid.size());
  std::memcpy(record.pool, pool.data(), pool.size());
  record.created = created;
  record.name_length = static_cast<uint32_t>(name.size());
  std::memcpy(record.name, name.data(), name.size());
  seal_record(&record, sizeof record, magic_set);
  return record;
}

Result<SetRecord> read_set_record(const uint8_t* bytes, size_t size) {
  CAIRN_TRY_ASSIGN(length, check_record(bytes, size, magic_set, sizeof(SetRecord)));
  if (length != sizeof(SetRecord))
    return fail(EUCLEAN, "record %s: %llu bytes", magic_set,
                static_cast<unsigned long long>(length));
  return record_at<SetRecord>(bytes);
}

std::string name_in(const SetRecord& record) {
  return {record.name, std::min<size_t>(record.name_length, sizeof record.name)};
}

std::vector<uint8_t> bytes_of_set(const SetRecord& record) {
  std::vector<uint8_t> bytes(set_copy_offset + sizeof record);
  std::memcpy(bytes.data(), &record, sizeof record);
  std::memcpy(bytes.data() + set_copy_offset, &record, sizeof record);
  return bytes;
}

Result<SetRecord> read_set_copies(const std::vector<uint8_t>& bytes, bool* are_both_right) {
  *are_both_right = false;
  // The second copy is read first, so that the text of an error is that of the first one.
  const uint64_t second_bytes = bytes.size() - std::min<uint64_t>(bytes.size(), set_copy_offset);
  const auto second = read_set_record(bytes.data() + (bytes.size() - second_bytes), second_bytes);
  const auto first = read_set_record(bytes.data(), bytes.size());
  for (const auto* record : {&first, &second})
    if (record->code() == EPROTONOSUPPORT) return record->status();
  *are_both_right =
      first.ok() && second.ok() && std::memcmp(&*first, &*second, sizeof(SetRecord)) == 0;
  return first.ok() || !second.ok() ? first : second;
}

}  // namespace cairn::checkpoint
