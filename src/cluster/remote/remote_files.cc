#include "cluster/remote/remote_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cluster/local/local_entry.h"
#include "cluster/local/name_op.h"
#include "cluster/record/uuid.h"
#include "cluster/remote/remote_pin.h"
#include "cluster/remote/remote_reader.h"
#include "cluster/remote/remote_writer.h"
#include "cluster/rpc/broadcast.h"

namespace cairn::cluster {
namespace {

Status change(Job& job, const std::string& path, const FileChange& change) {
  return ask_its_node(job, path, request_of(Op::change_file),
                      with_bytes(path, &change, sizeof change), [] { return Status(); })
      .status();
}

}  // namespace

uint64_t inode_number(const Job& job, uint32_t node, uint64_t inode) {
  Uuid mixed = job.node(node).pool;
  constexpr uint64_t spread = 0x9e3779b97f4a7c15ULL;
  uint64_t word = 0;
  std::memcpy(&word, mixed.data(), sizeof word);
  word ^= inode * spread;
  std::memcpy(mixed.data(), &word, sizeof word);
  return inode_number(mixed);
}

void displace_on(Job& job, const std::string& path, const NodeNumbers& nodes) {
  if (nodes.empty()) return;
  Request request = request_of(Op::change_name);
  request.which = static_cast<uint32_t>(NameOp::displace);
  ask_nodes(job, nodes, request, path + '\0').status.ignore();  // as remote_files.h says
}

void displace_everywhere(Job& job, const std::string& path) {
  change_name(job, {NameOp::displace, 0, path, ""}).ignore();  // as remote_files.h says
  if (job.has_messages()) displace_on(job, path, other_nodes(job));
}

Result<std::unique_ptr<file::File>> open_remote(Job& job, const std::string& path, int flags) {
  CAIRN_TRY_ASSIGN(hold, RemotePin::take(job, path, false));
  const FileState& state = hold->state();
  const tier::SourceAttributes attributes = {state.mode, state.uid, state.gid, state.size,
                                             state.mtime};
  return open_with_reader(
      job, attributes, flags, [&job, hold](const Target& piece) -> Result<uint64_t> {
        const uint64_t size = hold->state().size;
        if (piece.offset >= size) return uint64_t{0};
        const uint64_t n = std::min<uint64_t>(piece.size, size - piece.offset);
        return read_remote(job, hold->node(), hold->file(), {piece.buffer, n, piece.offset});
      });
}

Result<std::unique_ptr<file::File>> open_remote_writer(Job& job, const std::string& path,
                                                       int flags) {
  CAIRN_TRY_ASSIGN(hold, RemotePin::take(job, path, true));
  const FileState& state = hold->state();
  auto written = std::make_shared<RemoteWriter>(hold, path);
  job.add_contents(written);
  if ((flags & O_TRUNC) != 0) CAIRN_TRY(written->set_size(0));
  return tier::open_source(job.fs(), {state.mode, state.uid, state.gid, state.size, state.mtime},
                           flags & ~O_TRUNC, written);
}

Result<uint64_t> read_remote(Job& job, uint32_t node, const Uuid& file, const Target& piece) {
  uint64_t done = 0;
  while (done < piece.size) {
    const ByteRun run = {piece.offset + done, std::min<uint64_t>(piece.size - done, most_bytes)};
    Request request = request_of(Op::read_file);
    request.uuid = file;
    request.runs = 1;
    std::vector<uint8_t> bytes(sizeof request + sizeof run);
    std::memcpy(bytes.data(), &request, sizeof request);
    std::memcpy(bytes.data() + sizeof request, &run, sizeof run);
    const size_t capacity = sizeof(Reply) + std::max<uint64_t>(run.length, detail_capacity);
    Buffer reply = job.buffers().take(capacity);
    Question question = {node, bytes.data(), bytes.size(), reply.bytes.get(), capacity, 0};
    CAIRN_TRY(job.ask(&question, 1));
    if (question.got != sizeof(Reply) + run.length)
      return fail(EIO, "node %s: invalid reply: not the requested bytes", job.host_of(node));
    std::memcpy(static_cast<uint8_t*>(piece.buffer) + done, reply.bytes.get() + sizeof(Reply),
                run.length);
    job.buffers().give_back(std::move(reply));
    done += run.length;
  }
  return done;
}

Status set_remote_size(Job& job, const std::string& path, uint64_t size) {
  FileChange wanted;
  wanted.size = size;
  return change(job, path, wanted);
}

Status set_remote_attributes(Job& job, const std::string& path, const NewAttributes& attributes) {
  FileChange wanted;
  const auto given = [](const auto& value) { return value ? *value : FileChange::same; };
  wanted.attributes.mode = given(attributes.mode);
  wanted.attributes.uid = given(attributes.uid);
  wanted.attributes.gid = given(attributes.gid);
  wanted.attributes.atime = attributes.atime.value_or(file::Remote::Change::same_time);
  wanted.attributes.mtime = attributes.mtime.value_or(file::Remote::Change::same_time);
  return change(job, path, wanted);
}

Status remove_remote(Job& job, const std::string& path) {
  if (!job.has_messages()) return missing(path);
  for (int i = 0; i < most_nodes_asked; ++i) {
    const NodeAnswers answers = ask_nodes(job, other_nodes(job), request_of(Op::remove_file), path);
    CAIRN_TRY(answers.status);
    const bool any = std::any_of(answers.all.begin(), answers.all.end(),
                                 [](const NodeAnswers::One& one) { return one.value != 0; });
    if (any) return Status();
    CAIRN_TRY(find_remote(job, path).status());
  }
  return fail(EBUSY, "%s: it moves between nodes faster than it can be found; retry", path.c_str());
}

Result<std::vector<RemoteName>> list_remote(Job& job, const std::string& directory) {
  std::vector<RemoteName> names;
  if (!job.has_messages()) return names;
  for (const uint32_t node : other_nodes(job)) {
    Request request = request_of(Op::list_files);
    do {
      const NodeAnswers answers = ask_nodes(job, {node}, request, directory, most_listed);
      CAIRN_TRY(answers.status);
      if (answers.all.empty()) break;
      const NodeAnswers::One& one = answers.all.front();
      for (size_t at = 0; at + sizeof(ListedFile) <= one.size;) {
        ListedFile listed = {};
        std::memcpy(&listed, one.bytes + at, sizeof listed);
        at += sizeof listed;
        if (listed.length > one.size - at) break;
        names.push_back(
            {inode_number(job, node, listed.inode),
             std::string(reinterpret_cast<const char*>(one.bytes) + at, listed.length)});
        at += listed.length;
      }
      request.value = one.value;
    } while (request.value != 0);
  }
  return names;
}

}  // namespace cairn::cluster
