// CollectedVersion: a version that a program begins, gives variables of its own, and commits. When
// it ends, the variables that were defined before under their names are defined again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "checkpoint/define/definitions.h"

namespace cairn::checkpoint {

class CollectedVersion {
 public:
  // `definitions` stay where they are.
  explicit CollectedVersion(Definitions* definitions) : definitions_(*definitions) {}

  // Begins a version; one that was begun before ends.
  void begin(int64_t number);
  // Returns the number of the version that was begun; no value: none was.
  [[nodiscard]] std::optional<int64_t> number() const { return number_; }
  // Defines a variable for this version alone.
  void put(const std::string& name, Definition definition);
  // Ends the version, committed or not.
  void end();

 private:
  Definitions& definitions_;
  std::optional<int64_t> number_;
  // The definitions that its own variables have replaced; no value: the name was free.
  std::map<std::string, std::optional<Definition>> before_;
};

}  // namespace cairn::checkpoint
