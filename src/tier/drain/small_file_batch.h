// SmallFileBatch drains small files of one directory together.
#pragma once

#include <vector>

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

class SmallFileBatch {
 public:
  static bool suits(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                    const file::Map& map);

  SmallFileBatch(DrainState& state, const DrainDirectory& where, LowerDirectory& lower)
      : state_(state), where_(where), lower_(lower) {}
  // Adds a file. If there is no room for it, drains the others first.
  void add(const file::Listed& listed, const file::Map& map);
  void drain();

 private:
  struct BatchedFile {
    file::Listed listed;
    file::Map map;
  };
  DrainState& state_;
  const DrainDirectory& where_;
  LowerDirectory& lower_;
  // Drains files from this one on, as many as there are descriptors for and at least one. Returns
  // the first of the next ones.
  size_t drain_some(size_t from);

  std::vector<BatchedFile> files_;
  uint64_t bytes_ = 0;
};

}  // namespace cairn::tier
