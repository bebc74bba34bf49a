#include "checkpoint/session/collected_version.h"

namespace cairn::checkpoint {

void CollectedVersion::begin(int64_t number) {
  end();
  number_ = number;
}

void CollectedVersion::put(const std::string& name, Definition definition) {
  std::optional<Definition> before;
  const auto found = definitions_.all().find(name);
  if (found != definitions_.all().end()) before = found->second;
  before_.try_emplace(name, std::move(before));
  definitions_.put(name, std::move(definition));
}

void CollectedVersion::end() {
  for (auto& [name, before] : before_) {
    if (before)
      definitions_.put(name, std::move(*before));
    else
      definitions_.remove(name).ignore();  // it is there, unless the program has removed it
  }
  before_.clear();
  number_.reset();
}

}  // namespace cairn::checkpoint
