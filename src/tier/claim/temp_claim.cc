#include "tier/claim/temp_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "base/crc32c.h"
#include "base/unused_number.h"
#include "tier/lower/keep_times.h"
#include "tier/lower/lower.h"

namespace cairn::tier {
namespace {

constexpr size_t system_digits = 8;
constexpr size_t process_digits = 8;
constexpr uint64_t old_ns = uint64_t{24} * 3600 * 1'000'000'000;

std::string prefix() { return std::string(claim_file) + "-"; }

std::string digits_of(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

// Identifies the processes among which a process number means the same: those of one boot and one
// PID namespace.
std::string this_system() {
  std::string text;
  sys::read_file("/proc/sys/kernel/random/boot_id", &text);
  std::string space;
  sys::read_link(AT_FDCWD, "/proc/self/ns/pid", &space);
  text += space;
  return digits_of(crc32c(0, text.data(), text.size()));
}

bool is_gone(const std::string& digits) {
  return is_unused_number(static_cast<pid_t>(std::strtoul(digits.c_str(), nullptr, 16)));
}

bool is_old(const sys::FileStat& st) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t present = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000;
  return st.st_mtim.tv_sec >= 0 && sys::mtime_of(st) + old_ns < present;
}

}  // namespace

std::string temp_claim_name() {
  const std::string by_chance = sys::random_name();
  return prefix() + this_system() + digits_of(static_cast<uint32_t>(getpid())) +
         by_chance.substr(system_digits + process_digits);
}

void remove_claims_left(int directory, uint64_t owner) {
  const int64_t opened = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (opened < 0) return;
  const sys::Descriptor all(static_cast<int>(opened));
  std::vector<sys::DirectoryEntry> entries;
  if (sys::list(all.get(), &entries) < 0) return;
  const std::string system = this_system();
  std::vector<std::string> left;
  for (const sys::DirectoryEntry& entry : entries) {
    // A temporary file has this form; the claim and the claims of hosts that joined do not.
    if (entry.name.rfind(prefix(), 0) != 0 || entry.name.rfind(prefix() + "of-", 0) == 0 ||
        !is_hidden(entry.name))
      continue;
    sys::FileStat st = {};
    if (sys::lstatat(directory, entry.name.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (st.st_uid != geteuid() && st.st_uid != owner) continue;
    const std::string maker = entry.name.substr(prefix().size());
    const bool is_dead = maker.compare(0, system_digits, system) == 0 &&
                         is_gone(maker.substr(system_digits, process_digits));
    if (is_dead || is_old(st)) left.push_back(entry.name);
  }
  if (left.empty()) return;
  const KeepTimes times(directory);
  for (const std::string& name : left) sys::unlinkat(directory, name.c_str(), 0);
}

}  // namespace cairn::tier
