// Way writes checkpoints of the mini-application in one of four manners: the three of a study of
// persistent memory in containers (docs/user/sedov.md), and Cairn's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sedov/state.h"

namespace sedov {

class Way {
 public:
  virtual ~Way() = default;
  // Writes the state as it is now, over the last checkpoint. Collective.
  virtual void write() = 0;
  // Reads the last checkpoint into another state of the same rank. Comes last. Collective.
  virtual void restore(State& into) = 0;
  // A file of this rank that a bit may be flipped in; "": there is none.
  [[nodiscard]] virtual std::string file() const { return ""; }
};

// The files or the pool that a Way makes lie in `directory`, and go with it if `keep` is not set.
struct WayPlace {
  std::string directory;
  bool keep = false;
  // The persisting ways flush the variable's whole mapping at each element.
  bool whole_mapping = false;
};

// A file for each variable, rewritten element by element, with a flush of the stream after each.
std::unique_ptr<Way> file_way(State& state, const WayPlace& place);
// A mapped file for each variable; pmem_persist after each element.
std::unique_ptr<Way> persist_way(State& state, const WayPlace& place);
// The same with pmem_flush after each element, and one pmem_drain after the last of a variable.
std::unique_ptr<Way> drain_way(State& state, const WayPlace& place);
// Versions in a pool, through cairn/checkpoint.h.
std::unique_ptr<Way> cairn_way(State& state, const WayPlace& place);

struct KnownWay {
  const char* name;
  const char* about;
  std::unique_ptr<Way> (*make)(State& state, const WayPlace& place);
};
const std::vector<KnownWay>& known_ways();
// Whether this build has libpmem, without which persist_way() and drain_way() must not be called.
bool has_pmem();

}  // namespace sedov
