#include "tier/record/record.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/namespace/names.h"
#include "pool/lanes/seats.h"
#include "tier/system/listing.h"
#include "tier/system/pool_file.h"

namespace cairn::tier {
namespace {

constexpr const char* cover_suffix = ".cover";
constexpr size_t longest_file = 64 << 10;

// Fields are "key=value", each ended by a NUL, which a path cannot hold.
std::string text_of(const CoverRecord& record) {
  std::string text = "cairn cover 1";
  text += '\0';
  const auto add = [&text](const char* key, const std::string& value) {
    text += std::string(key) + "=" + value;
    text += '\0';
  };
  const auto add_number = [&](const char* key, uint64_t value, uint64_t unknown) {
    if (value != unknown) add(key, std::to_string(value));
  };
  add("path", record.path);
  add("job", record.job);
  add("keep", record.keep ? "1" : "0");
  if (!record.launch.empty()) add("launch", record.launch);
  if (!record.token.empty()) add("token", record.token);
  if (!record.earlier_token.empty()) add("earlier", record.earlier_token);
  add_number("owner", record.owner, no_owner);
  add_number("directory_owner", record.directory_owner, no_owner);
  add_number("directory_rights", record.directory_rights, 0);
  add_number("device", record.marks.device, 0);
  add_number("inode", record.marks.inode, 0);
  add_number("birth", record.marks.birth, 0);
  if (record.records_lost) add("records", "lost");
  return text;
}

uint64_t number_of(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

Result<CoverRecord> record_of(const std::string& text, const std::string& name) {
  CoverRecord record;
  bool known = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    if (end == std::string::npos) break;
    const std::string field = text.substr(at, end - at);
    at = end + 1;
    if (field == "cairn cover 1") known = true;
    const size_t equals = field.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = field.substr(0, equals);
    const std::string value = field.substr(equals + 1);
    if (key == "path") record.path = value;
    if (key == "job") record.job = value;
    if (key == "keep") record.keep = value == "1";
    if (key == "launch") record.launch = value;
    if (key == "token" && is_token(value)) record.token = value;
    if (key == "earlier" && is_token(value)) record.earlier_token = value;
    if (key == "owner") record.owner = number_of(value);
    if (key == "directory_owner") record.directory_owner = number_of(value);
    if (key == "directory_rights") record.directory_rights = number_of(value);
    if (key == "device") record.marks.device = number_of(value);
    if (key == "inode") record.marks.inode = number_of(value);
    if (key == "birth") record.marks.birth = number_of(value);
    if (key == "records") record.records_lost = value == "lost";
  }
  const bool is_absolute =
      record.path.rfind('/', 0) == 0 && (record.path + "/").find("/../") == std::string::npos;
  if (!known || !is_absolute || cover_name(record.path) != name)
    return fail(EIO, "/%s/%s%s: the record of a cover is damaged", covers_directory, name.c_str(),
                cover_suffix);
  return record;
}

}  // namespace

std::string cover_name(const std::string& real_path) {
  uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : real_path) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  char text[32];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

Result<uint64_t> find_child(file::FileSystem& fs, uint64_t directory, const std::string& text) {
  auto name = file::make_name(text.data(), text.size());
  if (!name.ok()) return name.status();
  auto inode = file::live_inode(fs, directory);
  if (!inode.ok()) return inode.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto slot = file::find_name(fs, {*inode, directory}, *name);
  if (slot.ok()) return slot->inode;
  if (slot.code() == ENOENT) return uint64_t{0};
  return slot.status();
}

Result<uint64_t> find_or_make(file::FileSystem& fs, uint64_t directory, const std::string& name,
                              uint32_t mode) {
  auto found = find_child(fs, directory, name);
  if (!found.ok() || *found != 0 || mode == 0) return found;
  file::CreateRequest request;
  request.mode = mode;
  auto made = file::create_name(fs, directory, name, request);
  if (made.ok()) return made->number;
  if (made.code() != EEXIST) return made.status();
  return find_child(fs, directory, name);
}

Result<uint64_t> find_covers(file::FileSystem& fs, bool make) {
  return find_or_make(fs, format::root_inode, covers_directory, make ? S_IFDIR | 0700 : 0);
}

Result<std::string> read_pool_file(file::FileSystem& fs, uint64_t inode) {
  PoolFile file(fs, inode, O_RDONLY);
  CAIRN_TRY(file.status());
  std::string text(std::min<uint64_t>((*file).inode->size.load(), longest_file), '\0');
  auto n = file::read_at(*file, text.data(), text.size(), 0);
  if (!n.ok()) return n.status();
  text.resize(*n);
  return text;
}

Status write_pool_file(file::FileSystem& fs, uint64_t directory, const std::string& name,
                       const std::string& text) {
  const std::string temp_name = name + ".new";
  file::CreateRequest request;
  request.mode = S_IFREG | 0600;
  // A killed process may have left a file of this name. No other process writes one, because
  // writers hold the lock on covers.
  if (Status status = file::unlink_name(fs, directory, temp_name);
      !status.ok() && status.code() != ENOENT)
    return status;
  auto made = file::create_name(fs, directory, temp_name, request);
  if (!made.ok()) return made.status();
  {
    PoolFile file(fs, made->number, O_WRONLY);
    CAIRN_TRY(file.status());
    auto n = file::write_at(*file, text.data(), text.size(), 0);
    if (!n.ok()) return n.status();
    if (*n != text.size()) return fail(ENOSPC, "%s: the pool is full", name.c_str());
    CAIRN_TRY(file::sync_file(fs, *made));
  }
  return file::rename(fs, {directory, temp_name, false}, {directory, name, false}, 0);
}

Result<CoverRecord> read_record(file::FileSystem& fs, uint64_t covers, const std::string& name) {
  // Another process may replace or remove the record between the two steps.
  constexpr int most_tries = 16;
  for (int tries = 1;; ++tries) {
    CAIRN_TRY_ASSIGN(inode, find_child(fs, covers, name + cover_suffix));
    if (inode == 0) return fail(ENOENT, "the pool has no such cover");
    auto text = read_pool_file(fs, inode);
    if (text.code() == ESTALE && tries < most_tries) continue;
    if (!text.ok()) return text.status();
    return record_of(*text, name);
  }
}

Status write_record(file::FileSystem& fs, uint64_t covers, const std::string& name,
                    const CoverRecord& record) {
  return write_pool_file(fs, covers, name + cover_suffix, text_of(record));
}

Status remove_record(file::FileSystem& fs, uint64_t covers, const std::string& name) {
  return file::unlink_name(fs, covers, name + cover_suffix);
}

Status for_each_record(
    file::FileSystem& fs,
    const std::function<Status(const std::string& name, const CoverRecord& record)>& visit) {
  auto covers = find_covers(fs, false);
  if (!covers.ok()) return covers.status();
  if (*covers == 0) return Status();
  auto inode = file::live_inode(fs, *covers);
  if (!inode.ok()) return inode.status();
  // A record that is written anew meanwhile may be listed at its old place and at its new one.
  std::set<std::string> visited;
  return for_each_name(fs, {*inode, *covers}, false, [&](const file::Listed& listed) -> Status {
    const std::string file = name_of(listed);
    const std::string end = cover_suffix;
    if (file.size() <= end.size() || file.compare(file.size() - end.size(), end.size(), end) != 0)
      return Status();
    const std::string name = file.substr(0, file.size() - end.size());
    auto record = read_record(fs, *covers, name);
    if (record.code() == ENOENT) return Status();  // the cover was discarded just now
    if (!record.ok()) return record.status();
    return visited.insert(name).second ? visit(name, *record) : Status();
  });
}

}  // namespace cairn::tier
