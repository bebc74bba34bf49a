#include "cluster/rpc/broadcast.h"

#include <algorithm>
#include <cstring>

namespace cairn::cluster {

NodeNumbers other_nodes(const Job& job) {
  NodeNumbers nodes;
  for (uint32_t node = 0; node < job.nodes(); ++node)
    if (node != job.self()) nodes.push_back(node);
  return nodes;
}

NodeAnswers ask_nodes(const Job& job, const NodeNumbers& nodes, Request request,
                      const std::string& text, size_t room) {
  request.text = text.size();
  std::vector<uint8_t> bytes(sizeof request + text.size());
  std::memcpy(bytes.data(), &request, sizeof request);
  std::memcpy(bytes.data() + sizeof request, text.data(), text.size());
  // Errors bring a line of text.
  const size_t capacity = sizeof(Reply) + std::max<size_t>(room, detail_capacity);
  NodeAnswers answers;
  answers.replies.resize(nodes.size() * capacity);
  std::vector<Question> questions;
  questions.reserve(nodes.size());
  for (const uint32_t node : nodes)
    questions.push_back({node, bytes.data(), bytes.size(),
                         answers.replies.data() + questions.size() * capacity, capacity, 0});
  answers.status = job.ask(questions.data(), questions.size());
  for (const Question& question : questions) {
    Reply reply = {};
    if (question.got < sizeof reply) continue;  // nobody was asked
    std::memcpy(&reply, question.reply, sizeof reply);
    const auto* behind = static_cast<const uint8_t*>(question.reply) + sizeof reply;
    if (reply.error == 0 && question.got == sizeof reply + reply.size)
      answers.all.push_back({question.node, reply.value, behind, reply.size});
  }
  return answers;
}

}  // namespace cairn::cluster
