// The contents of a claim (claim.h), and its text.
#pragma once

#include <cstddef>
#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

struct Claim {
  std::string host;
  std::string machine;  // its id, because two machines may have one name
  std::string boot;     // the boot's id, because memory of an earlier boot is gone
  std::string pool;     // path
  std::string place;  // device and inode of the directory that the pool lies in: containers have a
                      // /dev/shm each
  std::string uuid;   // of the pool
  std::string job;
  std::string time;   // seconds since the epoch
  std::string token;  // of the cover; "" in a claim of an earlier version
};

// A claim may be so large: a larger file is not read as one.
inline constexpr size_t most_claim_bytes = size_t{64} << 10;

// The name of a job or launch as Cairn stores and compares it. Environments of launchers hold texts
// of any length. Only the first line counts; of a long one, the end is replaced by a hash of all.
std::string stored_name(const std::string& given);

// A claim that only names this machine.
Claim claim_of_host();
// The claim that this process would write.
Claim own_claim(const file::FileSystem& fs, const std::string& job);
// Claim::place of a pool at this path, as this process sees it; "" if there is no such directory.
std::string place_of(const std::string& pool);
std::string text_of(const Claim& claim);
Claim claim_of(const std::string& text);

}  // namespace cairn::tier
