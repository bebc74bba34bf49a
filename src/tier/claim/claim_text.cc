#include "tier/claim/claim_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/lines.h"
#include "base/sha256.h"
#include "file/inode/attributes.h"
#include "tier/lower/lower.h"
#include "tier/system/same_directory.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr size_t most_name = 1024;
constexpr size_t most_line = 256;

// A file of one line; "" if there is none.
std::string line_of(const char* path) {
  std::string text;
  sys::read_file(path, &text);
  return text.substr(0, std::min(text.find('\n'), most_line));
}

}  // namespace

std::string stored_name(const std::string& given) {
  const std::string line = given.substr(0, given.find('\n'));
  if (line.size() <= most_name) return line;
  std::string digits;
  for (const uint8_t byte : sha256(line.data(), line.size())) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return line.substr(0, most_name - digits.size() - 1) + "-" + digits;
}

Claim claim_of_host() {
  Claim claim;
  utsname names = {};
  if (uname(&names) == 0) claim.host = names.nodename;
  claim.machine = line_of("/etc/machine-id");
  claim.boot = line_of("/proc/sys/kernel/random/boot_id");
  return claim;
}

std::string place_of(const std::string& pool) {
  sys::FileStat st = {};
  const std::string parent = pool.substr(0, std::max<size_t>(pool.rfind('/'), 1));
  if (pool.empty() || sys::lstatat(AT_FDCWD, parent.c_str(), &st) < 0) return {};
  return std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino);
}

Claim own_claim(const file::FileSystem& fs, const std::string& job) {
  Claim claim = claim_of_host();
  if (sys::real_path(fs.pool.path.c_str(), 0, &claim.pool) < 0) claim.pool = fs.pool.path;
  claim.place = place_of(claim.pool);
  char text[64];
  std::snprintf(text, sizeof text, "%016llx%016llx",
                static_cast<unsigned long long>(fs.pool.superblock().uuid[0].load()),
                static_cast<unsigned long long>(fs.pool.superblock().uuid[1].load()));
  claim.uuid = text;
  claim.job = stored_name(job);
  claim.time = std::to_string(file::now_ns() / 1'000'000'000);
  return claim;
}

std::string text_of(const Claim& claim) {
  return "cairn claim 1\nhost " + claim.host + "\nmachine " + claim.machine + "\nboot " +
         claim.boot + "\npool " + claim.pool + "\nplace " + claim.place + "\nuuid " + claim.uuid +
         "\njob " + claim.job + "\ntime " + claim.time + "\n" +
         (claim.token.empty() ? "" : "token " + claim.token + "\n");
}

Claim claim_of(const std::string& text) {
  Claim claim;
  Lines lines(text);
  for (std::string_view next; lines.next(&next);) {
    const std::string line(next);
    const size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string key = line.substr(0, space);
    const std::string value = line.substr(space + 1);
    if (key == "host") claim.host = value;
    if (key == "machine") claim.machine = value;
    if (key == "boot") claim.boot = value;
    if (key == "pool") claim.pool = value;
    if (key == "place") claim.place = value;
    if (key == "uuid") claim.uuid = value;
    if (key == "job") claim.job = value;
    if (key == "time") claim.time = value;
    if (key == "token" && is_token(value)) claim.token = value;
  }
  return claim;
}

}  // namespace cairn::tier
