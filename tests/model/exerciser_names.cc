// The exerciser's operations on names, and on the open files that they lead to.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "model/exerciser.h"

namespace cairn::test {
namespace {

constexpr size_t most_handles = 8;
constexpr size_t most_directories = 12;

}  // namespace

void Exerciser::open() {
  if (handles_.size() >= most_handles) close();
  const Place place = any_place();
  const NodePtr before = place.node();
  int flags = O_RDWR | O_NOFOLLOW;
  if (!random_.one_in(5)) flags |= O_CREAT;
  if (random_.one_in(8)) flags |= O_EXCL & ((flags & O_CREAT) != 0 ? ~0 : 0);
  if (random_.one_in(8)) flags |= O_TRUNC;
  const bool append = random_.one_in(5);
  if (append) flags |= O_APPEND;
  int expected = 0;
  if (before == nullptr)
    expected = (flags & O_CREAT) != 0 ? 0 : ENOENT;
  else if ((flags & O_EXCL) != 0)
    expected = EEXIST;
  else if (before->is_link())
    expected = ELOOP;
  else if (before->is_directory())
    expected = EISDIR;
  cairn_file* file = nullptr;
  const int result =
      cairn_open(pool_, place.directory->ino, place.name.c_str(), flags, 0640, &file);
  if (options_.may_be_full && result == -ENOSPC && before == nullptr) {
    // The name may have been made when there was no room for the open file.
    cairn_stat st;
    if (cairn_lookup(pool_, place.directory->ino, place.name.c_str(), CAIRN_NOFOLLOW, &st) == 0) {
      place.directory->entries[place.name] = make_node(S_IFREG, 0640);
      place.node()->ino = st.ino;
    }
    ++refused_;
    return;
  }
  if (!went(result, expected, "open")) return;
  NodePtr node = before;
  if (node == nullptr) {
    node = make_node(S_IFREG, 0640);
    node->ino = cairn_file_ino(file);
    place.directory->entries[place.name] = node;
  }
  highest_inode_ = std::max(highest_inode_, node->ino);
  if ((flags & O_TRUNC) != 0) node->bytes.resize(0);
  if (cairn_file_ino(file) != node->ino) differs("open gave another inode");
  handles_.push_back({.file = file, .node = node, .append = append});
}

void Exerciser::open_unnamed() {
  if (handles_.size() >= most_handles) close();
  cairn_file* file = nullptr;
  if (!went(cairn_open(pool_, any_directory()->ino, ".", O_TMPFILE | O_RDWR, 0600, &file), 0,
            "O_TMPFILE"))
    return;
  NodePtr node = make_node(S_IFREG, 0600);
  node->links = 0;
  node->nameless = true;
  node->ino = cairn_file_ino(file);
  handles_.push_back({.file = file, .node = node});
}

void Exerciser::close() {
  if (handles_.empty()) return;
  const size_t i = random_.below(handles_.size());
  compare_all(handles_[i]);
  close(handles_[i]);
  handles_.erase(handles_.begin() + static_cast<ptrdiff_t>(i));
}

void Exerciser::make_directory() {
  const Place place = any_place();
  if (directories().size() >= most_directories) return;
  if (!went(cairn_mkdir(pool_, place.directory->ino, place.name.c_str(), 0750),
            place.node() != nullptr ? EEXIST : 0, "mkdir"))
    return;
  cairn_stat st;
  if (!went(cairn_lookup(pool_, place.directory->ino, place.name.c_str(), 0, &st), 0, "lookup"))
    return;
  NodePtr node = make_node(S_IFDIR, 0750);
  node->ino = st.ino;
  node->parent = place.directory.get();
  place.directory->entries[place.name] = node;
  ++place.directory->links;
}

void Exerciser::make_link() {
  const Place to = any_place();
  NodePtr node;
  int result = 0;
  if (random_.one_in(2) && !handles_.empty()) {
    Handle& h = handles_[random_.below(handles_.size())];
    node = h.node;
    result = cairn_link_ino(pool_, node->ino, to.directory->ino, to.name.c_str());
  } else {
    const Place from = any_place();
    node = from.node();
    result = cairn_link(pool_, from.directory->ino, from.name.c_str(), to.directory->ino,
                        to.name.c_str(), CAIRN_NOFOLLOW);
  }
  int expected = 0;
  if (node == nullptr)
    expected = ENOENT;
  else if (node->is_directory())
    expected = EPERM;
  else if (to.node() != nullptr)
    expected = EEXIST;
  else if (node->links == 0 && !node->nameless)
    expected = ENOENT;
  if (node != nullptr && node->is_directory() && to.node() != nullptr && result == -EEXIST) return;
  if (!went(result, expected, "link")) return;
  node->nameless = false;
  ++node->links;
  to.directory->entries[to.name] = node;
}

void Exerciser::make_symlink() {
  const Place place = any_place();
  const std::string target(1 + random_.below(random_.one_in(3) ? 4000 : 190), 't');
  if (!went(cairn_symlink(pool_, target.c_str(), place.directory->ino, place.name.c_str()),
            place.node() != nullptr ? EEXIST : 0, "symlink"))
    return;
  cairn_stat st;
  if (!went(cairn_lookup(pool_, place.directory->ino, place.name.c_str(), CAIRN_NOFOLLOW, &st), 0,
            "lookup"))
    return;
  NodePtr node = make_node(S_IFLNK, 0777);
  node->target = target;
  node->ino = st.ino;
  place.directory->entries[place.name] = node;
}

void Exerciser::rename() {
  const Place from = any_place();
  const Place to = any_place();
  const auto flags = static_cast<unsigned>(random_.below(3));
  if (options_.keeps_directories && (from.is_directory() || to.is_directory())) return;
  const int result = cairn_rename(pool_, from.directory->ino, from.name.c_str(), to.directory->ino,
                                  to.name.c_str(), flags);
  if (options_.may_be_full && result == -ENOSPC) {
    ++refused_;
    return;
  }
  const int expected = model_rename(*from.directory, from.name, *to.directory, to.name, flags);
  went(result, expected, "rename", false);
}

void Exerciser::unlink() {
  const Place place = any_place();
  const NodePtr node = place.node();
  int expected = 0;
  if (node == nullptr)
    expected = ENOENT;
  else if (node->is_directory())
    expected = EISDIR;
  if (!went(cairn_unlink(pool_, place.directory->ino, place.name.c_str()), expected, "unlink",
            false))
    return;
  --node->links;
  place.directory->entries.erase(place.name);
}

void Exerciser::remove_directory() {
  const Place place = any_place();
  if (options_.keeps_directories && place.is_directory()) return;
  const NodePtr node = place.node();
  int expected = 0;
  if (node == nullptr)
    expected = ENOENT;
  else if (!node->is_directory())
    expected = ENOTDIR;
  else if (!node->entries.empty())
    expected = ENOTEMPTY;
  if (!went(cairn_rmdir(pool_, place.directory->ino, place.name.c_str()), expected, "rmdir", false))
    return;
  --place.directory->links;
  place.directory->entries.erase(place.name);
}

}  // namespace cairn::test
