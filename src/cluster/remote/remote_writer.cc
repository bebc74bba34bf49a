#include "cluster/remote/remote_writer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cluster/remote/find_remote.h"

namespace cairn::cluster {
namespace {

std::vector<uint8_t> gather(const iovec* vector, int count) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    const auto* from = static_cast<const uint8_t*>(vector[i].iov_base);
    bytes.insert(bytes.end(), from, from + vector[i].iov_len);
  }
  return bytes;
}

}  // namespace

Status RemoteWriter::ended() const {
  return fail(EIO, "%s: it lies on another host, which cannot be asked after MPI_Finalize",
              path_.c_str());
}

void RemoteWriter::end() {
  const std::unique_lock guard(mutex_);
  hold_ = nullptr;
}

Result<int64_t> RemoteWriter::ask(Request request, const void* bytes, size_t size, uint64_t* word) {
  const std::shared_lock guard(mutex_);
  if (hold_ == nullptr) return ended();
  request.uuid = hold_->file();
  request.text = size;
  std::vector<uint8_t> message(sizeof request + size);
  std::memcpy(message.data(), &request, sizeof request);
  if (size != 0) std::memcpy(message.data() + sizeof request, bytes, size);
  uint8_t reply[sizeof(Reply) + detail_capacity];
  Question question = {hold_->node(), message.data(), message.size(), reply, sizeof reply, 0};
  CAIRN_TRY(hold_->job().ask(&question, 1));
  Reply head;
  std::memcpy(&head, reply, sizeof head);
  if (word != nullptr && head.size == sizeof *word)
    std::memcpy(word, reply + sizeof head, sizeof *word);
  return head.value;
}

Result<size_t> RemoteWriter::read(void* buffer, size_t size, uint64_t offset) {
  const std::shared_lock guard(mutex_);
  if (hold_ == nullptr) return ended();
  size_t done = 0;
  while (done < size) {
    const ByteRun run = {offset + done, std::min<uint64_t>(size - done, most_bytes)};
    Request request = request_of(Op::read_held);
    request.uuid = hold_->file();
    request.runs = 1;
    uint8_t message[sizeof request + sizeof run];
    std::memcpy(message, &request, sizeof request);
    std::memcpy(message + sizeof request, &run, sizeof run);
    const size_t capacity = sizeof(Reply) + std::max<uint64_t>(run.length, detail_capacity);
    Buffer reply = hold_->job().buffers().take(capacity);
    Question question = {hold_->node(), message, sizeof message, reply.bytes.get(), capacity, 0};
    CAIRN_TRY(hold_->job().ask(&question, 1));
    const size_t got = question.got - sizeof(Reply);
    std::memcpy(static_cast<uint8_t*>(buffer) + done, reply.bytes.get() + sizeof(Reply), got);
    hold_->job().buffers().give_back(std::move(reply));
    done += got;
    if (got < run.length) break;
  }
  return done;
}

Result<size_t> RemoteWriter::write(const void* buffer, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const size_t piece = std::min<size_t>(size - done, most_written);
    auto n = ask(request_of(Op::write_held, static_cast<int64_t>(offset + done)),
                 static_cast<const uint8_t*>(buffer) + done, piece);
    if (!n.ok()) {
      if (done != 0) break;
      return n.status();
    }
    done += static_cast<size_t>(*n);
    if (static_cast<size_t>(*n) < piece) break;
  }
  return done;
}

// What does not fit into one message gets its place by zeros, so that it stays together.
Result<size_t> RemoteWriter::append(const iovec* vector, int count, uint64_t* offset) {
  const std::vector<uint8_t> bytes = gather(vector, count);
  const size_t first = std::min<size_t>(bytes.size(), most_written);
  Request request = request_of(Op::append_held);
  request.home = bytes.size() - first;
  uint64_t appended = 0;
  CAIRN_TRY_ASSIGN(start, ask(request, bytes.data(), first, &appended));
  *offset = static_cast<uint64_t>(start);
  if (appended <= first) return appended;
  // Fewer than all where the pool is full.
  CAIRN_TRY_ASSIGN(rest, write(bytes.data() + first, appended - first, *offset + first));
  return first + rest;
}

Status RemoteWriter::set_size(uint64_t size) {
  return ask(request_of(Op::cut_held, static_cast<int64_t>(size)), nullptr, 0).status();
}

Status RemoteWriter::change(const Change& change) {
  FileChange wanted;
  wanted.attributes = change;
  return ask(request_of(Op::change_held), &wanted, sizeof wanted).status();
}

Status RemoteWriter::sync() { return ask(request_of(Op::sync_held), nullptr, 0).status(); }

Status RemoteWriter::look(RemoteAttributes* state) {
  const std::shared_lock guard(mutex_);
  if (hold_ == nullptr) return ended();
  Request request = request_of(Op::look_held);
  request.uuid = hold_->file();
  uint8_t reply[sizeof(Reply) + detail_capacity];
  Question question = {hold_->node(), &request, sizeof request, reply, sizeof reply, 0};
  CAIRN_TRY(hold_->job().ask(&question, 1));
  if (question.got != sizeof(Reply) + sizeof *state)
    return fail(EIO, "node %s: invalid reply of %zu bytes about a file",
                hold_->job().host_of(hold_->node()), question.got);
  std::memcpy(state, reply + sizeof(Reply), sizeof *state);
  return Status();
}

}  // namespace cairn::cluster
