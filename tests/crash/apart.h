// Work whose threads or memory cannot be got rid of is done in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace cairn::test {

inline constexpr char died_of_signal[] = "died of signal ";

// What `work` returned there, at most 64 KiB of text; "hangs" after so many seconds; "died of
// signal N"; or how it exited otherwise. Expectations that fail there count as well.
std::string apart(unsigned seconds, const std::function<std::string()>& work);

}  // namespace cairn::test
