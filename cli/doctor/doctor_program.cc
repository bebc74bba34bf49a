// cairn doctor PROGRAM: can a preloaded library serve the program, and which of its calls?
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <map>
#include <set>
#include <utility>

#include "doctor/doctor.h"
#include "doctor/elf_file.h"
#include "doctor/served_calls.h"
#include "frame/bounded_file.h"
#include "process/run_child.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

std::string list(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

// The interpreter of a script, as the kernel reads it: "/usr/bin/env python3" means python3.
std::string interpreter_of(const std::string& path) {
  constexpr uint64_t most_bytes = 4096;  // the kernel reads less
  const std::string beginning = read_beginning(path, most_bytes);
  if (!beginning.starts_with("#!")) return "";
  std::string name, argument;
  const std::string line = beginning.substr(2, beginning.find('\n') - 2);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
  name = line.substr(begin, end - begin);
  if (!name.ends_with("/env")) return name;
  const size_t next = line.find_first_not_of(" \t", end);
  if (next == std::string::npos) return name;
  argument = line.substr(next, line.find_first_of(" \t\r", next) - next);
  return argument == "-S" ? name : argument;
}

// The functions of the C library that the program and its libraries import, and for each the first
// file that imports it.
class Imports {
 public:
  void add(const std::string& path, const std::vector<std::string>& inherited) {
    const auto elf = read_elf(path);
    if (!elf) return;
    std::vector<std::string> search = elf->search;
    search.insert(search.end(), inherited.begin(), inherited.end());
    for (const std::string& name : elf->imports)
      calls.emplace(name.substr(0, name.find('@')), path);
    for (const std::string& name : elf->needed) {
      if (!seen_.insert(name).second || is_c_library(name)) continue;
      const std::string found = find_library(name, search);
      if (found.empty())
        missing.insert(name);
      else
        add(found, search);
    }
    ++files;
  }
  std::map<std::string, std::string> calls;
  std::set<std::string> missing;
  size_t files = 0;

 private:
  static bool is_c_library(const std::string& name) {
    for (const char* each :
         {"libc.so.", "ld-linux", "libm.so.", "libpthread.so.", "libdl.so.", "librt.so."})
      if (name.starts_with(each)) return true;
    return false;
  }
  std::set<std::string> seen_;
};

void look_at_privileges(const std::string& path, Findings& all) {
  struct stat st {};
  char capabilities[64];
  if (stat(path.c_str(), &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) != 0)
    all.push_back({Level::wrong, "privileges",
                   path + " is set-user-id or set-group-id: the loader ignores LD_PRELOAD"});
  if (getxattr(path.c_str(), "security.capability", capabilities, sizeof capabilities) > 0)
    all.push_back({Level::wrong, "privileges",
                   path + " has file capabilities: the loader ignores LD_PRELOAD"});
}

// False: nothing more can be said about the program.
bool look_at_kind(const std::string& path, const ElfFile& elf, Findings& all) {
  const std::pair<bool, const char*> obstacles[] = {
      {elf.machine != native_machine() || !elf.is_64_bit,
       "is built for another machine or for 32 bits: the preloaded library cannot be loaded into "
       "it"},
      {elf.is_go, "is written in Go: its system calls bypass every preloaded library"},
      {!elf.has_interpreter || !elf.is_dynamic,
       "is linked statically: nothing can be preloaded into it"}};
  for (const auto& [is_one, text] : obstacles)
    if (is_one) {
      all.push_back({Level::wrong, "kind", path + " " + text});
      return false;
    }
  all.push_back({Level::fine, "kind", path + " is a dynamic program: it can be served"});
  return true;
}

void look_at_calls(const std::string& path, Findings& all) {
  Imports imports;
  imports.add(path, {});
  std::set<std::string> served, refused;
  for (const auto& [call, from] : imports.calls) {
    const Service service = service_of(call);
    if (service == Service::served) served.insert(call);
    if (service == Service::refused) refused.insert(call);
  }
  if (!imports.missing.empty())
    all.push_back(
        {Level::warning, "libraries", "not found, so not checked: " + list(imports.missing)});
  all.push_back(
      {Level::fine, "served",
       fmt::format("{} file calls of {} file(s): {}", served.size(), imports.files, list(served))});
  if (!refused.empty())
    all.push_back({Level::warning, "not served",
                   fmt::format("these fail on a covered file, with their name on stderr: {}",
                               list(refused))});
  for (const auto& [call, what] :
       {std::pair{"syscall", "it may bypass the library through syscall()"},
        std::pair{"io_uring_setup", "it may use io_uring, which bypasses the library"},
        std::pair{"io_uring_queue_init", "it may use io_uring, which bypasses the library"},
        std::pair{"dlopen", "it may load more libraries while it runs; those were not checked"}})
    if (const auto found = imports.calls.find(call); found != imports.calls.end())
      all.push_back({Level::note, call, fmt::format("{} ({})", what, found->second)});
}

void look(const std::string& program, Findings& all, int depth) {
  const std::string path = find_program(program);
  if (path.empty()) throw Error(exit_not_found, fmt::format("{}: command not found", program));
  look_at_privileges(path, all);
  if (const auto elf = read_elf(path)) {
    if (look_at_kind(path, *elf, all)) look_at_calls(path, all);
    return;
  }
  const std::string interpreter = interpreter_of(path);
  if (interpreter.empty() || depth >= 4) {
    all.push_back({Level::wrong, "kind", path + " is neither a program nor a script with #!"});
    return;
  }
  all.push_back({Level::fine, "kind", fmt::format("{} is a script for {}", path, interpreter)});
  look(interpreter, all, depth + 1);
}

}  // namespace

Findings look_at_program(const std::string& program) {
  Findings all;
  look(program, all, 0);
  return all;
}

}  // namespace cairn::cli
