#include "pools/pool_tree.h"

#include <algorithm>
#include <cerrno>

#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {

void tell_problem_of(const char* command, const std::string& text) {
  flush_output();  // the message comes after the output so far
  tell("cairn {}: {}\n", command, text);
}

PoolTree::PoolTree(const Pool& pool, const char* command, cairn_ino top)
    : pool_(pool),
      problem_([command](const std::string& text) { tell_problem_of(command, text); }) {
  met_[top] = {};
}

std::vector<std::string> PoolTree::names(cairn_ino directory, const std::string& path) {
  std::vector<std::string> names;
  std::vector<cairn_dirent> batch(128);
  for (uint64_t cookie = 0;;) {
    const int count = cairn_readdir(pool_.get(), directory, cookie, batch.data(), batch.size());
    if (count == -EUCLEAN) tell_problem(path + ": " + library_error(count));
    if (count == 0 || count == -EUCLEAN) return names;
    check(count, path);
    cookie = batch[static_cast<size_t>(count) - 1].cookie;
    for (int i = 0; i < count; ++i) {
      const cairn_dirent& each = batch[static_cast<size_t>(i)];
      std::string name(each.name, each.length);
      if (name != "." && name != "..") names.push_back(std::move(name));
    }
  }
}

std::vector<Entry> PoolTree::read(cairn_ino directory, const std::string& path) {
  std::vector<Entry> entries;
  for (std::string& name : names(directory, path)) {
    Entry entry{std::move(name), {}};
    const int result =
        cairn_lookup(pool_.get(), directory, entry.name.c_str(), CAIRN_NOFOLLOW, &entry.st);
    // A name that is removed between listing and lookup is not an error.
    if (result == -ENOENT) continue;
    check(result, join(path, entry.name));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

bool PoolTree::leads_to(cairn_ino above, const std::string& name, cairn_ino to) const {
  cairn_stat st{};
  return cairn_lookup(pool_.get(), above, name.c_str(), CAIRN_NOFOLLOW, &st) == 0 && st.ino == to;
}

bool PoolTree::enter(cairn_ino above, const std::string& name, const cairn_stat& st,
                     const std::string& path) {
  const auto [met, is_new] = met_.try_emplace(st.ino, above, name);
  if (is_new) return true;
  const auto before = met->second;
  if (before.first == above && before.second == name) return false;  // it was listed twice
  // The directory may have been moved here since. But it cannot be moved below itself, so the
  // directory in which the walk began was not.
  const bool was_moved = before.first != 0 && !leads_to(before.first, before.second, st.ino);
  if (!was_moved && leads_to(above, name, st.ino)) {
    tell_problem(path +
                 ": the same directory has another name, or lies below itself; skipped (`cairn "
                 "pool check` shows more)");
    return false;
  }
  met->second = {above, name};
  return true;
}

void PoolTree::tell_problem(const std::string& text) {
  failed_ = true;
  problem_(text);
}

}  // namespace cairn::cli
