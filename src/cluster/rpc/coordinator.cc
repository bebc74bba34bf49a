#include "cluster/rpc/coordinator.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cluster/record/codec.h"

namespace cairn::cluster {
namespace {

Holder asks_for(const Request& request) {
  return {request.which, static_cast<uint64_t>(request.value)};
}

bool is_same(const Holder& one, const Holder& other) {
  return one.node == other.node && one.process == other.process;
}

}  // namespace

Reply Coordinator::lock(Home* home, const Request& request, const std::string& text, More* more) {
  Reply reply = {};
  Holder gone = {};
  static_assert(sizeof gone == sizeof request.uuid);
  std::memcpy(&gone, request.uuid.data(), sizeof gone);
  const bool takes_over = gone.process != 0 && is_same(home->holder, gone);
  if (home->holder.process != 0 && !takes_over) {
    more->holder = home->holder;
    reply.size = sizeof more->holder;
    return reply;
  }
  reply.value = takes_over ? 2 : 1;
  home->holder = asks_for(request);
  if (takes_over || home->unfinished) {
    Packer left;
    for (const std::string& one : home->intents) left.text(one);
    more->left = std::move(left.bytes);
    reply.size = more->left.size();
  } else {
    home->intents.clear();
  }
  home->unfinished = false;
  home->has_told = !text.empty();
  if (text.empty()) return reply;
  // The intents of a process that was killed while it finished another one's stay: finishing one
  // twice does no harm.
  constexpr size_t most = 8;
  if (home->intents.size() == most) home->intents.erase(home->intents.begin());
  home->intents.push_back(text.substr(0, longest_intent));
  return reply;
}

Reply Coordinator::answer(const Request& request, const ByteRun* runs, const std::string& text,
                          More* more) {
  const std::lock_guard guard(mutex_);
  Reply reply = {};
  if (request.op == Op::end) {
    homes_.erase(request.home);
    return reply;
  }
  Home& home = homes_[request.home];
  const bool known_word = request.which < words;
  switch (request.op) {
    case Op::fetch_add:
      if (!known_word) break;
      reply.value = home.words[request.which];
      home.words[request.which] += request.value;
      return reply;
    case Op::store:
      if (!known_word) break;
      home.words[request.which] = request.value;
      return reply;
    case Op::lock:
      return lock(&home, request, text, more);
    case Op::unlock:
      // Not one that another process has got since its holder was found dead.
      if (is_same(home.holder, asks_for(request))) {
        home.holder = {};
        home.unfinished = request.uuid != Uuid{};
        if (home.unfinished && home.has_told) home.intents.pop_back();
      }
      return reply;
    case Op::post:
      for (uint64_t i = 0; i < request.runs; ++i) home.log.push_back({runs[i], request.which});
      return reply;
    case Op::news: {
      const int64_t end = home.first + static_cast<int64_t>(home.log.size());
      if (request.value < home.first || request.value > end) break;
      const int64_t count = std::min<int64_t>(most_news, end - request.value);
      const auto from = home.log.begin() + (request.value - home.first);
      more->posted.assign(from, from + count);
      reply.value = end;
      reply.size = static_cast<uint64_t>(count) * sizeof(Posted);
      return reply;
    }
    case Op::trim: {
      const auto count =
          std::clamp<int64_t>(request.value - home.first, 0, static_cast<int64_t>(home.log.size()));
      home.log.erase(home.log.begin(), home.log.begin() + count);
      home.first += count;
      return reply;
    }
    default:
      break;
  }
  reply.error = EINVAL;
  return reply;
}

}  // namespace cairn::cluster
