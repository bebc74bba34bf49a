#include "cluster/mpi/messages/watchdog.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cluster/mpi/messages/waiting.h"
#include "cluster/mpi/ranks/processes.h"

namespace cairn::mpi {
Watchdog::Watchdog(const Peers& peers, MPI_Comm comm, const char* phase)
    : peers_(peers), comm_(comm), phase_(phase), began_ns_(now_ns()) {}

Watchdog::~Watchdog() {
  while (call_ != nullptr) look();
}

// The tree's: the parent has the lowest bit of the rank cleared. As ranks of the job.
std::vector<int> Watchdog::neighbours() const {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm_, &rank);
  PMPI_Comm_size(comm_, &size);
  std::vector<int> ranks;
  if (rank != 0) ranks.push_back(rank & (rank - 1));
  for (int bit = 1; rank + bit < size && (rank & bit) == 0; bit *= 2) ranks.push_back(rank + bit);
  std::vector<int> in_job(ranks.size());
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group job = MPI_GROUP_NULL;
  PMPI_Comm_group(comm_, &group);
  PMPI_Comm_group(peers_.comm, &job);
  PMPI_Group_translate_ranks(group, static_cast<int>(ranks.size()), ranks.data(), job,
                             in_job.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&job);
  return in_job;
}

void Watchdog::give_up(const std::string& who) const {
  const std::string doing = Doing::text();
  abort_job(doing + (doing.empty() ? "" : ": ") + phase_ + ": after " +
            std::to_string((now_ns() - began_ns_) / 1'000'000'000) + " s " + who);
  std::abort();
}

void Watchdog::take(uint32_t node, int rank, char state) {
  const std::string who = "rank " + std::to_string(rank) + " on " + peers_.name_of(node);
  if (state == process_gone) give_up(who + " is gone");
  if (state != process_stopped) return;
  if (std::find(was_stopped_.begin(), was_stopped_.end(), rank) != was_stopped_.end())
    give_up(who + " is stopped");
  stopped_.push_back(rank);
}

void Watchdog::inquire() {
  was_stopped_ = std::exchange(stopped_, {});
  inquiries_.clear();
  questions_.clear();
  for (const int rank : neighbours()) {
    if (rank == MPI_UNDEFINED) continue;
    const uint32_t node = peers_.roster.node_of(rank);
    if (node == peers_.own) {
      take(node, rank, peers_.processes.state_of(rank));
      continue;
    }
    const auto known = std::find_if(inquiries_.begin(), inquiries_.end(),
                                    [&](const Inquiry& one) { return one.node == node; });
    if (known != inquiries_.end())
      known->ranks.push_back(rank);
    else
      inquiries_.push_back({node, {rank}, {}});
  }
  for (Inquiry& one : inquiries_) {
    one.states.resize(one.ranks.size());
    questions_.push_back({one.node, one.ranks.data(), one.ranks.size() * sizeof(int32_t),
                          one.states.data(), one.states.size(), 0});
  }
  call_ = std::make_unique<Call>(peers_, Envelope::Kind::processes, questions_.data(),
                                 questions_.size());
}

void Watchdog::take_answers() {
  call_ = nullptr;
  for (const Inquiry& one : inquiries_)
    for (size_t i = 0; i < one.ranks.size(); ++i) take(one.node, one.ranks[i], one.states[i]);
}

void Watchdog::look() {
  give_way();
  if (call_ != nullptr && call_->step()) {
    take_answers();
    due_ = {};
  }
  if (!due_.is_over()) return;
  if (call_ != nullptr) give_up("no answer of " + call_->unanswered());
  if (!peers_.answering) return;
  inquire();
  due_ = {};
}

}  // namespace cairn::mpi
