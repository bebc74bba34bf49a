// network: what the network gives between nodes: each rank reads from a rank of the next node, all
// of them at the same time.
//   network [options]
// The reads are MPI_Get from a window; then each rank sends its bytes to the reader by messages.
// Where MPI makes no window there are messages only. On one node the bytes move through its memory,
// and the parameter `pairs_between_nodes` is 0.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/partners.h"
#include "common/report.h"
#include "parts/equal_pieces.h"

namespace kernels {
namespace {

constexpr int outstanding = 16;  // pieces that a rank waits for together

struct Options {
  Common common;
  EqualPieces pieces{.block = 16 << 20, .passes = 4};
  int repetitions = 1;
  bool messages = false;
};

const Description description = {
    .about = "each rank reads what a rank of the next node has, all at the same time",
    .usage = "[options]",
    .accesses = {{"get"}, {"message"}},
    .verifies = "every byte, after each access",
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  options.pieces.take_sizes(&arguments);
  options.pieces.take_passes(&arguments);
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  arguments.flag("--messages", "no one-sided reads", &options.messages);
  constexpr int64_t most = 1 << 30;  // a count of MPI is an int
  arguments.parse(argc, argv,
                  [&](Mistakes* mistakes) { options.pieces.settle(mistakes, 8, most); });
  return options;
}

// The bytes that a rank has, in a window if MPI makes one on every rank. Collective.
class Window {
 public:
  Window(int64_t size, bool wanted) {
    int made = 0;
    void* base = nullptr;
    if (wanted) {
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      made =
          MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_) == MPI_SUCCESS
              ? 1
              : 0;
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    one_sided_ = sum(made) == job().ranks;
    bytes_ = static_cast<char*>(base);
    if (one_sided_) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    } else {
      own_.resize(static_cast<size_t>(size));
      bytes_ = own_.data();
    }
  }
  ~Window() {
    if (!one_sided_) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] bool one_sided() const { return one_sided_; }
  [[nodiscard]] char* bytes() const { return bytes_; }
  [[nodiscard]] MPI_Win handle() const { return window_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  bool one_sided_ = false;
  char* bytes_ = nullptr;
  std::vector<char> own_;
};

class Network {
 public:
  explicit Network(const Options& options)
      : options_(options),
        partners_(partners_of_next_node()),
        window_(options.pieces.block, !options.messages),
        pattern_(options.pieces.piece, 0),
        got_(static_cast<size_t>(options.pieces.block)) {
    pattern_.become_writer(job().rank);
    for (int64_t at = 0; at < options.pieces.block; at += options.pieces.piece) {
      pattern_.move_to(at);
      std::memcpy(window_.bytes() + at, pattern_.data(), static_cast<size_t>(options.pieces.piece));
    }
    if (window_.one_sided()) MPI_Win_sync(window_.handle());
    report_.api = window_.one_sided() ? "one-sided reads, messages" : "messages";
    report_.parameters = {{"block_bytes", options.pieces.block},
                          {"transfer_bytes", options.pieces.piece},
                          {"passes", options.pieces.passes},
                          {"pairs_between_nodes", partners_.between_nodes}};
  }

  Report& run() {
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      if (window_.one_sided()) measure("get", repetition, [&] { get(); });
      measure("message", repetition, [&] { exchange(); });
    }
    MPI_Barrier(MPI_COMM_WORLD);  // nobody frees what another one still reads
    return report_;
  }

 private:
  [[nodiscard]] int piece() const { return static_cast<int>(options_.pieces.piece); }

  template <typename Pass>
  void measure(const char* name, int repetition, const Pass& pass) {
    std::fill(got_.begin(), got_.end(), '\0');
    Stopwatch watch;
    for (int number = 0; number < options_.pieces.passes; ++number) pass();
    watch.lap("transfer");
    report_.accesses.push_back(options_.pieces.access(name, repetition, watch.stop()));
    if (options_.common.check) check(repetition);
  }

  void get() {
    int waiting = 0;
    for (int64_t at = 0; at < options_.pieces.block; at += options_.pieces.piece) {
      MPI_Get(got_.data() + at, piece(), MPI_BYTE, partners_.source, at, piece(), MPI_BYTE,
              window_.handle());
      if (++waiting < outstanding) continue;
      MPI_Win_flush(partners_.source, window_.handle());
      waiting = 0;
    }
    MPI_Win_flush(partners_.source, window_.handle());
  }

  void exchange() {
    std::vector<MPI_Request> requests;
    for (int64_t at = 0; at < options_.pieces.block; at += options_.pieces.piece) {
      requests.resize(requests.size() + 2);
      MPI_Irecv(got_.data() + at, piece(), MPI_BYTE, partners_.source, 0, MPI_COMM_WORLD,
                &requests[requests.size() - 2]);
      MPI_Isend(window_.bytes() + at, piece(), MPI_BYTE, partners_.reader, 0, MPI_COMM_WORLD,
                &requests[requests.size() - 1]);
      if (requests.size() == 2 * outstanding) wait(&requests);
    }
    wait(&requests);
  }

  static void wait(std::vector<MPI_Request>* requests) {
    MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
    requests->clear();
  }

  void check(int repetition) {
    if (options_.common.corrupt >= 0 && options_.common.corrupt < options_.pieces.block &&
        job().rank == 0)
      got_[static_cast<size_t>(options_.common.corrupt)] ^= 1;
    Check found;
    found.repetition = repetition;
    pattern_.become_writer(partners_.source);
    for (int64_t at = 0; at < options_.pieces.block; at += options_.pieces.piece) {
      pattern_.move_to(at);
      found.compare(pattern_.data(), got_.data() + at, options_.pieces.piece,
                    "rank " + std::to_string(partners_.source), at);
    }
    found.gather();
    report_.checks.push_back(found);
  }

  const Options& options_;
  Partners partners_;
  Window window_;
  Pattern pattern_;
  std::vector<char> got_;
  Report report_;
};

kernels::Report run(const Options& options) {
  Network network(options);
  return network.run();
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("network", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  const kernels::Report report = kernels::run(options);
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_limits(report, "a read"); });
}
