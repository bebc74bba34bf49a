// C API: when a run should end, and how often a checkpoint pays (include/cairn/checkpoint.h).
#include <algorithm>
#include <cstdio>

#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/run/optimal_interval.h"

using cairn::Status;
using cairn::capi::code;
using cairn::capi::ExitWatch;
namespace ckpt = cairn::checkpoint;

namespace {

// A last checkpoint may take longer than the ones before, and the program ends after it.
constexpr uint64_t margin_num = 3;
constexpr uint64_t margin_den = 2;

void put_text(uint32_t reason, const cairn_checkpoint_outlook& outlook, char (&text)[256]) {
  constexpr double ns_of_s = 1e9;
  const double cost = static_cast<double>(outlook.cost_ns) / ns_of_s;
  switch (reason) {
    case ExitWatch::signal:
      if (outlook.signal != 0)
        std::snprintf(text, sizeof text, "signal %u came", outlook.signal);
      else
        std::snprintf(text, sizeof text, "a signal came to another rank");
      break;
    case ExitWatch::time:
      std::snprintf(text, sizeof text, "%.0f s are left, a checkpoint takes %.1f s",
                    static_cast<double>(outlook.left_ns) / ns_of_s, cost);
      break;
    case ExitWatch::halt_file:
      std::snprintf(text, sizeof text, "the halt file is there");
      break;
    default:
      break;
  }
}

}  // namespace

uint64_t cairn_checkpoint::cost_ns() const {
  uint64_t most = 0;
  for (uint64_t sequence = writer->sequence(), looks = 0; sequence != 0 && looks < 3;
       --sequence, ++looks) {
    const ckpt::Outcome* const outcome = writer->outcome(sequence);
    if (outcome == nullptr) break;
    if (outcome->is_committed && outcome->local_ns > outcome->begun_ns)
      most = std::max(most, outcome->local_ns - outcome->begun_ns);
  }
  return most;
}

extern "C" {

int cairn_checkpoint_should_exit(cairn_checkpoint* checkpoint, cairn_checkpoint_outlook* outlook) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  const uint64_t cost = checkpoint->cost_ns();
  const ExitWatch& watch = *checkpoint->exit_watch;
  const uint64_t needed = cost * margin_num / margin_den + checkpoint->options.exit_margin_ns;
  const auto met = checkpoint->meet_on_exit(watch.look(needed));
  if (!met.ok()) return code(met.status());
  cairn_checkpoint_outlook seen{};
  seen.reason = static_cast<uint32_t>(*met);
  seen.signal = static_cast<uint32_t>(ExitWatch::signal_number());
  seen.left_ns = watch.left_ns();
  seen.cost_ns = cost;
  seen.interval_ns = ckpt::advised_interval_ns(cost, checkpoint->options.mtbf_ns);
  put_text(seen.reason, seen, seen.text);
  cairn::capi::copy_out(seen, outlook);
  return seen.reason == ExitWatch::none ? 0 : 1;
}

}  // extern "C"
