#include "media/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cairn::media {
namespace {

struct Magic {
  uint64_t value;
  const char* name;
};

// The magics are from linux/magic.h and the file systems' own sources.
constexpr Magic network_magics[] = {
    {0x6969, "NFS"},        {0xFF534D42, "CIFS"},    {0xFE534D42, "SMB"},
    {0x517B, "SMB"},        {0x0BD00BD0, "Lustre"},  {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x00C36400, "Ceph"},    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},    {0x01021997, "9p"},      {0x7461636F, "OCFS2"},
    {0x01161970, "GFS2"},   {0xAAD7AAEA, "Panasas"}, {0x20030528, "OrangeFS"},
    {0x65735546, "FUSE"},   {0x73757245, "Coda"},
};

// mountinfo writes blanks and backslashes in octal.
std::string unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      plain.push_back(static_cast<char>(value));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = text.find(separator, begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string read_text(const std::string& path) {
  std::string text;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (;;) {
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
  return text;
}

std::string read_line(const std::string& path) {
  std::string text = read_text(path);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

const char* network_file_system(uint64_t magic) {
  for (const Magic& known : network_magics) {
    if (known.value == (magic & 0xFFFFFFFF)) return known.name;
  }
  return nullptr;
}

Status refuse_network(int descriptor, const char* what) {
  struct statfs info;
  if (fstatfs(descriptor, &info) != 0) {
    int error = errno;
    return fail(error, "%s: which file system: %s", what, std::strerror(error));
  }
  const char* name = network_file_system(static_cast<uint64_t>(info.f_type));
  if (name == nullptr) return Status();
  return fail(
      EOPNOTSUPP,
      "%s lies on a network file system (%s), where locks and mappings are not those of one "
      "node; choose a local directory, for example below /dev/shm",
      what, name);
}

std::vector<Mount> parse_mountinfo(const std::string& text) {
  std::vector<Mount> mounts;
  for (const std::string& line : split(text, '\n')) {
    std::vector<std::string> fields = split(line, ' ');
    // id parent device root point options [optional...] - type source super-options
    size_t dash = 6;
    while (dash < fields.size() && fields[dash] != "-") ++dash;
    if (dash + 3 >= fields.size()) continue;
    Mount mount;
    mount.device = fields[2];
    mount.root = unescape(fields[3]);
    mount.point = unescape(fields[4]);
    mount.type = fields[dash + 1];
    mount.options = fields[5] + "," + fields[dash + 3];
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

const Mount* find_mount(const std::vector<Mount>& mounts, dev_t device) {
  std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    if (mount.device == wanted) found = &mount;
  }
  return found;
}

const Mount* find_mount(const std::vector<Mount>& mounts, const std::string& path) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    // A later mount on the same point hides the earlier one.
    if (lies_under(path, mount.point) &&
        (found == nullptr || mount.point.size() >= found->point.size())) {
      found = &mount;
    }
  }
  return found;
}

std::string mount_option(const Mount& mount, const std::string& key) {
  std::string value;
  for (const std::string& option : split(mount.options, ',')) {
    if (option == key) value = "1";
    if (option.compare(0, key.size() + 1, key + "=") == 0) value = option.substr(key.size() + 1);
  }
  return value;
}

bool lies_under(const std::string& path, const std::string& directory) {
  if (directory == "/") return !path.empty() && path[0] == '/';
  return path.compare(0, directory.size(), directory) == 0 &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace cairn::media
