#include "cluster/home.h"

#include <algorithm>
#include <cerrno>

namespace cairn::cluster {
namespace {

Holder asks_for(const Request& request) {
  return {request.which, static_cast<uint64_t>(request.value)};
}

bool is_same(const Holder& one, const Holder& other) {
  return one.node == other.node && one.process == other.process;
}

}  // namespace

Reply Homes::answer(const Request& request, const Run* runs, std::vector<Posted>* posted,
                    Holder* holder) {
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
      if (home.holder.process == 0) {
        home.holder = asks_for(request);
        reply.value = 1;
        return reply;
      }
      *holder = home.holder;
      reply.size = sizeof *holder;
      return reply;
    case Op::unlock:
      // Not one that somebody else has got since its holder was found dead.
      if (is_same(home.holder, asks_for(request))) home.holder = {};
      return reply;
    case Op::post:
      for (uint64_t i = 0; i < request.runs; ++i) home.log.push_back({runs[i], request.which});
      return reply;
    case Op::news: {
      const int64_t end = home.first + static_cast<int64_t>(home.log.size());
      if (request.value < home.first || request.value > end) break;
      const int64_t count = std::min<int64_t>(most_news, end - request.value);
      const auto from = home.log.begin() + (request.value - home.first);
      posted->assign(from, from + count);
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
