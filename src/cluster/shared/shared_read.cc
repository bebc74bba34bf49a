// Reading: what is here is copied, the rest is asked for, all pieces of a call in one request to
// each node.
#include <algorithm>
#include <cstring>

#include "cluster/record/base_file.h"
#include "cluster/shared/shared_file.h"
#include "file/data/io.h"

namespace cairn::cluster {
namespace {

// Replies that are waited for concurrently.
constexpr uint64_t most_in_flight = 64ULL << 20;

unsigned long long number(uint64_t value) { return value; }

// A request to a node and where the bytes of its reply go, in order.
struct Errand {
  uint32_t node = 0;
  RunBuilder runs;
  uint64_t bytes = 0;
  std::vector<Target> targets;
  [[nodiscard]] bool has_room(uint64_t size) const {
    return bytes + size <= most_bytes && runs.runs().size() < most_runs;
  }
};

}  // namespace

// Where the bytes of a call are to come from.
struct SharedFile::Plan {
  std::vector<Target> here;
  std::vector<Target> base;
  std::vector<Target> zeros;
  std::vector<std::pair<uint32_t, Target>> remote;  // by the record's number of the node
  uint64_t bytes = 0;
};

void SharedFile::plan(const Target& piece, uint64_t size, Plan* plan) const {
  if (piece.offset >= size || piece.size == 0) return;
  const uint64_t end = std::min<uint64_t>(size, piece.offset + piece.size);
  const auto part_of = [&](uint64_t from, uint64_t to) {
    return Target{static_cast<char*>(piece.buffer) + (from - piece.offset), to - from, from};
  };
  const auto here = [&](uint64_t from, uint64_t to) { plan->here.push_back(part_of(from, to)); };
  const auto shared = [&](uint64_t from, uint64_t to) {
    for (const ShareMap::Piece& found : record_.map.find(from, to)) {
      if (found.node != ShareMap::nobody) {
        if (record_.nodes[found.node].pool == job_.own_node().pool)
          here(found.begin, found.end);
        else
          plan->remote.emplace_back(found.node, part_of(found.begin, found.end));
        continue;
      }
      const uint64_t in_base =
          record_.base.exists ? std::clamp(record_.base.end, found.begin, found.end) : found.begin;
      if (in_base > found.begin) plan->base.push_back(part_of(found.begin, in_base));
      if (found.end > in_base) plan->zeros.push_back(part_of(in_base, found.end));
    }
  };
  written_.split(piece.offset, end, here,
                 [&](uint64_t from, uint64_t to) { committing_.split(from, to, here, shared); });
  plan->bytes += end - piece.offset;
}

Status SharedFile::fetch_base(const Plan& plan) const {
  if (plan.base.empty()) return Status();
  auto file = open_base(job_.directory(), path_, record_.base);
  if (!file.ok()) return file.status();
  for (const Target& piece : plan.base)
    CAIRN_TRY(read_base(*file, path_, piece.buffer, piece.size, piece.offset));
  return Status();
}

Status SharedFile::fetch_remote(const Plan& plan) const {
  std::vector<Errand> errands;
  std::vector<size_t> current(job_.nodes(),
                              SIZE_MAX);  // the one that is being filled, by node
  for (const auto& [holder, piece] : plan.remote) {
    const RecordNode& node = record_.nodes[holder];
    const uint32_t number_of_node = job_.number_of(node.pool);
    if (number_of_node == job_.nodes())
      return job_.not_in_job(node, path_, piece.offset, piece.offset + piece.size);
    for (size_t done = 0; done < piece.size;) {
      const size_t size = std::min<size_t>(piece.size - done, most_bytes);
      size_t& index = current[number_of_node];
      if (index == SIZE_MAX || !errands[index].has_room(size)) {
        index = errands.size();
        errands.emplace_back();
        errands.back().node = number_of_node;
      }
      Errand& errand = errands[index];
      errand.runs.add(piece.offset + done, piece.offset + done + size);
      errand.targets.push_back(
          {static_cast<char*>(piece.buffer) + done, size, piece.offset + done});
      errand.bytes += size;
      done += size;
    }
  }
  for (size_t from = 0; from < errands.size();) {
    std::vector<Bytes> requests;
    std::vector<Buffer> replies;
    std::vector<Question> questions;
    uint64_t in_flight = 0;
    size_t to = from;
    for (; to < errands.size() && (to == from || in_flight + errands[to].bytes <= most_in_flight);
         ++to) {
      const std::vector<ByteRun>& runs = errands[to].runs.runs();
      Request ask = request(Op::read);
      ask.runs = runs.size();
      Bytes bytes(sizeof ask + runs.size() * sizeof(ByteRun));
      std::memcpy(bytes.data(), &ask, sizeof ask);
      std::memcpy(bytes.data() + sizeof ask, runs.data(), runs.size() * sizeof(ByteRun));
      requests.push_back(std::move(bytes));
      // An error's text wants room too.
      const size_t capacity =
          sizeof(Reply) + std::max<uint64_t>(errands[to].bytes, detail_capacity);
      replies.push_back(job_.buffers().take(capacity));
      questions.push_back({errands[to].node, requests.back().data(), requests.back().size(),
                           replies.back().bytes.get(), capacity, 0});
      in_flight += errands[to].bytes;
    }
    CAIRN_TRY(job_.ask(questions.data(), questions.size()));
    for (size_t i = from; i < to; ++i) {
      Buffer& reply = replies[i - from];
      if (questions[i - from].got != sizeof(Reply) + errands[i].bytes)
        return fail(EIO, "node %s: invalid reply: not the requested bytes",
                    job_.host_of(errands[i].node));
      const uint8_t* at = reply.bytes.get() + sizeof(Reply);
      for (const Target& target : errands[i].targets) {
        std::memcpy(target.buffer, at, target.size);
        at += target.size;
      }
      job_.buffers().give_back(std::move(reply));
    }
    from = to;
  }
  return Status();
}

Status SharedFile::fetch(const Plan& plan) {
  if (!plan.here.empty() && part_ == nullptr) {
    auto part = job_.part(record_.uuid, false);
    if (!part.ok()) return part.status();
    part_ = *part;
  }
  for (const Target& piece : plan.here) {
    auto n = file::read_at(**part_, piece.buffer, piece.size, piece.offset);
    if (!n.ok()) return n.status();
    if (*n != piece.size)
      return fail(EIO, "the part in pool %s ends at offset %llu, before %llu",
                  job_.own_node().path.c_str(), number(piece.offset + *n),
                  number(piece.offset + piece.size));
  }
  for (const Target& piece : plan.zeros) std::memset(piece.buffer, 0, piece.size);
  CAIRN_TRY(fetch_base(plan));
  return fetch_remote(plan);
}

Result<uint64_t> SharedFile::read(const Target* pieces, size_t count) {
  // Of a memory that is none only its own node's bytes would be refused.
  for (size_t i = 0; i < count; ++i)
    if (pieces[i].buffer == nullptr && pieces[i].size != 0)
      return fail(EFAULT, "%s: read at offset %llu: the buffer is NULL", path_.c_str(),
                  number(pieces[i].offset));
  if (immediate_) CAIRN_TRY(take_news());
  Plan plan;
  {
    const std::lock_guard guard(mutex_);
    const uint64_t size = size_now();
    for (size_t i = 0; i < count; ++i) this->plan(pieces[i], size, &plan);
  }
  if (Status status = fetch(plan); !status.ok())
    return annotate(status, "%s: read at offset %llu", path_.c_str(), number(pieces[0].offset));
  return plan.bytes;
}

}  // namespace cairn::cluster
