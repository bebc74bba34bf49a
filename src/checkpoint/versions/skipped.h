// SkippedVersions: versions that could not be read, each once, with the reason. Every search for a
// version, in the pools or in lower, adds to it; a report counts those newer than the version that
// was read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cairn::checkpoint {

class SkippedVersions {
 public:
  // Adds a version; its first reason stays. `sequence` 0: the version is unknown.
  void add(uint64_t sequence, const std::string& why) {
    if (sequence == 0) {
      ++unknown_;
      if (why_unknown_.empty()) why_unknown_ = why;
    } else {
      why_.try_emplace(sequence, why);
    }
  }
  void add(const SkippedVersions& other) {
    for (const auto& [sequence, why] : other.why_) add(sequence, why);
    unknown_ += other.unknown_;
    if (why_unknown_.empty()) why_unknown_ = other.why_unknown_;
  }
  // Counts the versions newer than this one; unknown versions count as newer.
  [[nodiscard]] uint32_t newer_than(uint64_t sequence) const {
    return unknown_ + static_cast<uint32_t>(std::distance(why_.upper_bound(sequence), why_.end()));
  }
  // Returns the reason of the newest of these, or "".
  [[nodiscard]] std::string why_newer_than(uint64_t sequence) const {
    return why_.upper_bound(sequence) == why_.end() ? why_unknown_ : why_.rbegin()->second;
  }
  // Returns the first reason why a version could not be read, or "".
  [[nodiscard]] std::string why(uint64_t sequence) const {
    const auto found = why_.find(sequence);
    return found == why_.end() ? "" : found->second;
  }

 private:
  std::map<uint64_t, std::string> why_;
  uint32_t unknown_ = 0;
  std::string why_unknown_;
};

}  // namespace cairn::checkpoint
