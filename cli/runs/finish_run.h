// Finishes a run: waits until the last process has left the covered directory, drains, and ends the
// cover. `cairn run` and `cairn drain` share it.
#pragma once

#include <chrono>
#include <string>

#include "frame/config.h"
#include "runs/covers.h"
#include "runs/drain_notice.h"

namespace cairn::cli {

enum class Ended {
  drained,      // lower holds everything, and the cover has ended
  gone,         // another run of the same cover had ended it already
  in_use,       // drained, but processes are still in it (only without waiting)
  waiting,      // all of this node is in lower; other nodes' parts of some files are not
  failed,       // something could not be drained; it is still in the pool
  interrupted,  // by a signal; what is not drained is still in the pool
};

struct FinishResult {
  Ended ended = Ended::drained;
  Cover::DrainResult drain;
};

// `wait`: wait until no process is in the cover; else drain what is there now. `end`: end the cover
// when all is drained. `for_others`: how long other nodes may take to add their parts of files, as
// long as no file becomes complete. `notice` reports the drains; it may be null.
FinishResult finish_cover(Pool& pool, const std::string& directory, bool wait, bool end,
                          std::chrono::seconds for_others, DrainNotice* notice = nullptr);

// The configured time for which a run waits for others (drain.wait).
std::chrono::seconds wait_for_others(const Config& config);

// The message about the end of a run, for stderr or stdout, and the exit code.
std::string finish_text(const std::string& directory, const FinishResult& result);
int finish_code(const FinishResult& result);

}  // namespace cairn::cli
