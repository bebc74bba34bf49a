#include "cluster/plain.h"

#include <sys/stat.h>

#include <algorithm>

#include "cluster/base_file.h"
#include "file/attributes.h"
#include "file/cut.h"
#include "file/io.h"
#include "file/names.h"
#include "file/sync.h"
#include "pool/seats.h"
#include "tier/parts.h"
#include "tier/record.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

Status check_all_here(const Job& job, const Record& record, const std::string& path) {
  for (const Share& share : record.map.shares()) {
    const RecordNode& node = record.nodes[share.node];
    if (node.pool != job.own_node().pool)
      return fail(EIO, "%s: bytes of it lie in pool %s of node %s, which is not part of this job",
                  path.c_str(), node.path.c_str(), node.host.c_str());
  }
  return Status();
}

// What nobody wrote: lower's bytes, or zeros where a job that was killed may have left others.
Status fill_rest(Job& job, const Record& record, const std::string& path, file::File& part) {
  std::vector<uint8_t> buffer;
  sys::Descriptor base;
  for (const ShareMap::Piece& piece : record.map.find(0, record.size)) {
    if (piece.node != ShareMap::nobody) continue;
    CAIRN_TRY(file::punch(job.fs(), part.map(), piece.begin, piece.end - piece.begin));
    const uint64_t end =
        record.base.exists ? std::clamp(record.base.end, piece.begin, piece.end) : piece.begin;
    for (uint64_t at = piece.begin; at < end;) {
      if (!base.ok()) {
        auto opened = open_base(job.directory(), path, record.base);
        if (!opened.ok()) return opened.status();
        base = std::move(*opened);
        buffer.resize(size_t{1} << 20);
      }
      const size_t size = std::min<uint64_t>(buffer.size(), end - at);
      CAIRN_TRY(read_base(base, path, buffer.data(), size, at));
      auto written = file::write_at(part, buffer.data(), size, at);
      if (!written.ok()) return written.status();
      if (*written != size)
        return fail(ENOSPC, "%s: the pool is full at offset %llu", path.c_str(),
                    static_cast<unsigned long long>(at + *written));
      at += size;
    }
  }
  return file::truncate(job.fs(), part.map(), record.size);
}

Status set_attributes(Job& job, const Record& record, const file::Map& map) {
  pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  CAIRN_TRY(file::set_owner(job.fs(), *seat, map, record.uid, record.gid));
  CAIRN_TRY(file::set_mode(job.fs(), *seat, map, record.mode));
  return file::set_times(job.fs(), *seat, map, file::time_omit, record.mtime);
}

// The pool's directory for the file's name; made where it exists nowhere.
Result<uint64_t> parent_in_cover(Job& job, uint64_t top, const std::string& path) {
  uint64_t directory = top;
  for (size_t from = 0, slash = 0; (slash = path.find('/', from)) != std::string::npos;
       from = slash + 1) {
    CAIRN_TRY(file::enter_directory(job.fs(), directory).status());
    const std::string name = path.substr(from, slash - from);
    auto child = tier::find_child(job.fs(), directory, name);
    if (!child.ok()) return child;
    if (*child == 0) {
      file::CreateRequest request;
      request.mode = S_IFDIR | 0755;
      auto made = file::create_name(job.fs(), directory, name, request);
      if (!made.ok() && made.code() != EEXIST) return made.status();
      child =
          made.ok() ? Result<uint64_t>(made->number) : tier::find_child(job.fs(), directory, name);
      if (!child.ok()) return child;
    }
    directory = *child;
  }
  CAIRN_TRY(file::enter_directory(job.fs(), directory).status());
  return directory;
}

// Its name in the covered directory: a second one first, so that there is one at any moment.
Status put_into_cover(Job& job, const std::string& path, const Uuid& uuid, uint64_t part) {
  file::FileSystem& fs = job.fs();
  auto covers = tier::find_covers(fs, false);
  if (!covers.ok()) return covers.status();
  auto top = *covers == 0 ? covers : tier::find_child(fs, *covers, job.cover());
  if (!top.ok()) return top.status();
  if (*top == 0) return fail(ENOENT, "%s is not covered", job.directory().c_str());
  auto directory = parent_in_cover(job, *top, path);
  if (!directory.ok()) return directory.status();
  const std::string name = path.substr(path.rfind('/') + 1);
  auto present = tier::find_child(fs, *directory, name);
  if (!present.ok()) return present.status();
  if (*present == part) return Status();  // somebody was killed who had come this far
  auto parts = tier::find_parts(fs, job.cover(), false);
  if (!parts.ok()) return parts.status();
  const std::string second = hex_of(uuid) + plain_suffix;
  if (Status status = file::link_inode(fs, part, *parts, second);
      !status.ok() && status.code() != EEXIST)
    return status;
  return file::rename(fs, {*parts, second, false}, {*directory, name, false}, 0);
}

}  // namespace

Status make_plain(Job& job, const std::string& path) {
  auto record = read_record(job.directory(), path);
  if (!record.ok()) return record.status();
  CAIRN_TRY(check_all_here(job, *record, path));
  auto part = job.part(record->uuid, true);
  if (!part.ok()) return part.status();
  file::File& file = ***part;
  CAIRN_TRY(fill_rest(job, *record, path, file));
  CAIRN_TRY(set_attributes(job, *record, file.map()));
  CAIRN_TRY(file::sync_file(job.fs(), file.map()));
  CAIRN_TRY(put_into_cover(job, path, record->uuid, file.number));
  CAIRN_TRY(remove_record(job.directory(), path));
  return job.remove_part(record->uuid);
}

}  // namespace cairn::cluster
