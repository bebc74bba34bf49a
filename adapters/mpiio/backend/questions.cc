#include "mpiio/backend/questions.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "mpiio/backend/file.h"
#include "mpiio/backend/server.h"
#include "mpiio/backend/waiting.h"

namespace mpiio {
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

// What has been sent and is waited for.
struct Pending {
  const Servers& servers;
  const cairn_question* questions;
  std::vector<size_t> sent;           // indices into `questions`
  std::vector<MPI_Request> requests;  // a reply and a request for each of them
};

std::string awaited(void* context) {
  const auto& pending = *static_cast<Pending*>(context);
  std::string text;
  for (size_t i = 0; i < pending.sent.size(); ++i) {
    // A request that is done has become null.
    if (pending.requests[2 * i] == MPI_REQUEST_NULL) continue;
    const cairn_node& node = pending.servers.nodes[pending.questions[pending.sent[i]].node];
    if (!text.empty()) text += ", ";
    text += std::string("node ") + node.host + " (pool " + node.pool + ")";
  }
  return "a reply of " + text;
}

void answer_here(const Servers& servers, cairn_question* question) {
  const size_t most = host->engine->shared.job_reply_capacity();
  if (question->capacity >= most) {
    question->got = host->engine->shared.job_serve(servers.job, question->request, question->size,
                                                   question->reply);
    return;
  }
  std::vector<char> reply(most);
  const size_t got =
      host->engine->shared.job_serve(servers.job, question->request, question->size, reply.data());
  question->got = std::min(got, question->capacity);
  std::memcpy(question->reply, reply.data(), question->got);
}

}  // namespace

int ask(void* context, cairn_question* questions, size_t count) {
  const auto& servers = *static_cast<const Servers*>(context);
  Pending pending = {servers, questions, {}, {}};
  std::vector<std::vector<char>> messages;
  for (size_t i = 0; i < count; ++i) {
    const int leader = servers.leaders[questions[i].node];
    if (leader == servers.rank) continue;
    pending.sent.push_back(i);
    const Envelope envelope = {next_tag(servers.comm), {}};
    messages.emplace_back(sizeof envelope + questions[i].size);
    std::vector<char>& message = messages.back();
    std::memcpy(message.data(), &envelope, sizeof envelope);
    std::memcpy(message.data() + sizeof envelope, questions[i].request, questions[i].size);
    MPI_Request reply = MPI_REQUEST_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(questions[i].reply, static_cast<int>(questions[i].capacity), MPI_BYTE, leader,
               envelope.tag, servers.comm, &reply);
    PMPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, leader, request_tag,
               servers.comm, &request);
    pending.requests.push_back(reply);
    pending.requests.push_back(request);
  }
  for (size_t i = 0; i < count; ++i)
    if (servers.leaders[questions[i].node] == servers.rank) answer_here(servers, &questions[i]);
  const size_t requests = pending.requests.size();
  std::vector<int> done(requests);
  std::vector<MPI_Status> statuses(requests);
  Patience patience(awaited, &pending);
  for (size_t left = requests; left > 0;) {
    int finished = 0;
    PMPI_Testsome(static_cast<int>(requests), pending.requests.data(), &finished, done.data(),
                  statuses.data());
    for (size_t k = 0; k < static_cast<size_t>(finished); ++k) {
      const auto index = static_cast<size_t>(done[k]);
      if (index % 2 != 0) continue;  // the request itself has left
      int bytes = 0;
      PMPI_Get_count(&statuses[k], MPI_BYTE, &bytes);
      questions[pending.sent[index / 2]].got = static_cast<size_t>(bytes);
    }
    left -= static_cast<size_t>(finished);
    if (finished != 0) continue;
    answer_questions();
    patience.pause();
  }
  return 0;
}

}  // namespace mpiio
