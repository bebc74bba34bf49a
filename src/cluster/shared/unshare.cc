#include "cluster/shared/unshare.h"

#include <sys/stat.h>

#include <algorithm>

#include "cluster/record/base_file.h"
#include "cluster/shared/by_name.h"
#include "cluster/shared/held_record.h"
#include "cluster/shared/shared_file.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/namespace/names.h"
#include "pool/lanes/seats.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

Status check_nodes(const Job& job, const Record& record, const std::string& path) {
  for (const Share& share : record.map.shares()) {
    const RecordNode& node = record.nodes[share.node];
    if (job.number_of(node.pool) == job.nodes())
      return job.not_in_job(node, path, share.run.offset, share.run.end());
  }
  return Status();
}

Status write_all(file::File& part, const std::string& path, const Target& piece) {
  auto written = file::write_at(part, piece.buffer, piece.size, piece.offset);
  if (!written.ok()) return written.status();
  if (*written == piece.size) return Status();
  const unsigned long long reached = piece.offset + *written;
  return fail(ENOSPC, "%s: the pool is full at offset %llu", path.c_str(), reached);
}

// What other nodes hold. The record goes on saying so, whatever is here as well.
class Fetching {
 public:
  Fetching(SharedFile& from, file::File& part, const std::string& path)
      : from_(from), part_(part), path_(path), buffer_(most_bytes) {}

  Status add(uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end;) {
      if (used_ == buffer_.size() || pieces_.size() == most_pieces) CAIRN_TRY(finish());
      const size_t size = std::min<uint64_t>(buffer_.size() - used_, end - at);
      pieces_.push_back({buffer_.data() + used_, size, at});
      used_ += size;
      at += size;
    }
    return Status();
  }
  Status finish() {
    if (!pieces_.empty()) {
      auto read = from_.read(pieces_.data(), pieces_.size());
      if (!read.ok()) return read.status();
    }
    for (const Target& piece : pieces_) CAIRN_TRY(write_all(part_, path_, piece));
    pieces_.clear();
    used_ = 0;
    return Status();
  }

 private:
  static constexpr size_t most_pieces = 4096;
  SharedFile& from_;
  file::File& part_;
  const std::string& path_;
  Bytes buffer_;
  size_t used_ = 0;
  std::vector<Target> pieces_;
};

Status fetch_rest(Job& job, const Record& record, const std::string& path, file::File& part) {
  auto from = SharedFile::look(job, path);
  if (!from.ok()) return from.status();
  Fetching fetching(**from, part, path);
  for (const ShareMap::Piece& piece : record.map.find(0, record.size)) {
    if (piece.node == ShareMap::nobody) continue;
    if (record.nodes[piece.node].pool == job.own_node().pool) continue;
    CAIRN_TRY(fetching.add(piece.begin, piece.end));
  }
  return fetching.finish();
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
      CAIRN_TRY(write_all(part, path, {buffer.data(), size, at}));
      at += size;
    }
  }
  return file::truncate(job.fs(), part.map(), record.size);
}

Status give_attributes(Job& job, const Record& record, const file::Map& map) {
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
  const std::string second = hex_of(uuid) + unshared_suffix;
  if (Status status = file::link_inode(fs, part, *parts, second);
      !status.ok() && status.code() != EEXIST)
    return status;
  return file::rename(fs, {*parts, second, false}, {*directory, name, false}, 0);
}

}  // namespace

Status unshare(Job& job, const std::string& path, bool empty) {
  return with_record(job, path, [&](Record& record) -> Status {
    CAIRN_TRY(check_closed(job, record, path));
    if (empty) {
      record.size = record.base.end = 0;
      record.map.clear();
    }
    CAIRN_TRY(check_nodes(job, record, path));
    auto part = job.part(record.uuid, true);
    if (!part.ok()) return part.status();
    file::File& file = ***part;
    CAIRN_TRY(fetch_rest(job, record, path, file));
    CAIRN_TRY(fill_rest(job, record, path, file));
    CAIRN_TRY(give_attributes(job, record, file.map()));
    CAIRN_TRY(file::sync_file(job.fs(), file.map()));
    CAIRN_TRY(put_into_cover(job, path, record.uuid, file.number));
    CAIRN_TRY(remove_record(job.records(), path));
    CAIRN_TRY(remove_parts(job, record));
    return job.remove_part(record.uuid);
  });
}

}  // namespace cairn::cluster
