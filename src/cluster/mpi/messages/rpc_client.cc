#include "cluster/mpi/messages/rpc_client.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "cluster/mpi/messages/rpc_server.h"
#include "cluster/mpi/messages/waiting.h"

namespace cairn::mpi {
namespace {

// A tag that none of the replies under way has: those wait for the far end of the numbers.
int next_tag(MPI_Comm comm) {
  static std::atomic<unsigned> next{0};
  static const unsigned tags = [comm] {
    int* highest = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, &highest, &found);
    constexpr int least = 32767;  // as the standard says
    return static_cast<unsigned>(found == 0 ? least : *highest);
  }();
  return 1 + static_cast<int>(next.fetch_add(1) % tags);
}

std::string awaited(void* call) { return "a reply of " + static_cast<Call*>(call)->unanswered(); }

void answer_here(const Peers& peers, cairn_question* question) {
  const SessionClient& client = peers.client;
  if (question->capacity >= client.reply_capacity) {
    question->got =
        client.serve(client.context, question->request, question->size, question->reply);
    return;
  }
  // Not cleared: it is megabytes, of which most answers take some bytes.
  const std::unique_ptr<char[]> reply(new char[client.reply_capacity]);
  const size_t got = client.serve(client.context, question->request, question->size, reply.get());
  question->got = std::min(got, question->capacity);
  std::memcpy(question->reply, reply.get(), question->got);
}

}  // namespace

Call::Call(const Peers& peers, Envelope::Kind kind, cairn_question* questions, size_t count)
    : peers_(peers), questions_(questions) {
  for (size_t i = 0; i < count; ++i) {
    const int leader = peers.roster.leader(questions[i].node);
    if (leader == peers.rank) continue;
    sent_.push_back(i);
    const Envelope envelope = {next_tag(peers.comm), kind, {}};
    messages_.emplace_back(sizeof envelope + questions[i].size);
    std::vector<char>& message = messages_.back();
    std::memcpy(message.data(), &envelope, sizeof envelope);
    if (questions[i].size != 0)
      std::memcpy(message.data() + sizeof envelope, questions[i].request, questions[i].size);
    MPI_Request reply = MPI_REQUEST_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(questions[i].reply, static_cast<int>(questions[i].capacity), MPI_BYTE, leader,
               envelope.tag, peers.comm, &reply);
    PMPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, leader, request_tag,
               peers.comm, &request);
    requests_.push_back(reply);
    requests_.push_back(request);
  }
  left_ = requests_.size();
  done_.resize(left_);
  statuses_.resize(left_);
}

bool Call::step() {
  if (left_ == 0) return true;
  int finished = 0;
  PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished, done_.data(),
                statuses_.data());
  for (size_t k = 0; k < static_cast<size_t>(finished); ++k) {
    const auto index = static_cast<size_t>(done_[k]);
    if (index % 2 != 0) continue;  // the request itself has left
    int bytes = 0;
    PMPI_Get_count(&statuses_[k], MPI_BYTE, &bytes);
    questions_[sent_[index / 2]].got = static_cast<size_t>(bytes);
  }
  left_ -= static_cast<size_t>(finished);
  return left_ == 0;
}

std::string Call::unanswered() const {
  std::string text;
  for (size_t i = 0; i < sent_.size(); ++i) {
    // A request that is done has become null.
    if (requests_[2 * i] == MPI_REQUEST_NULL) continue;
    if (!text.empty()) text += ", ";
    text += peers_.name_of(questions_[sent_[i]].node);
  }
  return text;
}

namespace {

// Where a call of the program asks other nodes and succeeds, errno is the program's: readdir(3)
// shows its end by nothing else.
class KeptErrno {
 public:
  KeptErrno() = default;
  ~KeptErrno() { errno = before_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int before_ = errno;
};

}  // namespace

int ask(void* context, cairn_question* questions, size_t count) {
  const auto& peers = *static_cast<const Peers*>(context);
  if (peers.client.is_in_handler != nullptr && peers.client.is_in_handler()) return -EDEADLK;
  const KeptErrno errno_of_program;
  Call call(peers, Envelope::Kind::client, questions, count);
  for (size_t i = 0; i < count; ++i)
    if (peers.roster.leader(questions[i].node) == peers.rank) answer_here(peers, &questions[i]);
  TimedWait patience(awaited, &call);
  while (!call.step()) {
    answer_questions();
    // Without a thread the other node answers when it reaches a call of this session, perhaps after
    // hours of computing.
    if (peers.answering)
      patience.pause();
    else
      give_way();
  }
  return 0;
}

void still_waiting(void*, uint64_t waited_ms, const char* path, const char* whom) {
  constexpr uint64_t ms = 1000;
  if (waited_ms / ms >= timeout_s()) give_up_waiting(path, whom);
}

}  // namespace cairn::mpi
