// The end of a run: wait until the last process has left the covered directory, drain, end the cover.
// `cairn run` and `cairn drain` share it.
#pragma once

#include <string>

#include "covers.h"

namespace cairn::cli {

enum class Ended {
  drained,      // lower holds everything, the cover is gone
  gone,         // another run of the same cover has done it already
  in_use,       // drained, but processes are still in it (only without waiting)
  failed,       // something could not be drained; it is still in the pool
  interrupted,  // by a signal; what is not drained is still in the pool
};

struct FinishResult {
  Ended ended = Ended::drained;
  Cover::DrainResult drain;
};

// `wait`: until nobody is in the cover; else drains what is there now. `end`: end the cover when all is drained.
FinishResult finish_cover(Pool& pool, const std::string& directory, bool wait, bool end);

// What a person is told about it, on stderr or stdout; and the exit code.
std::string finish_text(const std::string& directory, const FinishResult& result);
int finish_code(const FinishResult& result);

}  // namespace cairn::cli
