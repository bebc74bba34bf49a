// Messages: what processes of a job ask the servers of their nodes. Within one job, so in the machine's own words.
#pragma once

#include <cstdint>

#include "cluster/record.h"

namespace cairn::cluster {

enum class Op : uint32_t {
  read = 1,     // runs of a part: their bytes, one behind the other
  remove_part,  // its file is gone
  // What a file's home keeps for those who have it open (home.h).
  fetch_add,
  store,
  lock,
  unlock,
  post,  // runs that a process has just written
  news,  // what was posted from `value` on
  trim,  // nobody asks for what was posted before `value`
  end,
};

struct Request {
  Op op;
  uint32_t which;  // fetch_add, store: the word; post: the node that wrote
  uint64_t home;   // names what is kept
  Uuid uuid;
  int64_t value;
  uint64_t runs;  // that follow
};

struct Reply {
  int32_t error;  // an errno; then text follows
  uint32_t padding;
  int64_t value;
  uint64_t size;  // of what follows
};

struct Posted {
  Run run;
  uint64_t node;  // index into the job's nodes
};

inline constexpr uint64_t most_bytes = 8ULL << 20;  // that follow a reply
inline constexpr uint64_t most_news = 1024;         // entries that a reply holds
inline constexpr uint64_t most_runs = 32768;        // that follow a request
inline constexpr size_t reply_capacity = sizeof(Reply) + most_bytes;
inline constexpr size_t request_capacity = sizeof(Request) + most_runs * sizeof(Run);

}  // namespace cairn::cluster
