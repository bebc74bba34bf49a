// Coordinator keeps what the processes that have a file open share: words, a lock, and a log of
// what they wrote immediately. It lies in the memory of one server, on the node of the group's rank
// 0, and ends with the job.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/rpc/protocol.h"

namespace cairn::cluster {

class Coordinator {
 public:
  static constexpr uint32_t words = 4;

  // What follows a reply.
  struct More {
    std::vector<Posted> posted;
    Holder holder = {};  // of a lock that another process has
    std::vector<uint8_t> left;
  };
  // Answers a request about a home, which is made by the first one.
  Reply answer(const Request& request, const ByteRun* runs, const std::string& text, More* more);

 private:
  struct Home {
    int64_t words[Coordinator::words] = {};
    Holder holder = {};  // of the lock; process 0: nobody
    // What it does with it, and behind that of one from whom it was taken.
    std::vector<std::string> intents;
    bool has_told = false;    // the last one is the holder's
    bool unfinished = false;  // who had it last could not finish the others
    std::vector<Posted> log;  // of the entries from `first` on
    int64_t first = 0;
  };
  static Reply lock(Home* home, const Request& request, const std::string& text, More* more);
  std::mutex mutex_;
  std::map<uint64_t, Home> homes_;
};

}  // namespace cairn::cluster
