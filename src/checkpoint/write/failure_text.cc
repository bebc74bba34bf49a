#include "checkpoint/write/failure_text.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <vector>

#include "checkpoint/define/agreement.h"
#include "checkpoint/versions/catalogue.h"
#include "file/data/io.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

struct TextRecord {
  uint64_t tag;
  char text[detail_capacity];
};

constexpr uint64_t text_stride = 1024;
static_assert(sizeof(TextRecord) <= text_stride &&
              texts_begin + 3 * text_stride <= agree_ranges_begin);

uint64_t offset_of(TextPlace place) {
  return texts_begin + text_stride * static_cast<uint64_t>(place);
}

std::string text_of(const TextRecord& record) {
  return std::string(record.text, strnlen(record.text, sizeof record.text));
}

}  // namespace

void tell_text(const Run& run, TextPlace place, uint64_t tag, const std::string& text) {
  const SetFile& set = run.set();
  const auto number = tier::find_or_make(set.fs(), set.directory(), agree_name, S_IFREG | 0600);
  if (!number.ok()) return;
  tier::PoolFile file(set.fs(), *number, O_RDWR);
  if (!file.status().ok()) return;
  TextRecord record{};
  record.tag = tag;
  text.copy(record.text, sizeof record.text - 1);
  file::write_at(*file, &record, sizeof record, offset_of(place)).status().ignore();
}

std::string told_text(const Run& run, TextPlace place, uint64_t tag) {
  const SetFile& set = run.set();
  const auto number = tier::find_or_make(set.fs(), set.directory(), agree_name, S_IFREG | 0600);
  if (!number.ok()) return "";
  tier::PoolFile file(set.fs(), *number, O_RDWR);
  if (!file.status().ok()) return "";
  TextRecord record{};
  const auto read = file::read_at(*file, &record, sizeof record, offset_of(place));
  if (!read.ok() || *read != sizeof record || record.tag != tag) return "";
  return text_of(record);
}

std::string share_text(Run* run, Run::Purpose purpose, bool is_mine, const std::string& text,
                       uint64_t arrived) {
  if (run->all_ranks() == 1) return text;
  const uint64_t tag = run->meetings();
  if (is_mine) tell_text(*run, TextPlace::meeting, tag, text);
  if (!run->barrier_max(purpose, 0, arrived).ok()) return is_mine ? text : "";
  const std::string here = told_text(*run, TextPlace::meeting, tag);
  if (run->exchange() == nullptr) return here;
  TextRecord own{};
  here.copy(own.text, sizeof own.text - 1);
  std::vector<TextRecord> all(run->nodes());
  if (!run->exchange()->gather_to_all(&own, sizeof own, all.data()).ok()) return here;
  for (const TextRecord& one : all)
    if (one.text[0] != 0) return text_of(one);
  return "";
}

}  // namespace cairn::checkpoint
