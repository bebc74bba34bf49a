// The exerciser's operations on attributes, modes and times.
#include <cerrno>

#include "model/exerciser.h"

namespace cairn::test {

void Exerciser::attribute() {
  const Place place = any_place();
  const NodePtr node = place.node();
  if (node == nullptr) return;
  const std::string name = "user.a" + std::to_string(random_.below(4));
  const bool there = node->attributes.count(name) != 0;
  if (random_.one_in(3)) {
    if (went(cairn_removexattr(pool_, node->ino, 0, name.c_str()), there ? 0 : ENODATA,
             "removexattr"))
      node->attributes.erase(name);
  } else {
    const auto bytes = any_bytes(1 + random_.below(900));
    const auto flags = static_cast<int>(random_.below(3));
    const int expected = flags == 1 && there ? EEXIST : flags == 2 && !there ? ENODATA : 0;
    if (went(cairn_setxattr(pool_, node->ino, 0, name.c_str(), bytes.data(), bytes.size(), flags),
             expected, "setxattr"))
      node->attributes[name] = std::string(bytes.begin(), bytes.end());
  }
  char value[4096];
  const ssize_t n = cairn_getxattr(pool_, node->ino, 0, name.c_str(), value, sizeof value);
  const auto now = node->attributes.find(name);
  if (now == node->attributes.end()
          ? n != -ENODATA
          : n < 0 || std::string(value, static_cast<size_t>(n)) != now->second)
    differs("getxattr gave " + std::to_string(n) + " or other bytes");
}

void Exerciser::change_mode() {
  const Place place = any_place();
  const NodePtr node = place.node();
  if (node == nullptr || node->is_link()) return;
  const auto mode = static_cast<uint32_t>(random_.below(01000));
  if (!went(cairn_chmod(pool_, node->ino, 0, mode), 0, "chmod", false)) return;
  const auto time = static_cast<int64_t>(random_.below(1U << 30));
  went(cairn_utimens(pool_, node->ino, 0, time, time + 1), 0, "utimens", false);
  cairn_stat st;
  if (!went(cairn_stat_ino(pool_, node->ino, &st), 0, "stat", false)) return;
  if ((st.mode & 07777) != mode || st.atime_ns != time || st.mtime_ns != time + 1)
    differs("stat shows another mode or other times");
  node->mode = mode;
}

}  // namespace cairn::test
