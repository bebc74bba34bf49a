// FakeTransport: a transport of a job whose other nodes say what this process says, unless a test
// changes it. A peer of the program's MPI for unit tests in one process.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/run/run_transport.h"

namespace cairn::checkpoint {

class FakeTransport final : public RunTransport {
 public:
  // What a test sees and sets; it outlives the transport.
  struct Job {
    uint32_t nodes = 1;
    uint32_t ranks_of_node = 1;
    uint32_t rank = 0;  // of this process
    int joined = 0;     // how often
    int left = 0;
    bool had_pool = false;
    int64_t greatest_of_others = 0;                     // in maximum()
    std::function<void(void* bytes)> as_rank_0_says{};  // changes what broadcast() sends
    std::function<void(uint32_t node, void* bytes)> as_others_say{};  // in gathers
  };
  explicit FakeTransport(Job* job) : job_(*job) {}

  Status join(bool has_pool) override {
    ++job_.joined;
    job_.had_pool = has_pool;
    return Status();
  }
  void leave() override { ++job_.left; }
  [[nodiscard]] uint32_t rank() const override { return job_.rank; }
  [[nodiscard]] uint32_t ranks() const override { return job_.nodes * job_.ranks_of_node; }
  [[nodiscard]] std::vector<uint32_t> own_ranks() const override {
    std::vector<uint32_t> ranks(job_.ranks_of_node);
    std::iota(ranks.begin(), ranks.end(), node() * job_.ranks_of_node);
    return ranks;
  }
  Status broadcast(void* bytes, size_t) override {
    if (job_.as_rank_0_says) job_.as_rank_0_says(bytes);
    return Status();
  }

  [[nodiscard]] uint32_t node() const override { return job_.rank / job_.ranks_of_node; }
  [[nodiscard]] uint32_t nodes() const override { return job_.nodes; }
  [[nodiscard]] std::string name_of(uint32_t node) const override {
    return "node " + std::to_string(node);
  }
  [[nodiscard]] Uuid pool_of(uint32_t node) const override {
    return {static_cast<uint8_t>(node + 1)};
  }
  void serve_with(Serve) override {}
  Status begin_gather(Channel, const void* bytes, size_t size, void* all) override {
    return gather_to_all(bytes, size, all);
  }
  Result<bool> test_gather(Channel) override { return true; }
  Result<size_t> ask(uint32_t, const void*, size_t, void*, size_t) override {
    return fail(ENOTCONN, "the other nodes of a fake job answer nothing");
  }
  void progress() override {}
  Status gather_to_all(const void* bytes, size_t size, void* all) override {
    for (uint32_t number = 0; number < job_.nodes; ++number) {
      auto* const to = static_cast<uint8_t*>(all) + number * size;
      std::memcpy(to, bytes, size);
      if (number != node() && job_.as_others_say) job_.as_others_say(number, to);
    }
    return Status();
  }
  Result<int64_t> maximum(int64_t value) override {
    return std::max(value, job_.greatest_of_others);
  }

 private:
  Job& job_;
};

}  // namespace cairn::checkpoint
