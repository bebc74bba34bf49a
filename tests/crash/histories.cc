#include "crash/histories.h"

namespace cairn::test {

const std::vector<History>& all_histories() {
  static const std::vector<History> all = [] {
    std::vector<History> joined;
    for (const auto& part :
         {histories_of_names(), histories_of_bytes(), histories_of_inodes(), histories_of_crowds(),
          histories_of_processes(), histories_of_detach(), histories_of_tiers()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

}  // namespace cairn::test
