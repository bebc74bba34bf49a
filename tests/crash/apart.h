// Work whose threads or memory cannot be got rid of is done in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace cairn::test {

// What `work` returned there; "hangs" after so many seconds, "died of signal N", or at most 64 KiB of text.
std::string apart(unsigned seconds, const std::function<std::string()>& work);

}  // namespace cairn::test
