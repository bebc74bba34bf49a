#include "process/process.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

namespace cairn::cli {

int parent_of(int pid) {
  std::string text;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), text, '\0');
  // "PID (NAME) STATE PARENT ...", where NAME can hold any character.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  char state = 0;
  int parent = 0;
  rest >> state >> parent;
  return parent;
}

}  // namespace cairn::cli
