#include "process/live_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cairn::cli {

std::vector<cairn_lane_info> live(const std::vector<cairn_lane_info>& lanes) {
  std::vector<cairn_lane_info> found;
  std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(found),
               [](const cairn_lane_info& lane) { return lane.alive != 0; });
  return found;
}

std::string ended_text(const std::vector<cairn_lane_info>& lanes) {
  const size_t ended = lanes.size() - live(lanes).size();
  if (ended == 0) return "";
  return ended == 1
             ? "1 process has ended; the next process to attach takes over its lane"
             : fmt::format(
                   "{} processes have ended; the next processes to attach take over their lanes",
                   ended);
}

}  // namespace cairn::cli
