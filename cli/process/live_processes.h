// Of the lanes of a pool, those whose processes run. The places of others are free for whoever
// comes.
#pragma once

#include <cairn/cairn.h>

#include <string>
#include <vector>

namespace cairn::cli {

std::vector<cairn_lane_info> live(const std::vector<cairn_lane_info>& lanes);
// What to say of the others; "" if there are none.
std::string ended_text(const std::vector<cairn_lane_info>& lanes);

}  // namespace cairn::cli
