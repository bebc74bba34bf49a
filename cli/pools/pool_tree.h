// PoolTree: the directories that one command goes through in a pool.
//
// A pool can be damaged, or an attacker can have made it: with a name that no file can have, a
// directory below itself, or a directory with many names. A command reports such a thing, leaves it
// out, does the rest, and fails at its end.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pools/pool_path.h"

namespace cairn::cli {

// One line on stderr, in front of which stands "cairn COMMAND: ".
void tell_problem_of(const char* command, const std::string& text);

class PoolTree {
 public:
  using Problem = std::function<void(const std::string& text)>;
  // A walk that begins at `top`. `command`: named in messages.
  PoolTree(const Pool& pool, const char* command, cairn_ino top);
  // Makes a tree that only lists.
  PoolTree(const Pool& pool, Problem problem) : pool_(pool), problem_(std::move(problem)) {}

  // All entries of the directory but "." and "..", sorted by name. `path`: how it is shown.
  std::vector<Entry> read(cairn_ino directory, const std::string& path);
  // Their names only, as they are listed.
  std::vector<std::string> names(cairn_ino directory, const std::string& path);
  // Before the walk enters the directory of that name: false, and that has been told, if it must
  // not.
  bool enter(cairn_ino above, const std::string& name, const cairn_stat& st,
             const std::string& path);
  void tell_problem(const std::string& text);
  // A problem has been told.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  [[nodiscard]] bool leads_to(cairn_ino above, const std::string& name, cairn_ino to) const;

  const Pool& pool_;
  Problem problem_;
  std::map<cairn_ino, std::pair<cairn_ino, std::string>> met_;  // by which name
  bool failed_ = false;
};

}  // namespace cairn::cli
