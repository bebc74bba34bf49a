#include "cluster/server/serve.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "cluster/local/local_server.h"
#include "cluster/local/name_op.h"
#include "cluster/names/preexisting_names.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/stopped.h"

namespace cairn::cluster {
namespace {

struct Asked {
  Request request = {};
  std::vector<ByteRun> runs;
  const uint8_t* bytes = nullptr;  // request.text of them
  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(bytes), request.text};
  }
  // The text as far as a zero byte.
  [[nodiscard]] std::string path() const {
    const std::string all = text();
    return all.substr(0, all.find('\0'));
  }
};

// What a handler answers. Its failure goes to the other node as an errno and a text.
struct Answer {
  int64_t value = 0;
  uint64_t size = 0;           // of what follows the reply
  uint8_t* payload = nullptr;  // there
  void put(const void* from, size_t bytes) {
    if (bytes != 0) std::memcpy(payload + size, from, bytes);
    size += bytes;
  }
};

using Handler = Status (*)(Job& job, const Asked& asked, Answer* answer);

Status invalid() { return fail(EINVAL, "invalid request by name"); }

// What follows the path in a request's text.
bool split(const std::string& text, std::string* path, std::string* rest) {
  const size_t end = text.find('\0');
  *path = text.substr(0, end);
  *rest = end == std::string::npos ? "" : text.substr(end + 1);
  return end != std::string::npos;
}

template <typename Value>
bool take_value(const Asked& asked, std::string* path, Value* value) {
  std::string rest;
  split(asked.text(), path, &rest);
  if (rest.size() != sizeof *value) return false;
  std::memcpy(value, rest.data(), sizeof *value);
  return true;
}

// 1, or 0 where there is no such file: then nothing has changed.
Status one_if_done(Status status, Answer* answer) {
  answer->value = status.ok() ? 1 : 0;
  return status.code() == ENOENT ? Status() : status;
}

Status read_part(Job& job, const Asked& asked, Answer* answer) {
  CAIRN_TRY_ASSIGN(part, job.part_to_serve(asked.request.uuid));
  return read_runs(**part, asked.runs.data(), asked.request.runs,
                   "the part in pool " + job.own_node().path, answer->payload, &answer->size);
}

Status remove_part(Job& job, const Asked& asked, Answer* /*answer*/) {
  return job.remove_part(asked.request.uuid);
}

Status change_name(Job& job, const Asked& asked, Answer* answer) {
  const Request& request = asked.request;
  std::string path;
  std::string rest;
  if (!split(asked.text(), &path, &rest)) return invalid();
  const NameChange change = {static_cast<NameOp>(request.which),
                             static_cast<uint32_t>(request.value), path, rest,
                             static_cast<uint32_t>(request.home)};
  CAIRN_TRY_ASSIGN(changed, serve_change(job, change));
  answer->value = changed;
  return Status();
}

Status look_file(Job& job, const Asked& asked, Answer* answer) {
  const auto state = look_own(job, asked.path(), asked.request.which != 0);
  if (!state.ok() && state.code() != ENOENT) return state.status();
  if (state.ok()) answer->put(&*state, sizeof *state);
  answer->value = std::bit_cast<int64_t>(Past{job.taken.load(), job.renamings.load()});
  return Status();
}

Status read_file(Job& job, const Asked& asked, Answer* answer) {
  return read_own(job, asked.request, asked.runs.data(), answer->payload, &answer->size);
}

Status change_own_file(Job& job, const Asked& asked, Answer* answer) {
  std::string path;
  FileChange change;
  if (!take_value(asked, &path, &change)) return invalid();
  return one_if_done(change_own(job, path, change), answer);
}

Status rename_file(Job& job, const Asked& asked, Answer* answer) {
  std::string from;
  std::string to;
  if (!split(asked.text(), &from, &to)) return invalid();
  const auto flags = static_cast<unsigned>(asked.request.value);
  return one_if_done(rename_own(job, from, to, flags), answer);
}

Status remove_own_file(Job& job, const Asked& asked, Answer* answer) {
  return one_if_done(remove_own(job, asked.path()), answer);
}

Status reserve_file(Job& job, const Asked& asked, Answer* answer) {
  std::string path;
  FileState seen;
  if (!take_value(asked, &path, &seen)) return invalid();
  return one_if_done(reserve_own(job, path, seen, asked.request.value != 0), answer);
}

Status release_reserved(Job& job, const Asked& asked, Answer* answer) {
  std::string path;
  FileState seen;
  if (!take_value(asked, &path, &seen)) return invalid();
  release_own(job, seen);
  answer->value = 1;
  return Status();
}

Status take_file(Job& job, const Asked& asked, Answer* answer) {
  std::string path;
  FileState seen;
  if (!take_value(asked, &path, &seen)) return invalid();
  return one_if_done(take_own(job, path, seen), answer);
}

Status list_files(Job& job, const Asked& asked, Answer* answer) {
  std::vector<uint8_t> names;
  const auto next = list_own(job, asked.path(), static_cast<uint64_t>(asked.request.value), &names);
  if (next.code() == ENOENT || next.code() == ENOTDIR) return Status();
  CAIRN_TRY(next.status());
  answer->value = *next;
  answer->put(names.data(), names.size());
  return Status();
}

Status hold_file(Job& job, const Asked& asked, Answer* answer) {
  const bool writing = asked.request.which != 0;
  const auto state = hold_own(job, asked.path(), writing, asked.request.value != 0);
  if (state.ok()) answer->put(&*state, sizeof *state);
  return one_if_done(state.status(), answer);
}

Status release_file(Job& job, const Asked& asked, Answer* /*answer*/) {
  job.held().release(asked.request.uuid, asked.request.which != 0);
  return Status();
}

Status use_held(Job& job, const Asked& asked, Answer* answer) {
  CAIRN_TRY_ASSIGN(value, job.held().answer(asked.request, asked.runs.data(), asked.bytes,
                                            answer->payload, &answer->size));
  answer->value = value;
  return Status();
}

Status look_names(Job& job, const Asked& /*asked*/, Answer* answer) {
  answer->value = job.number_of_names();
  return Status();
}

Status make_names(Job& job, const Asked& asked, Answer* /*answer*/) {
  return make_told_names(job, asked.text());
}

// A process that a debugger holds lives.
ProcessState state_of_process(pool::Pool& pool, int64_t process) {
  const auto word = static_cast<uint64_t>(process);
  if (pool::has_lost_owner(pool, word)) return ProcessState::gone;
  const bool is_stopped = pool::motion_of_owner(pool, word) == pool::Motion::stopped;
  return is_stopped ? ProcessState::stopped : ProcessState::lives;
}

Status look_process(Job& job, const Asked& asked, Answer* answer) {
  answer->value = static_cast<int64_t>(state_of_process(job.fs().pool, asked.request.value));
  return Status();
}

Status note_renaming(Job& job, const Asked& asked, Answer* /*answer*/) {
  job.note_renaming(asked.request.value != 0);
  return Status();
}

Status ask_coordinator(Job& job, const Asked& asked, Answer* answer) {
  Coordinator::More more;
  const Reply reply =
      job.coordinator().answer(asked.request, asked.runs.data(), asked.text(), &more);
  if (reply.error != 0)
    return fail(reply.error, "invalid request: unknown to the home of the file");
  answer->value = reply.value;
  // One of the three.
  answer->put(more.posted.data(), more.posted.size() * sizeof(Posted));
  answer->put(more.left.data(), more.left.size());
  if (more.holder.process != 0) answer->put(&more.holder, sizeof more.holder);
  return Status();
}

using Handlers = std::array<Handler, static_cast<size_t>(Op::end) + 1>;

constexpr Handlers handlers = [] {
  Handlers of = {};
  const auto on = [&](Op op, Handler handler) { of[static_cast<size_t>(op)] = handler; };
  on(Op::read, read_part);
  on(Op::remove_part, remove_part);
  on(Op::change_name, change_name);
  on(Op::look_file, look_file);
  on(Op::read_file, read_file);
  on(Op::change_file, change_own_file);
  on(Op::rename_file, rename_file);
  on(Op::remove_file, remove_own_file);
  on(Op::reserve_file, reserve_file);
  on(Op::release_reserved, release_reserved);
  on(Op::take_file, take_file);
  on(Op::list_files, list_files);
  on(Op::hold_file, hold_file);
  on(Op::release_file, release_file);
  for (const Op op : {Op::read_held, Op::write_held, Op::append_held, Op::cut_held, Op::change_held,
                      Op::sync_held, Op::look_held})
    on(op, use_held);
  on(Op::look_names, look_names);
  on(Op::make_names, make_names);
  on(Op::look_process, look_process);
  on(Op::note_renaming, note_renaming);
  for (const Op op :
       {Op::fetch_add, Op::store, Op::lock, Op::unlock, Op::post, Op::news, Op::trim, Op::end})
    on(op, ask_coordinator);
  return of;
}();

constexpr bool has_handlers_of_all() {
  for (size_t op = 1; op < handlers.size(); ++op)
    if (handlers[op] == nullptr) return false;
  return true;
}
static_assert(has_handlers_of_all());

Status take_request(const void* message, size_t size, Asked* asked) {
  Request& request = asked->request;
  const auto* bytes = static_cast<const uint8_t*>(message);
  if (size >= sizeof request) std::memcpy(&request, bytes, sizeof request);
  if (size < sizeof request || request.runs > most_runs || request.text > size ||
      size != sizeof request + request.runs * sizeof(ByteRun) + request.text)
    return fail(EINVAL, "invalid request of %zu bytes", size);
  asked->runs.resize(request.runs);
  if (!asked->runs.empty())
    std::memcpy(asked->runs.data(), bytes + sizeof request, request.runs * sizeof(ByteRun));
  asked->bytes = bytes + size - request.text;
  return Status();
}

Status answer_request(Job& job, const void* message, size_t size, Answer* answer) {
  Asked asked;
  CAIRN_TRY(take_request(message, size, &asked));
  const auto op = static_cast<size_t>(asked.request.op);
  if (op >= handlers.size() || handlers[op] == nullptr)
    return fail(EINVAL, "invalid request: operation %zu is unknown", op);
  return handlers[op](job, asked, answer);
}

}  // namespace

size_t serve(Job& job, const void* request, size_t size, void* reply) {
  Answer answer;
  answer.payload = static_cast<uint8_t*>(reply) + sizeof(Reply);
  const Status status = answer_request(job, request, size, &answer);
  if (!status.ok()) {
    answer.size = std::strlen(last_detail());
    std::memcpy(answer.payload, last_detail(), answer.size);
  }
  const Reply head = {status.code(), 0, status.ok() ? answer.value : 0, answer.size};
  std::memcpy(reply, &head, sizeof head);
  return sizeof head + answer.size;
}

}  // namespace cairn::cluster
