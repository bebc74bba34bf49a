#include "cluster/record/record.h"

#include <cstring>

#include "base/crc32c.h"
#include "cluster/record/codec.h"
#include "tier/system/system.h"

namespace cairn::cluster {
namespace {

constexpr char magic[8] = {'C', 'A', 'I', 'R', 'N', 'R', 'E', 'C'};
constexpr uint32_t version = 2;
constexpr uint32_t version_without_birth = 1;  // of the base file
constexpr size_t crc_at = 12;                  // of everything behind it
constexpr size_t head_end = 16;                // magic, version, checksum

bool is_sound(const ByteRun& run) {
  if (run.length == 0 || run.count == 0) return false;
  if (run.count == 1) return run.stride == 0 && run.offset <= INT64_MAX - run.length;
  return run.stride > run.length && run.count <= INT64_MAX / run.stride &&
         run.offset <= INT64_MAX - run.stride * run.count;
}

}  // namespace

uint32_t Record::node_of(const RecordNode& node) {
  for (uint32_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].pool == node.pool) return i;
  nodes.push_back(node);
  return static_cast<uint32_t>(nodes.size() - 1);
}

std::vector<uint8_t> bytes_of(const Record& record) {
  Packer out;
  out.append(magic, sizeof magic);
  out.put(version);
  out.put(uint32_t{0});
  out.append(record.uuid.data(), record.uuid.size());
  for (const uint64_t word : {record.epoch, record.size, record.mtime}) out.put(word);
  for (const uint32_t word : {record.mode, record.uid, record.gid}) out.put(word);
  out.put(static_cast<uint32_t>(record.base.exists ? 1 : 0));
  for (const uint64_t word :
       {record.base.inode, record.base.size, record.base.mtime, record.base.end, record.base.birth})
    out.put(word);
  out.put(static_cast<uint32_t>(record.nodes.size()));
  out.put(static_cast<uint32_t>(record.map.shares().size()));
  for (const RecordNode& node : record.nodes) {
    out.append(node.pool.data(), node.pool.size());
    out.text(node.host);
    out.text(node.path);
  }
  for (const Share& share : record.map.shares()) {
    for (const uint64_t word :
         {share.run.offset, share.run.length, share.run.stride, share.run.count})
      out.put(word);
    out.put(uint64_t{share.node});
  }
  const uint32_t crc = crc32c(0, out.bytes.data() + head_end, out.bytes.size() - head_end);
  std::memcpy(out.bytes.data() + crc_at, &crc, sizeof crc);
  return out.bytes;
}

Result<Record> record_of(const void* bytes, size_t size, const std::string& path) {
  Unpacker in(bytes, size);
  char start[sizeof magic] = {};
  in.take(start, sizeof start);
  const auto found = in.get<uint32_t>();
  const auto crc = in.get<uint32_t>();
  if (!in.ok() || std::memcmp(start, magic, sizeof magic) != 0)
    return fail(EUCLEAN, "%s: not a record of a shared file", path.c_str());
  if (found != version && found != version_without_birth)
    return fail(EPROTONOSUPPORT, "%s: a record of version %u; this program knows versions up to %u",
                path.c_str(), found, version);
  if (crc != crc32c(0, static_cast<const uint8_t*>(bytes) + head_end, size - head_end))
    return fail(EUCLEAN, "%s: the record is damaged (checksum)", path.c_str());
  Record record;
  in.take(record.uuid.data(), record.uuid.size());
  for (uint64_t* word : {&record.epoch, &record.size, &record.mtime}) *word = in.get<uint64_t>();
  for (uint32_t* word : {&record.mode, &record.uid, &record.gid}) *word = in.get<uint32_t>();
  record.base.exists = in.get<uint32_t>() != 0;
  for (uint64_t* word :
       {&record.base.inode, &record.base.size, &record.base.mtime, &record.base.end})
    *word = in.get<uint64_t>();
  if (found != version_without_birth) record.base.birth = in.get<uint64_t>();
  const auto nodes = in.get<uint32_t>();
  const auto shares = in.get<uint32_t>();
  for (uint32_t i = 0; i < nodes && in.ok(); ++i) {
    RecordNode node;
    in.take(node.pool.data(), node.pool.size());
    node.host = in.text();
    node.path = in.text();
    record.nodes.push_back(std::move(node));
  }
  constexpr uint32_t permissions = 07777;
  bool sound = in.ok() && (record.mode & ~permissions) == 0;
  std::vector<Share> all;
  for (uint32_t i = 0; i < shares && sound && in.ok(); ++i) {
    Share share;
    for (uint64_t* word :
         {&share.run.offset, &share.run.length, &share.run.stride, &share.run.count})
      *word = in.get<uint64_t>();
    share.node = static_cast<uint32_t>(in.get<uint64_t>());
    sound = is_sound(share.run) && share.node < nodes;
    all.push_back(share);
  }
  if (!sound || !in.ok() || in.left() != 0)
    return fail(EUCLEAN, "%s: the record is damaged (contents)", path.c_str());
  record.map.set(std::move(all));
  return record;
}

}  // namespace cairn::cluster
