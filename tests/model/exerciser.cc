#include "model/exerciser.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace cairn::test {
namespace {

constexpr size_t most_handles = 8;
constexpr size_t most_directories = 12;

void list_directories(const NodePtr& node, std::vector<NodePtr>* list) {
  list->push_back(node);
  for (const auto& [name, child] : node->entries) {
    if (child->is_directory()) list_directories(child, list);
  }
}

}  // namespace

Exerciser::Exerciser(cairn_pool* pool, cairn_ino top, const ExerciserOptions& options)
    : pool_(pool),
      top_(top),
      options_(options),
      random_(options.seed),
      root_(make_node(S_IFDIR, 0700)) {
  root_->ino = top;
}

Exerciser::~Exerciser() {
  for (Handle& h : handles_) cairn_close(h.file);
}

void Exerciser::differs(const std::string& what) {
  if (!failed_)
    ADD_FAILURE() << "operation " << operations_ << " of seed " << options_.seed << " (" << last_
                  << "): " << what << "; last error: " << cairn_last_error();
  failed_ = true;
}

bool Exerciser::went(int64_t result, int expected, const char* what, bool may_lack_space) {
  if (expected == 0 && result >= 0) return true;
  if (result == -expected) return false;
  if (may_lack_space && options_.may_be_full && result == -ENOSPC) {
    ++refused_;
    return false;
  }
  differs(std::string(what) + " gave " + std::to_string(result) + ", not " +
          std::to_string(-expected));
  return false;
}

NodePtr Exerciser::any_directory() {
  std::vector<NodePtr> all;
  list_directories(root_, &all);
  return all[random_.below(all.size())];
}

Exerciser::Place Exerciser::any_place() {
  const uint64_t n = random_.below(14);
  std::string name = "n" + std::to_string(n);
  if (n == 0) name = std::string(255, 'x');
  if (n == 1) name = std::string(60 + random_.below(3), 'y');
  return {any_directory(), name};
}

Exerciser::Handle* Exerciser::any_handle() {
  if (handles_.empty()) open();
  return handles_.empty() || failed_ ? nullptr : &handles_[random_.below(handles_.size())];
}

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
  handles_.push_back({file, node, append, 0});
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
  handles_.push_back({file, node, false, 0});
}

void Exerciser::close() {
  if (handles_.empty()) return;
  const size_t i = random_.below(handles_.size());
  compare_all(handles_[i]);
  went(cairn_close(handles_[i].file), 0, "close", false);
  handles_.erase(handles_.begin() + static_cast<ptrdiff_t>(i));
}

void Exerciser::make_directory() {
  const Place place = any_place();
  std::vector<NodePtr> all;
  list_directories(root_, &all);
  if (all.size() >= most_directories) return;
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

void Exerciser::attribute() {
  const Place place = any_place();
  const NodePtr node = place.node();
  if (node == nullptr) return;
  const std::string name = "user.a" + std::to_string(random_.below(4));
  const bool there = node->attributes.count(name) != 0;
  if (random_.one_in(3)) {
    if (went(cairn_removexattr(pool_, node->ino, name.c_str()), there ? 0 : ENODATA, "removexattr"))
      node->attributes.erase(name);
  } else {
    const auto bytes = any_bytes(1 + random_.below(900));
    const auto flags = static_cast<int>(random_.below(3));
    const int expected = flags == 1 && there ? EEXIST : flags == 2 && !there ? ENODATA : 0;
    if (went(cairn_setxattr(pool_, node->ino, name.c_str(), bytes.data(), bytes.size(), flags),
             expected, "setxattr"))
      node->attributes[name] = std::string(bytes.begin(), bytes.end());
  }
  char value[4096];
  const ssize_t n = cairn_getxattr(pool_, node->ino, name.c_str(), value, sizeof value);
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
  if (!went(cairn_chmod(pool_, node->ino, mode), 0, "chmod", false)) return;
  const auto time = static_cast<int64_t>(random_.below(1U << 30));
  went(cairn_utimens(pool_, node->ino, time, time + 1), 0, "utimens", false);
  cairn_stat st;
  if (!went(cairn_stat_ino(pool_, node->ino, &st), 0, "stat", false)) return;
  if ((st.mode & 07777) != mode || st.atime_ns != time || st.mtime_ns != time + 1)
    differs("stat shows another mode or other times");
  node->mode = mode;
}

bool Exerciser::step() {
  ++operations_;
  struct Operation {
    unsigned weight;
    const char* name;
    void (Exerciser::*on_file)(Handle&);
    void (Exerciser::*on_names)();
  };
  static constexpr Operation all[] = {
      {12, "pwrite", &Exerciser::pwrite, nullptr},
      {4, "pwritev", &Exerciser::write_vector, nullptr},
      {6, "write", &Exerciser::write_shared, nullptr},
      {8, "pread", &Exerciser::pread, nullptr},
      {4, "read", &Exerciser::read_shared, nullptr},
      {6, "truncate", &Exerciser::truncate, nullptr},
      {5, "punch", &Exerciser::punch, nullptr},
      {3, "zero range", &Exerciser::zero_range, nullptr},
      {3, "preallocate", &Exerciser::preallocate, nullptr},
      {3, "mmap", &Exerciser::map, nullptr},
      {3, "seek", &Exerciser::seek, nullptr},
      {2, "fstat", &Exerciser::check_status, nullptr},
      {10, "open", nullptr, &Exerciser::open},
      {1, "O_TMPFILE", nullptr, &Exerciser::open_unnamed},
      {6, "close", nullptr, &Exerciser::close},
      {3, "mkdir", nullptr, &Exerciser::make_directory},
      {3, "link", nullptr, &Exerciser::make_link},
      {2, "symlink", nullptr, &Exerciser::make_symlink},
      {8, "rename", nullptr, &Exerciser::rename},
      {8, "unlink", nullptr, &Exerciser::unlink},
      {4, "rmdir", nullptr, &Exerciser::remove_directory},
      {3, "xattr", nullptr, &Exerciser::attribute},
      {2, "chmod", nullptr, &Exerciser::change_mode},
  };
  unsigned total = 0;
  for (const Operation& operation : all) total += operation.weight;
  uint64_t draw = random_.below(total);
  for (const Operation& operation : all) {
    if (draw >= operation.weight) {
      draw -= operation.weight;
      continue;
    }
    last_ = operation.name;
    if (operation.on_names != nullptr) {
      (this->*operation.on_names)();
    } else if (Handle* h = any_handle()) {
      last_ = operation.name;
      (this->*operation.on_file)(*h);
    }
    break;
  }
  return !failed_;
}

bool Exerciser::verify_directory(const NodePtr& directory) {
  std::map<std::string, cairn_ino> found;
  cairn_dirent batch[7];
  for (uint64_t cookie = 0;;) {
    const int n = cairn_readdir(pool_, directory->ino, cookie, batch, std::size(batch));
    if (n < 0) differs("readdir gave " + std::to_string(n));
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      const std::string name(batch[i].name, batch[i].length);
      if (name != "." && name != ".." && !found.emplace(name, batch[i].ino).second)
        differs("readdir shows " + name + " twice");
    }
    cookie = batch[n - 1].cookie;
  }
  if (found.size() != directory->entries.size())
    differs("readdir shows " + std::to_string(found.size()) + " names, not " +
            std::to_string(directory->entries.size()));
  for (const auto& [name, node] : directory->entries) {
    const auto at = found.find(name);
    if (at == found.end() || at->second != node->ino) differs("readdir does not show " + name);
    cairn_stat st;
    if (!went(cairn_lookup(pool_, directory->ino, name.c_str(), CAIRN_NOFOLLOW, &st), 0, "lookup",
              false))
      return false;
    if (st.ino != node->ino || (st.mode & S_IFMT) != node->type || st.nlink != node->links)
      differs(name + ": stat shows another inode, type or link count");
    if (node->is_directory()) verify_directory(node);
    if (node->is_link()) {
      char text[4096];
      const ssize_t n = cairn_readlink(pool_, directory->ino, name.c_str(), text, sizeof text);
      if (n < 0 || std::string(text, static_cast<size_t>(n)) != node->target)
        differs(name + ": another target");
    }
    if (node->type == S_IFREG) {
      if (st.size != node->bytes.size()) differs(name + ": another size");
      cairn_file* file = nullptr;
      const int result = cairn_open_ino(pool_, node->ino, O_RDONLY, &file);
      if (result == -ENOSPC && options_.may_be_full) continue;
      if (!went(result, 0, "open by inode")) return false;
      Handle h{file, node, false, 0};
      compare_all(h);
      cairn_close(file);
    }
  }
  return !failed_;
}

bool Exerciser::verify() {
  last_ = "verify";
  for (Handle& h : handles_) {
    compare_all(h);
    check_status(h);
  }
  return verify_directory(root_);
}

void Exerciser::remove_below(const NodePtr& directory) {
  for (const auto& [name, node] : directory->entries) {
    if (node->is_directory()) {
      remove_below(node);
      went(cairn_rmdir(pool_, directory->ino, name.c_str()), 0, "rmdir", false);
    } else {
      went(cairn_unlink(pool_, directory->ino, name.c_str()), 0, "unlink", false);
    }
  }
  directory->entries.clear();
}

void Exerciser::remove_all() {
  last_ = "remove all";
  for (Handle& h : handles_) went(cairn_close(h.file), 0, "close", false);
  handles_.clear();
  remove_below(root_);
}

}  // namespace cairn::test
