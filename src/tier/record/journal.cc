#include "tier/record/journal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/namespace/directory.h"
#include "file/namespace/names.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr const char* journal_suffix = ".journal";
constexpr size_t slots = 2;
constexpr size_t capacity = 8 << 10;  // bytes of a slot

struct Header {
  uint32_t checksum = 0;  // of all that follows
  uint32_t size = 0;      // of the texts that follow the header
  uint64_t sequence = 0;  // the valid slot with the higher one holds the record
  uint64_t pool_directory = 0;
  uint64_t pool_generation = 0;
  uint64_t inode = 0;
  uint64_t generation = 0;
  uint64_t change_time = 0;
  uint64_t witness[format::short_witness_words] = {};  // the others are texts
};

uint32_t checksum_of(const std::string& bytes) {
  return crc32c(0, bytes.data() + sizeof(uint32_t), bytes.size() - sizeof(uint32_t));
}

std::string next_text(const std::string& texts, size_t* at) {
  const size_t end = texts.find('\0', *at);
  if (end == std::string::npos) return {};
  std::string text = texts.substr(*at, end - *at);
  *at = end + 1;
  return text;
}

// The next text as a number. 0: there is none.
uint64_t next_number(const std::string& texts, size_t* at) {
  return std::strtoull(next_text(texts, at).c_str(), nullptr, 10);
}

// Decodes the record in a slot's bytes.
JournalRecord record_of(const std::string& bytes, uint64_t* links_until, uint64_t* drain_begun) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::string texts = bytes.substr(sizeof header);
  JournalRecord record;
  size_t at = 0;
  record.directory = next_text(texts, &at);
  record.temp_name = next_text(texts, &at);
  record.name = next_text(texts, &at);
  // Older records lack the later numbers.
  *links_until = next_number(texts, &at);
  *drain_begun = next_number(texts, &at);
  record.pool_directory = header.pool_directory;
  record.pool_generation = header.pool_generation;
  record.inode = header.inode;
  record.generation = header.generation;
  record.change_time = header.change_time;
  file::WitnessWords words{};
  for (unsigned i = 0; i < words.size(); ++i)
    words[i] = i < format::short_witness_words ? header.witness[i] : next_number(texts, &at);
  record.witness = file::witness_of(words);
  return record;
}

// Checks that a drain can have written these names: any user who can write to the pool can write a
// record.
Status check_names(const JournalRecord& record) {
  if (record.directory.empty()) return Status();
  if (record.directory[0] != '/' || (record.directory + "/").find("/../") != std::string::npos)
    return fail(EUCLEAN, "the journal of a drain names the directory \"%s\"",
                file::printable_name(record.directory.data(), record.directory.size()).c_str());
  for (const std::string* name : {&record.temp_name, &record.name}) {
    if (!name->empty() && !file::is_sound_name(name->data(), name->size()))
      return fail(EUCLEAN, "the journal of a drain names the file \"%s\" in a directory",
                  file::printable_name(name->data(), name->size()).c_str());
  }
  return Status();
}

void remove_temp_files_of(const JournalRecord& record) {
  if (record.directory.empty()) return;
  const int64_t opened = lower_base(record.directory, O_RDONLY);
  if (opened < 0) return;
  const sys::Descriptor fd(static_cast<int>(opened));
  remove_temp_files(fd.get(), record.temp_name);
}

}  // namespace

Status Journal::open(file::FileSystem& fs, uint64_t covers, const std::string& cover) {
  const std::string name = cover + journal_suffix;
  auto inode = find_child(fs, covers, name);
  if (!inode.ok()) return inode.status();
  if (*inode == 0) {
    // The journal gets all its space now, so that a drain of a full pool needs no more.
    CAIRN_TRY(write_pool_file(fs, covers, name, std::string(slots * capacity, '\0')));
    inode = find_child(fs, covers, name);
    if (!inode.ok()) return inode.status();
  }
  // O_DSYNC: a record must be durable before the drain does in lower what it announces.
  file_ = std::make_unique<PoolFile>(fs, *inode, O_RDWR | O_DSYNC);
  CAIRN_TRY(file_->status());
  const Status status = read().status();  // finds the sequence
  return status.code() == EUCLEAN ? Status() : status;
}

Status Journal::remove(file::FileSystem& fs, uint64_t covers, const std::string& cover) {
  const std::string name = cover + journal_suffix;
  auto inode = find_child(fs, covers, name);
  if (!inode.ok()) return inode.status();
  if (*inode == 0) return Status();
  {
    Journal journal;
    CAIRN_TRY(journal.open(fs, covers, cover));
    auto record = journal.read();
    if (!record.ok() && record.code() != EUCLEAN) return record.status();
    if (record.ok()) remove_temp_files_of(*record);
  }
  return file::unlink_name(fs, covers, name);
}

Result<JournalRecord> Journal::read() {
  JournalRecord last;
  sequence_ = 0;
  for (size_t slot = 0; slot < slots; ++slot) {
    std::string bytes(capacity, '\0');
    auto n = file::read_at(**file_, bytes.data(), bytes.size(), slot * capacity);
    if (!n.ok()) return n.status();
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.size > capacity - sizeof header) continue;
    bytes.resize(sizeof header + header.size);
    if (header.sequence <= sequence_ || header.checksum != checksum_of(bytes)) continue;
    sequence_ = header.sequence;
    last = record_of(bytes, &links_until_, &drain_begun_);
  }
  // A record that does not count is not written again with later notes.
  const Status sound = check_names(last);
  last_ = sound.ok() ? last : JournalRecord();
  if (!sound.ok()) return sound;
  return last;
}

Status Journal::write(const JournalRecord& record) {
  Header header;
  header.sequence = sequence_ + 1;
  header.pool_directory = record.pool_directory;
  header.pool_generation = record.pool_generation;
  header.inode = record.inode;
  header.generation = record.generation;
  header.change_time = record.change_time;
  const file::WitnessWords words = file::words_of(record.witness);
  std::copy_n(words.begin(), format::short_witness_words, header.witness);
  std::vector<std::string> all = {record.directory, record.temp_name, record.name,
                                  std::to_string(links_until_), std::to_string(drain_begun_)};
  for (unsigned i = format::short_witness_words; i < words.size(); ++i)
    all.push_back(std::to_string(words[i]));
  std::string texts;
  for (const std::string& text : all) texts += text + '\0';
  if (sizeof header + texts.size() > capacity)
    return fail(ENAMETOOLONG, "%s: the path is too long", record.directory.c_str());
  header.size = static_cast<uint32_t>(texts.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += texts;
  const uint32_t checksum = checksum_of(bytes);
  std::memcpy(bytes.data(), &checksum, sizeof checksum);
  const uint64_t slot = header.sequence % slots;
  auto n = file::write_at(**file_, bytes.data(), bytes.size(), slot * capacity);
  if (n.ok()) sequence_ = header.sequence;
  if (n.ok()) last_ = record;
  return n.status();
}

Status Journal::announce_links(uint64_t until) {
  links_until_ = until;
  return write(JournalRecord(last_));
}

Status Journal::begin_drain(uint64_t time_ns) {
  drain_begun_ = time_ns;
  return write(JournalRecord(last_));
}

Status Journal::end_drain() {
  if (drain_begun_ == 0) return Status();
  drain_begun_ = 0;
  return write(JournalRecord(last_));
}

Result<bool> Journal::open_to_read(file::FileSystem& fs, uint64_t covers,
                                   const std::string& cover) {
  CAIRN_TRY_ASSIGN(inode, find_child(fs, covers, cover + journal_suffix));
  if (inode == 0) return false;
  file_ = std::make_unique<PoolFile>(fs, inode, O_RDONLY);
  CAIRN_TRY(file_->status());
  return true;
}

Result<uint64_t> Journal::drain_begun(file::FileSystem& fs, uint64_t covers,
                                      const std::string& cover) {
  Journal journal;
  CAIRN_TRY_ASSIGN(is_there, journal.open_to_read(fs, covers, cover));
  if (!is_there) return uint64_t{0};
  const Status status = journal.read().status();
  if (!status.ok() && status.code() != EUCLEAN) return status;
  return journal.drain_begun_;
}

Result<JournalRecord> Journal::last(file::FileSystem& fs, uint64_t covers,
                                    const std::string& cover) {
  Journal journal;
  CAIRN_TRY_ASSIGN(is_there, journal.open_to_read(fs, covers, cover));
  if (!is_there) return JournalRecord();
  return journal.read();
}

bool is_announced(const JournalRecord& record, const KnownCover& known, const sys::FileStat& st) {
  file::Witness announced = record.witness;
  const uint64_t mtime = sys::mtime_of(st);
  // A call that sets the present time makes atime and mtime equal; a write does not.
  if (announced.mtime == present_time && sys::atime_of(st) == mtime) announced.mtime = mtime;
  return is_remembered(known, announced, st);
}

}  // namespace cairn::tier
