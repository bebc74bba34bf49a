#include <cairn/cairn.h>

#include <cstdlib>

#include "../kernels/common/job.h"
#include "../marked_pool.h"
#include "pieces.h"
#include "sedov/checkpoint.h"
#include "way.h"

namespace sedov {
namespace {

constexpr const char* set_name = "sedov-kernel";

// The pool of `cairn run` where the job runs under it; else a pool of the kernel's own.
class CairnWay : public Way {
 public:
  CairnWay(State& state, const WayPlace& place)
      : state_(state),
        path_(place.directory + "/pool"),
        marked_(path_, "sedov"),
        keep_(place.keep) {
    if (std::getenv("CAIRN_POOL") == nullptr) make_pool();
    checkpoint_ = std::make_unique<Checkpoint>(set_name, state_, MPI_COMM_WORLD, pool_,
                                               CAIRN_CHECKPOINT_FRESH);
  }
  ~CairnWay() override {
    checkpoint_.reset();
    if (pool_ == nullptr) return;
    cairn_pool_detach(pool_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (state_.rank == 0 && !keep_) must(marked_.remove());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CairnWay(const CairnWay&) = delete;
  CairnWay& operator=(const CairnWay&) = delete;

  void write() override { checkpoint_->write(); }

  // Restores with a new context, as a restarted job does.
  void restore(State& into) override {
    checkpoint_.reset();
    checkpoint_ = std::make_unique<Checkpoint>(set_name, into, MPI_COMM_WORLD, pool_);
    if (!checkpoint_->read()) kernels::fail(set_name, "holds no version to read");
    checkpoint_.reset();
  }

 private:
  void must(const std::string& wrong) const {
    if (!wrong.empty()) kernels::fail(path_, wrong);
  }

  void must(int result, const char* what) const {
    if (result < 0) kernels::fail(path_, std::string(what) + " failed: " + cairn_last_error());
  }

  void make_pool() {
    // Two versions and the next one, rounded up to blocks and large pages, and the rest of a pool.
    const auto all = static_cast<uint64_t>(kernels::sum(static_cast<long long>(bytes_of(state_))));
    if (state_.rank == 0) must(marked_.make(4 * all + (uint64_t{64} << 20)));
    MPI_Barrier(MPI_COMM_WORLD);
    must(cairn_pool_attach(path_.c_str(), 0, &pool_), "attaching it");
  }

  State& state_;
  std::string path_;
  bench::MarkedPool marked_;
  bool keep_;
  cairn_pool* pool_ = nullptr;
  std::unique_ptr<Checkpoint> checkpoint_;
};

}  // namespace

std::unique_ptr<Way> cairn_way(State& state, const WayPlace& place) {
  return std::make_unique<CairnWay>(state, place);
}

}  // namespace sedov
