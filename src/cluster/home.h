// Home: what the processes that have a file open share: words, a lock, and what was written at once. It lies in the
// memory of one server, that of the node of the group's rank 0, and goes with the job.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "cluster/messages.h"

namespace cairn::cluster {

class Homes {
 public:
  static constexpr uint32_t words = 4;

  // Answers a request about a home, which is made by the first one. What follows the reply goes to `posted`, or for a lock that another one
  // has to `holder`.
  Reply answer(const Request& request, const Run* runs, std::vector<Posted>* posted,
               Holder* holder);

 private:
  struct Home {
    int64_t words[Homes::words] = {};
    Holder holder = {};       // of the lock; process 0: nobody
    std::vector<Posted> log;  // of the entries from `first` on
    int64_t first = 0;
  };
  std::mutex mutex_;
  std::map<uint64_t, Home> homes_;
};

}  // namespace cairn::cluster
