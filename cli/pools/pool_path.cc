#include "pools/pool_path.h"

#include <sys/stat.h>

#include <filesystem>

#include "pools/pool_place.h"
#include "text/error.h"

namespace cairn::cli {

PoolPath parse_pool_path(const std::string& text, bool local_allowed) {
  PoolPath result;
  const size_t colon = text.find(':');
  const size_t slash = text.find('/');
  size_t split = std::string::npos;
  if (colon != std::string::npos && (slash == std::string::npos || colon < slash))
    split = colon;  // NAME:path
  else if (slash == 0 && text.find(":/") != std::string::npos)
    split = text.find(":/");  // /dir/pool:/path
  if (split == std::string::npos) {
    result.in_pool = !local_allowed;
    result.path = text;
  } else {
    result.in_pool = true;
    result.pool = text.substr(0, split);
    result.path = text.substr(split + 1);
  }
  if (result.in_pool && !result.path.starts_with("/")) result.path = "/" + result.path;
  if (!result.in_pool && text.empty()) usage_error("the path is empty");
  return result;
}

void refuse_own_names(const std::string& path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  if ((plain + "/").starts_with("/.covers/"))
    usage_error("{}: holds the covers and what is not drained; `cairn discard DIR` ends a cover",
                path);
  if ((plain + "/").starts_with("/.checkpoints/"))
    usage_error("{}: holds checkpoints, which programs write; `cairn ckpt` shows and removes them",
                path);
}

Pool& Pools::at(const std::string& name) {
  // Finds pools by path: a pool that is named in several ways is attached once.
  const std::string path = pool_path(config_, name);
  const auto found = pools_.find(path);
  if (found != pools_.end()) return found->second;
  return pools_.emplace(path, open_pool(config_, name, flags_)).first->second;
}

std::string join(const std::string& directory, const std::string& name) {
  return directory.ends_with("/") ? directory + name : directory + "/" + name;
}

std::string base_name(const std::string& path) {
  size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return "/";
  const size_t slash = path.rfind('/', end);
  return path.substr(slash == std::string::npos ? 0 : slash + 1,
                     end - (slash == std::string::npos ? SIZE_MAX : slash));
}

bool is_directory(const cairn_stat& st) { return S_ISDIR(st.mode); }

int try_stat(const Pool& pool, const std::string& path, bool follow, cairn_stat* st) {
  return cairn_lookup(pool.get(), CAIRN_ROOT, path.c_str(), follow ? 0 : CAIRN_NOFOLLOW, st);
}

cairn_stat stat_of(const Pool& pool, const std::string& path, bool follow) {
  cairn_stat st{};
  check(try_stat(pool, path, follow, &st), path);
  return st;
}

std::string read_link(const Pool& pool, cairn_ino link, const std::string& path) {
  std::string target(4096, '\0');
  const int64_t length =
      check(cairn_readlink(pool.get(), link, "", target.data(), target.size()), path);
  target.resize(static_cast<size_t>(length));
  return target;
}

std::string mode_text(uint32_t mode) {
  std::string text = "-rwxrwxrwx";
  for (unsigned i = 0; i < 9; ++i)
    if ((mode & (0400U >> i)) == 0) text[i + 1] = '-';
  text[0] = S_ISDIR(mode)    ? 'd'
            : S_ISLNK(mode)  ? 'l'
            : S_ISFIFO(mode) ? 'p'
            : S_ISSOCK(mode) ? 's'
                             : '-';
  if ((mode & S_ISUID) != 0) text[3] = (mode & S_IXUSR) != 0 ? 's' : 'S';
  if ((mode & S_ISGID) != 0) text[6] = (mode & S_IXGRP) != 0 ? 's' : 'S';
  if ((mode & S_ISVTX) != 0) text[9] = (mode & S_IXOTH) != 0 ? 't' : 'T';
  return text;
}

std::string type_text(uint32_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "directory";
  if (S_ISLNK(mode)) return "link";
  if (S_ISFIFO(mode)) return "fifo";
  if (S_ISSOCK(mode)) return "socket";
  return "other";
}

Json stat_json(const std::string& path, const cairn_stat& st) {
  const auto seconds = [](int64_t time_ns) { return static_cast<double>(time_ns) / 1e9; };
  return {{"path", json_text(path)},
          {"type", type_text(st.mode)},
          {"inode", st.ino},
          {"generation", st.generation},
          {"mode", fmt::format("{:04o}", st.mode & 07777U)},
          {"uid", st.uid},
          {"gid", st.gid},
          {"links", st.nlink},
          {"size_bytes", st.size},
          {"taken_bytes", st.blocks * 512},
          {"accessed", seconds(st.atime_ns)},
          {"modified", seconds(st.mtime_ns)},
          {"changed", seconds(st.ctime_ns)},
          {"created", seconds(st.btime_ns)},
          {"lazy", (st.flags & CAIRN_FILE_LAZY) != 0},
          {"evicted", (st.flags & CAIRN_FILE_EVICTED) != 0}};
}

}  // namespace cairn::cli
