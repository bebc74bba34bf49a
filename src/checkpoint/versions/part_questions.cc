#include "checkpoint/versions/part_questions.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "checkpoint/store/set_names.h"
#include "file/data/io.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

enum What : uint32_t { manifest = 1, data, layout, decomposition, check_of_blocks };

struct Question {
  uint32_t what;
  uint32_t ranges;  // Blocks that follow
  uint64_t sequence;
  uint64_t offset;
  uint64_t size;
  Sha256Hash hash;
  uint32_t rank;
  uint32_t list_crc;
  uint64_t block_bytes;
  uint32_t part;
  uint32_t copy;  // of a record: 0 the first, 1 the second
};
// The head before the bytes of an answer, or the text of an error.
struct Answer {
  int32_t error;
  uint32_t reserved;
  uint64_t data_bytes;  // size of the data file of the requested part
};

constexpr uint64_t most_bytes = uint64_t{1} << 20;
constexpr uint64_t least_block = uint64_t{1} << 18;
constexpr uint64_t most_block = uint64_t{1} << 20;
constexpr size_t most_ranges = (Exchange::longest_question - sizeof(Question)) / sizeof(Blocks);
static_assert(sizeof(Answer) + most_bytes <= Exchange::longest_answer);

Result<size_t> read_part(file::File& file, uint64_t offset, uint64_t size, uint8_t* bytes) {
  return file::read_at(file, bytes, static_cast<size_t>(std::min(size, most_bytes)), offset);
}

}  // namespace

Result<Slot*> PartServer::slot_of(uint64_t sequence, uint32_t part) {
  const KnownVersion* const known = catalogue_.find(sequence);
  const uint32_t slot = known == nullptr ? 0 : known->slot_of(part);
  if (slot == 0)
    return fail(ENOENT, "it has no part %u of the version with sequence %llu", part,
                static_cast<unsigned long long>(sequence));
  return slot_cache_.get(slot);
}

Status PartServer::check(const uint8_t* question, size_t size, uint64_t sequence) {
  const auto asked = record_at<Question>(question);
  if (asked.ranges > most_ranges || size < sizeof asked + asked.ranges * sizeof(Blocks) ||
      asked.block_bytes < least_block || asked.block_bytes > most_block || asked.size > max_region)
    return fail(EPROTO, "question of a node: cut off");
  CAIRN_TRY_ASSIGN(slot, slot_of(sequence, asked.part));
  const CheckedFile data = in_pool(slot->data_file(), data_name(slot->ids().number));
  CAIRN_TRY_ASSIGN(list, read_list(data, asked.offset, asked.size, asked.block_bytes,
                                   asked.list_crc, asked.rank));
  std::vector<Blocks> ranges(asked.ranges);
  std::memcpy(ranges.data(), question + sizeof asked, ranges.size() * sizeof(Blocks));
  for (const Blocks& range : ranges)
    if (range.first > list.size() || range.count > list.size() - range.first)
      return fail(EPROTO, "question of a node: rank %u does not have these blocks", asked.rank);
  return checkpoint::check_blocks(data, asked.offset, asked.size, asked.block_bytes, list, ranges,
                                  asked.rank);
}

Result<size_t> PartServer::answer_bytes(const void* question, size_t size, uint8_t* bytes,
                                        uint64_t* data_bytes) {
  if (size < sizeof(Question)) return fail(EPROTO, "question of a node: cut off");
  const auto asked = record_at<Question>(question);
  switch (asked.what) {
    case manifest: {
      CAIRN_TRY_ASSIGN(slot, slot_of(asked.sequence, asked.part));
      *data_bytes = slot->data_file().inode->size.load();
      return read_part(slot->manifest_file(), asked.offset, asked.size, bytes);
    }
    case data: {
      CAIRN_TRY_ASSIGN(slot, slot_of(asked.sequence, asked.part));
      *data_bytes = slot->data_file().inode->size.load();
      return read_part(slot->data_file(), asked.offset, asked.size, bytes);
    }
    case layout:
    case decomposition: {
      const auto names =
          names_of_record(asked.hash, asked.what == layout ? layout_suffix : decomposition_suffix);
      const std::string& name = names[asked.copy != 0 ? 1 : 0];
      CAIRN_TRY_ASSIGN(number, find_name(set_.fs(), set_.directory(), name));
      if (number == 0) return fail(ENOENT, "%s: there is none", name.c_str());
      tier::PoolFile file(set_.fs(), number, O_RDONLY);
      CAIRN_TRY(file.status());
      return read_part(*file, asked.offset, asked.size, bytes);
    }
    case check_of_blocks: {
      CAIRN_TRY(check(static_cast<const uint8_t*>(question), size, asked.sequence));
      return size_t{0};
    }
    default:
      return fail(EPROTO, "question of a node: unknown kind");
  }
}

size_t PartServer::serve(const void* question, size_t size, void* answer) {
  auto* const bytes = static_cast<uint8_t*>(answer) + sizeof(Answer);
  Answer head{};
  size_t length = 0;
  if (const auto got = answer_bytes(question, size, bytes, &head.data_bytes); got.ok()) {
    length = *got;
  } else {
    head.error = got.code();
    length = std::strlen(last_detail());
    std::memcpy(bytes, last_detail(), length);
  }
  std::memcpy(answer, &head, sizeof head);
  return sizeof head + length;
}

Result<size_t> PartClient::ask(const void* question, size_t size, void* bytes, size_t capacity) {
  std::vector<uint8_t> answer(sizeof(Answer) +
                              std::max<size_t>(capacity, static_cast<size_t>(detail_capacity)));
  CAIRN_TRY_ASSIGN(got, exchange_.ask(node_, question, size, answer.data(), answer.size()));
  if (got < sizeof(Answer)) return fail(EPROTO, "%s: its answer is cut off", name().c_str());
  const auto head = record_at<Answer>(answer.data());
  const size_t length = got - sizeof(Answer);
  if (head.error != 0)
    return fail(head.error, "%s: %s", name().c_str(),
                std::string(reinterpret_cast<const char*>(answer.data()) + sizeof head,
                            std::min(length, static_cast<size_t>(detail_capacity)))
                    .c_str());
  if (length > capacity) return fail(EPROTO, "%s: its answer is too long", name().c_str());
  data_bytes_ = head.data_bytes;
  if (length != 0) std::memcpy(bytes, answer.data() + sizeof head, length);
  return length;
}

Status PartClient::read(uint32_t what, uint64_t sequence, uint64_t offset, void* bytes,
                        uint64_t size) {
  auto* to = static_cast<uint8_t*>(bytes);
  Question question{};
  question.what = what;
  question.part = part_;
  question.sequence = sequence;
  while (size != 0) {
    question.offset = offset;
    question.size = std::min(size, most_bytes);
    CAIRN_TRY_ASSIGN(got, ask(&question, sizeof question, to, static_cast<size_t>(question.size)));
    if (got == 0)
      return fail(EUCLEAN, "%s: its %s is cut off", name().c_str(),
                  what == manifest ? "manifest" : "data");
    offset += got;
    to += got;
    size -= got;
  }
  return Status();
}

Status PartClient::read_manifest(uint64_t sequence, uint64_t offset, void* bytes, uint64_t size) {
  return read(manifest, sequence, offset, bytes, size);
}

Status PartClient::read_data(uint64_t sequence, uint64_t offset, void* bytes, uint64_t size) {
  return read(data, sequence, offset, bytes, size);
}

Result<std::vector<uint8_t>> PartClient::fetch(uint32_t what, uint64_t sequence, uint64_t offset,
                                               uint64_t size) {
  std::vector<uint8_t> bytes;
  while (bytes.size() < size) {
    const size_t held = bytes.size();
    bytes.resize(held + static_cast<size_t>(std::min(size - held, most_bytes)));
    CAIRN_TRY(read(what, sequence, offset + held, bytes.data() + held, bytes.size() - held));
  }
  return bytes;
}

Result<std::vector<uint8_t>> PartClient::fetch_manifest(uint64_t sequence, uint64_t size) {
  return fetch(manifest, sequence, 0, size);
}

Result<std::vector<uint8_t>> PartClient::fetch_data(uint64_t sequence, uint64_t offset,
                                                    uint64_t size) {
  return fetch(data, sequence, offset, size);
}

Result<std::vector<uint8_t>> PartClient::read_record(const RecordFile& file) {
  Question question{};
  question.copy = file.copy;
  question.what = file.suffix == layout_suffix ? layout : decomposition;
  question.hash = file.hash;
  question.size = most_bytes;
  std::vector<uint8_t> record;
  for (;;) {
    question.offset = record.size();
    record.resize(record.size() + static_cast<size_t>(most_bytes));
    CAIRN_TRY_ASSIGN(got, ask(&question, sizeof question, record.data() + question.offset,
                              static_cast<size_t>(most_bytes)));
    record.resize(static_cast<size_t>(question.offset) + got);
    if (got < most_bytes || record.size() > file.longest) return record;
  }
}

Status PartClient::check_blocks(uint64_t sequence, const Region& region,
                                const std::vector<Blocks>& blocks) {
  Question question{};
  question.what = check_of_blocks;
  question.part = part_;
  question.sequence = sequence;
  question.offset = region.offset;
  question.size = region.bytes;
  question.rank = region.rank;
  question.list_crc = region.list_crc;
  question.block_bytes = region.block_bytes;
  for (size_t at = 0; at < blocks.size(); at += most_ranges) {
    question.ranges = static_cast<uint32_t>(std::min(most_ranges, blocks.size() - at));
    std::vector<uint8_t> message(sizeof question + question.ranges * sizeof(Blocks));
    std::memcpy(message.data(), &question, sizeof question);
    std::memcpy(message.data() + sizeof question, blocks.data() + at,
                question.ranges * sizeof(Blocks));
    CAIRN_TRY(ask(message.data(), message.size(), nullptr, 0).status());
  }
  return Status();
}

}  // namespace cairn::checkpoint
