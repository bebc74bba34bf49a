// The end of a run: wait until the last process has left the covered directory, drain, end the
// cover. `cairn run` and `cairn drain` share it.
#pragma once

#include <chrono>
#include <string>

#include "frame/config.h"
#include "runs/covers.h"
#include "runs/drain_notice.h"

namespace cairn::cli {

enum class Ended {
  drained,      // lower holds everything, the cover is gone
  gone,         // another run of the same cover has done it already
  in_use,       // drained, but processes are still in it (only without waiting)
  waiting,      // all of this node is in lower; other nodes' parts of some files are not
  failed,       // something could not be drained; it is still in the pool
  interrupted,  // by a signal; what is not drained is still in the pool
};

struct FinishResult {
  Ended ended = Ended::drained;
  Cover::DrainResult drain;
};

// `wait`: until nobody is in the cover; else drains what is there now. `end`: end the cover when
// all is drained. `for_others`: how long other nodes may take to put their parts of files to this
// one's, as long as no file gets whole. `notice`: tells of the drains; null: nobody is told.
FinishResult finish_cover(Pool& pool, const std::string& directory, bool wait, bool end,
                          std::chrono::seconds for_others, DrainNotice* notice = nullptr);

// The configured time for which a run waits for others (drain.wait).
std::chrono::seconds wait_for_others(const Config& config);

// The message about the end of a run, for stderr or stdout, and the exit code.
std::string finish_text(const std::string& directory, const FinishResult& result);
int finish_code(const FinishResult& result);

}  // namespace cairn::cli
