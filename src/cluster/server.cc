// The server's side: answers requests of other nodes out of this node's parts and homes.
#include <bit>
#include <cstring>

#include "cluster/before.h"
#include "cluster/job.h"
#include "cluster/name_change.h"
#include "cluster/own_files.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/stopped.h"

namespace cairn::cluster {

Status Job::read_part(const Request& request, const ByteRun* runs, uint8_t* bytes, uint64_t* size) {
  auto part = part_to_serve(request.uuid);
  if (!part.ok()) return part.status();
  return read_runs(***part, runs, request.runs, "the part in pool " + own_node().path, bytes, size);
}

namespace {

// What follows the path in a request's text.
bool split(const std::string& text, std::string* path, std::string* rest) {
  const size_t end = text.find('\0');
  *path = text.substr(0, end);
  *rest = end == std::string::npos ? "" : text.substr(end + 1);
  return end != std::string::npos;
}

template <typename Value>
bool take_value(const std::string& bytes, Value* value) {
  if (bytes.size() != sizeof *value) return false;
  std::memcpy(value, bytes.data(), sizeof *value);
  return true;
}

// A change is none (0) where there is no such file.
Result<int64_t> one_if_done(Status status) {
  if (status.code() == ENOENT) return 0;
  return status.ok() ? Result<int64_t>(1) : Result<int64_t>(status);
}

// Requests by name. The reply's value; what follows the reply goes to `bytes`.
Result<int64_t> by_name(Job& job, const Request& request, const std::string& text,
                        std::vector<uint8_t>* bytes) {
  std::string path;
  std::string rest;
  const bool has_rest = split(text, &path, &rest);
  switch (request.op) {
    case Op::change_name:
      if (!has_rest) break;
      return serve_change(
          job, {static_cast<NameOp>(request.which), static_cast<uint32_t>(request.value), path,
                rest, static_cast<uint32_t>(request.home)});
    case Op::look_file: {
      auto state = look_own(job, path, request.which != 0);
      if (!state.ok() && state.code() != ENOENT) return state.status();
      if (state.ok()) {
        const auto* from = reinterpret_cast<const uint8_t*>(&*state);
        bytes->assign(from, from + sizeof *state);
      }
      return std::bit_cast<int64_t>(Past{job.taken.load(), job.renamings.load()});
    }
    case Op::hold_file: {
      const bool is_asked = request.which != 0;
      auto state = hold_own(job, path, is_asked, request.value != 0);
      if (!state.ok()) return one_if_done(state.status());
      const auto* from = reinterpret_cast<const uint8_t*>(&*state);
      bytes->assign(from, from + sizeof *state);
      return 1;
    }
    case Op::change_file: {
      FileChange change;
      if (!take_value(rest, &change)) break;
      return one_if_done(change_own(job, path, change));
    }
    case Op::rename_file:
      if (!has_rest) break;
      return one_if_done(rename_own(job, path, rest, static_cast<unsigned>(request.value)));
    case Op::remove_file:
      return one_if_done(remove_own(job, path));
    case Op::reserve_file:
    case Op::release_reserved:
    case Op::take_file: {
      FileState seen;
      if (!take_value(rest, &seen)) break;
      if (request.op == Op::take_file) return one_if_done(take_own(job, path, seen));
      if (request.op == Op::reserve_file)
        return one_if_done(reserve_own(job, path, seen, request.value != 0));
      release_own(job, seen);
      return 1;
    }
    case Op::list_files: {
      auto next = list_own(job, path, static_cast<uint64_t>(request.value), bytes);
      if (next.code() == ENOENT || next.code() == ENOTDIR) return 0;
      return next;
    }
    default:
      break;
  }
  return fail(EINVAL, "invalid request by name");
}

}  // namespace

// One that was not told to be over has ended by now: its process was killed, and the lock taken
// from it.
void Job::note_renaming(bool begins) {
  const uint32_t before = renamings.load();
  const bool is_under_way = (before & 1) != 0;
  if (begins)
    renamings = before + (is_under_way ? 2 : 1);
  else if (is_under_way)
    renamings = before + 1;
}

namespace {

// One that a debugger holds lives.
ProcessState state_of_process(pool::Pool& pool, int64_t process) {
  const auto word = static_cast<uint64_t>(process);
  if (pool::has_lost_owner(pool, word)) return ProcessState::gone;
  const bool is_stopped = pool::motion_of_owner(pool, word) == pool::Motion::stopped;
  return is_stopped ? ProcessState::stopped : ProcessState::lives;
}

}  // namespace

size_t Job::serve(const void* message, size_t size, void* answer) {
  Reply reply = {};
  auto* payload = static_cast<uint8_t*>(answer) + sizeof reply;
  Request request = {};
  std::vector<ByteRun> runs;
  Status status;
  if (size >= sizeof request) std::memcpy(&request, message, sizeof request);
  if (size < sizeof request || request.runs > most_runs || request.text > size ||
      size != sizeof request + request.runs * sizeof(ByteRun) + request.text) {
    status = fail(EINVAL, "invalid request of %zu bytes", size);
  } else {
    runs.resize(request.runs);
    if (!runs.empty())
      std::memcpy(runs.data(), static_cast<const uint8_t*>(message) + sizeof request,
                  runs.size() * sizeof(ByteRun));
    if (request.op == Op::read) {
      status = read_part(request, runs.data(), payload, &reply.size);
    } else if (request.op == Op::remove_part) {
      status = remove_part(request.uuid);
    } else if (request.op == Op::read_file) {
      status = read_own(*this, request, runs.data(), payload, &reply.size);
    } else if (request.op >= Op::change_name && request.op <= Op::hold_file) {
      std::vector<uint8_t> bytes;
      const auto* text = static_cast<const char*>(message) + size - request.text;
      auto value = by_name(*this, request, std::string(text, request.text), &bytes);
      status = value.status();
      if (value.ok()) reply.value = *value;
      if (!bytes.empty()) std::memcpy(payload, bytes.data(), bytes.size());
      reply.size = bytes.size();
    } else if (request.op == Op::look_names) {
      reply.value = number_of_names();
    } else if (request.op == Op::make_names) {
      const auto* names = static_cast<const char*>(message) + size - request.text;
      status = make_told_names(*this, std::string(names, request.text));
    } else if (request.op == Op::note_renaming) {
      note_renaming(request.value != 0);
    } else if (request.op == Op::look_process) {
      reply.value = static_cast<int64_t>(state_of_process(fs_.pool, request.value));
    } else if (request.op == Op::release_file) {
      held_.release(request.uuid, request.which != 0);
    } else if (request.op >= Op::read_held && request.op <= Op::look_held) {
      const auto* bytes = static_cast<const uint8_t*>(message) + size - request.text;
      auto value = held_.answer(request, runs.data(), bytes, payload, &reply.size);
      status = value.status();
      if (value.ok()) reply.value = *value;
    } else {
      Homes::More more;
      const auto* text = static_cast<const char*>(message) + size - request.text;
      reply = homes_.answer(request, runs.data(), std::string(text, request.text), &more);
      const std::vector<Posted>& posted = more.posted;
      if (!posted.empty()) std::memcpy(payload, posted.data(), posted.size() * sizeof(Posted));
      if (!more.left.empty()) std::memcpy(payload, more.left.data(), more.left.size());
      if (more.holder.process != 0) std::memcpy(payload, &more.holder, sizeof more.holder);
      if (reply.error != 0)
        status = fail(reply.error, "invalid request: unknown to the home of the file");
    }
  }
  if (!status.ok()) {
    reply.error = status.code();
    reply.size = std::strlen(last_detail());
    std::memcpy(payload, last_detail(), reply.size);
  }
  std::memcpy(answer, &reply, sizeof reply);
  return sizeof reply + reply.size;
}

}  // namespace cairn::cluster
