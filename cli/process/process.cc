#include "process/process.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "text/units.h"

namespace cairn::cli {
namespace {

constexpr size_t state_field = 3;  // as proc(5) counts
constexpr size_t parent_field = 4;
constexpr size_t start_field = 22;

// The text of a file in /proc; "" if it cannot be read.
std::string text_of(const std::string& path) {
  std::string text;
  std::getline(std::ifstream(path), text, '\0');
  return text;
}

// The fields of /proc/PID/stat from the third on; none if the process cannot be seen.
std::vector<std::string> stat_of(int pid) {
  const std::string text = text_of(fmt::format("/proc/{}/stat", pid));
  // "PID (NAME) STATE PARENT ...", where NAME can hold any character.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), std::istream_iterator<std::string>()};
}

std::string field(const std::vector<std::string>& stat, size_t number) {
  const size_t at = number - state_field;
  return at < stat.size() ? stat[at] : "";
}

}  // namespace

int parent_of(int pid) { return process_number(field(stat_of(pid), parent_field)); }

bool is_in_system_call(int pid) {
  const std::string text = text_of(fmt::format("/proc/{}/task/{}/syscall", pid, pid));
  if (text.empty()) return true;
  if (text.starts_with("running")) return false;
  const long number = std::strtol(text.c_str(), nullptr, 10);
  return number != SYS_nanosleep && number != SYS_clock_nanosleep && number != SYS_futex &&
         number != SYS_sched_yield;
}

bool is_stopped(int pid) { return field(stat_of(pid), state_field) == "T"; }

uint64_t start_of(int pid) {
  const auto stat = stat_of(pid);
  const std::string state = field(stat, state_field);
  if (state == "Z" || state == "X") return 0;
  return std::strtoull(field(stat, start_field).c_str(), nullptr, 10);
}

}  // namespace cairn::cli
