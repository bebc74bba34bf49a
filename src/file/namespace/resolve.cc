#include "file/namespace/resolve.h"

#include <sys/stat.h>

#include <cstring>

namespace cairn::file {
namespace {

// The rest of the path, consumed from the front.
class Remaining {
 public:
  Remaining(std::string_view path, std::string* spliced) : text_(path), spliced_(*spliced) {}

  // Returns false at the end, else the next component. `last`: only slashes follow.
  bool next(std::string_view* component, bool* last, bool* slash_after) {
    while (at_ < text_.size() && text_[at_] == '/') ++at_;
    if (at_ == text_.size()) return false;
    size_t end = text_.find('/', at_);
    if (end == std::string_view::npos) end = text_.size();
    *component = text_.substr(at_, end - at_);
    const size_t after = text_.find_first_not_of('/', end);
    *last = after == std::string_view::npos;
    *slash_after = end < text_.size();
    at_ = end;
    return true;
  }
  // Puts a link's text in front of the rest.
  void splice(const std::string& link) {
    spliced_ = link + rest();  // a new string first: the rest may lie in the old one
    text_ = spliced_;
    at_ = 0;
  }
  [[nodiscard]] std::string rest() const { return std::string(text_.substr(at_)); }
  [[nodiscard]] bool is_absolute() const { return !text_.empty() && text_[0] == '/'; }

 private:
  std::string_view text_;
  std::string& spliced_;
  size_t at_ = 0;
};

bool is_lazy(const FileSystem& fs, const Inode& inode) {
  return (inode.flags.load() & format::flag_lazy) != 0 && fs.lower != nullptr;
}

Result<Map> directory_of(FileSystem& fs, uint64_t found) {
  const uint64_t number = number_of(found);
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  if (!is_what_was_found({*inode, number}, found)) return no_inode(number);
  if (!S_ISDIR((*inode)->mode.load()))
    return fail(ENOTDIR, "inode %llu is not a directory", static_cast<unsigned long long>(number));
  return Map{*inode, number};
}

void stand_in(Resolved* resolved, uint64_t directory) {
  resolved->parent = directory;
  resolved->name = ".";
  resolved->inode = number_of(directory);
  resolved->generation = 0;
  resolved->must_be_directory = true;
}

// Checks that the caller may search the directory.
Status search(const ResolveOptions& options, const Inode& directory, const char* path) {
  constexpr uint64_t everybody = S_IXUSR | S_IXGRP | S_IXOTH;
  const uint64_t mode = directory.mode.load();
  if (options.search == nullptr || (mode & everybody) == everybody) return Status();
  const uint64_t owner = directory.owner.load();
  const int error = options.search(static_cast<uint32_t>(mode), static_cast<uint32_t>(owner),
                                   static_cast<uint32_t>(owner >> 32));
  return error == 0 ? Status()
                    : fail(-error, "%s: no permission to search a directory in it", path);
}

Status no_such(const char* path) { return fail(ENOENT, "%s: no such file or directory", path); }

// The inode that a name refers to, and a link's text.
struct Meaning {
  uint64_t inode = 0;
  uint64_t generation = 0;
  uint64_t type = 0;
  std::string text;  // of a link to be followed
};

// Looks at a name once. ESTALE: the name was removed, or refers to something else, since it was
// found; its inode may be another file's immediately.
template <typename Follow>
Status look_once(FileSystem& fs, const Map& directory, const Name& name, Follow follows,
                 Meaning* meaning) {
  const auto slot = find_name(fs, directory, name);
  if (!slot.ok()) return slot.status();
  Inode* inode = inode_at(fs, slot->inode);
  if (inode == nullptr) return Status(ESTALE);
  const Map map{inode, slot->inode};
  meaning->inode = slot->inode;
  meaning->generation = slot->generation;
  meaning->type = inode->mode.load() & S_IFMT;
  Status status;
  if (meaning->type == S_IFLNK && follows()) {
    auto text = link_text(fs, map);
    status = text.status();
    if (text.ok()) meaning->text = std::move(*text);
  }
  persist::read_barrier();
  return is_still(map, slot->generation) ? status : Status(ESTALE);
}

template <typename Follow>
Status look(FileSystem& fs, const Map& directory, const Name& name, Follow follows,
            Meaning* meaning) {
  for (int attempt = 0; attempt < most_looks; ++attempt) {
    const Status status = look_once(fs, directory, name, follows, meaning);
    if (status.code() != ESTALE) return status;
  }
  return Status(ENOENT);  // the directory is damaged
}

}  // namespace

Result<Map> enter_directory(FileSystem& fs, uint64_t found) {
  auto map = directory_of(fs, found);
  if (map.ok() && is_lazy(fs, *map->inode)) CAIRN_TRY(fs.lower->fill_directory(map->number));
  return map;
}

Result<std::string> link_text(FileSystem& fs, const Map& link) {
  const uint64_t size = link.inode->size.load();
  if (size > longest_path)
    return fail(EIO, "inode %llu: a symbolic link of %llu bytes is too long",
                static_cast<unsigned long long>(link.number),
                static_cast<unsigned long long>(size));
  std::string text(size, '\0');
  // A system call would take the bytes before a zero byte for the whole text.
  const auto checked = [&]() -> Result<std::string> {
    if (std::memchr(text.data(), 0, size) == nullptr) return std::move(text);
    return fail(EUCLEAN, "inode %llu: a zero byte in the text of a symbolic link",
                static_cast<unsigned long long>(link.number));
  };
  if (size <= format::inline_bytes) {
    std::memcpy(text.data(), link.inode->text, size);
    return checked();
  }
  MapCursor cursor;
  CAIRN_TRY(walk(fs.pool, link, 0, &cursor));
  if (!cursor.block) return damaged(fs.pool, link, 0);
  CAIRN_TRY(fs.pool.region(cursor.block)
                .read(text.data(), cursor.block.index() << format::block_shift, size));
  return checked();
}

Status resolve(FileSystem& fs, uint64_t directory, const char* path, const ResolveOptions& options,
               Resolved* resolved, std::string* rest) {
  if (path == nullptr) return fail(EFAULT, "the path is NULL");
  if (path[0] == '\0') return fail(ENOENT, "the path is empty");
  const size_t length = strnlen(path, longest_path + 1);
  if (length > longest_path)
    return fail(ENAMETOOLONG, "the path has more than %zu bytes", longest_path);
  Remaining remaining({path, length}, &resolved->spliced);
  uint64_t at = remaining.is_absolute() ? options.top : directory;
  bool walked = false;
  int links = 0;
  stand_in(resolved, at);
  std::string_view view;
  bool last = false;
  bool slash_after = false;
  Meaning found;
  bool ended_in_slash = false;  // a link stood at the end, with a slash behind it
  while (remaining.next(&view, &last, &slash_after)) {
    resolved->parent = 0;
    auto here = directory_of(fs, at);
    if (!here.ok()) return walked ? no_such(path) : here.status();  // removed since it was found
    walked = true;
    CAIRN_TRY(search(options, *here->inode, path));
    if (is_lazy(fs, *here->inode)) {
      // Reading names from lower may take long; the seat must not delay reclaim.
      resolved->seat.reset();
      CAIRN_TRY(fs.lower->fill_directory(here->number));
    }
    if (!resolved->seat.has_value()) resolved->seat.emplace(fs.pool);
    if (!resolved->seat->ok()) return pool::no_seat(fs.pool);
    if (!is_what_was_found(*here, at)) return no_such(path);
    if (view == ".") {
      stand_in(resolved, at);
      continue;
    }
    if (view == "..") {
      if (here->number == options.top) {
        if (options.stop_outside) {
          *rest = ".." + remaining.rest();
          resolved->inode = here->number;
          return Status(EXDEV);
        }
      } else {
        const uint64_t parent = here->inode->directory.parent.load();
        if (parent == 0) return fail(ENOENT, "\"..\": the directory was removed");
        at = parent;
      }
      stand_in(resolved, at);
      continue;
    }
    resolved->parent = at;
    resolved->inode = resolved->generation = 0;
    resolved->must_be_directory = slash_after;
    if (last) resolved->name = view;
    if (last && !slash_after && !options.find_last) return Status();
    auto name = make_name(view.data(), view.size());
    if (!name.ok()) return name.status();
    const auto follows = [&] { return !last || options.follow_last || slash_after; };
    if (const Status status = look(fs, *here, *name, follows, &found); !status.ok()) {
      if (!last) resolved->parent = 0;
      if (status.code() == ENOENT && last && options.may_be_missing) return Status(ENOENT);
      if (status.code() == ENOENT) return no_such(path);
      return annotate(status, "%s", path);
    }
    if (found.type == S_IFLNK && follows()) {
      if (++links > most_links) {
        if (!last || !slash_after) resolved->parent = 0;
        return fail(ELOOP, "%s: too many symbolic links", path);
      }
      const std::string& text = found.text;
      if (text.empty()) return fail(ENOENT, "%s: a symbolic link is empty", path);
      if (text[0] == '/') {
        if (options.stop_outside) {
          *rest = text + remaining.rest();
          resolved->inode = here->number;
          return Status(EXDEV);
        }
        at = options.top;
      }
      ended_in_slash = ended_in_slash || (last && slash_after);
      remaining.splice(text);
      stand_in(resolved, at);
      continue;
    }
    resolved->inode = found.inode;
    resolved->generation = found.generation;
    if ((!last || slash_after) && found.type != S_IFDIR) {
      if (!last && !ended_in_slash) resolved->parent = 0;
      return fail(ENOTDIR, "%s: not a directory", path);
    }
    if (!last) at = found_as(found.inode, found.generation);
  }
  return Status();
}

}  // namespace cairn::file
