// Selects the lanes of a pool whose processes run. The other lanes are free for new processes.
#pragma once

#include <cairn/cairn.h>

#include <string>
#include <vector>

namespace cairn::cli {

std::vector<cairn_lane_info> live(const std::vector<cairn_lane_info>& lanes);
// A text about the lanes whose processes have ended; "" if there are none.
std::string ended_text(const std::vector<cairn_lane_info>& lanes);

}  // namespace cairn::cli
