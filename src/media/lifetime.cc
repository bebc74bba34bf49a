#include "media/lifetime.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace cairn::media {
namespace {

// systemd's SYSTEM_UID_MAX: below it nothing is removed.
constexpr uid_t first_person = 1000;
constexpr uint64_t container_default = uint64_t{64} << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : path;
}

// logind.conf, then its fragments in order of their names; later ones win.
bool remove_ipc(const SystemRoot& root) {
  bool answer = true;  // systemd's own default
  for (const char* base : {"/usr/lib/systemd", "/etc/systemd"}) {
    answer = parse_remove_ipc(read_text(root.path(std::string(base) + "/logind.conf")), answer);
    std::string directory = root.path(std::string(base) + "/logind.conf.d");
    std::vector<std::string> fragments;
    if (DIR* open_directory = opendir(directory.c_str())) {
      while (dirent* entry = readdir(open_directory)) {
        std::string name = entry->d_name;
        if (name.size() > 5 && name.compare(name.size() - 5, 5, ".conf") == 0)
          fragments.push_back(name);
      }
      closedir(open_directory);
    }
    std::sort(fragments.begin(), fragments.end());
    for (const std::string& name : fragments) {
      std::string path = directory;
      path.append("/").append(name);
      answer = parse_remove_ipc(read_text(path), answer);
    }
  }
  return answer;
}

// A lingering user is never logged out as far as systemd is concerned.
bool lingers(const SystemRoot& root) {
  std::string user = variable("USER");
  if (user.empty()) user = variable("LOGNAME");
  return !user.empty() && exists(root.path("/var/lib/systemd/linger/" + user));
}

void warn_logout(const std::string& path, const SystemRoot& root,
                 std::vector<std::string>& warnings) {
  std::string runtime = variable("XDG_RUNTIME_DIR");
  if (lies_under(path, "/run/user") || (!runtime.empty() && lies_under(path, resolve(runtime)))) {
    warnings.push_back(
        path +
        " is removed when you log out (a runtime directory); choose another pool.dir "
        "for what must live longer");
  }
  bool systemd = exists(root.path("/run/systemd/system"));
  if (lies_under(path, "/dev/shm") && geteuid() >= first_person && systemd && remove_ipc(root) &&
      !lingers(root)) {
    warnings.push_back(
        "systemd removes your files in /dev/shm at your last logout (RemoveIPC=yes in "
        "logind.conf); \"loginctl enable-linger\" keeps them");
  }
}

void warn_job(const std::string& path, const SystemRoot& root, std::vector<std::string>& warnings) {
  std::string job;
  const char* kind = "";
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID"}) {
    job = variable(name);
    kind = name;
    if (!job.empty()) break;
  }
  if (job.empty()) return;
  std::string temporary = variable("TMPDIR");
  if (!temporary.empty() && resolve(temporary) != "/tmp" && lies_under(path, resolve(temporary))) {
    warnings.push_back(path + " lies in TMPDIR of job " + job +
                       ", which most sites remove at the job's end");
  }
  if (std::strcmp(kind, "SLURM_JOB_ID") != 0) return;
  // job_container/tmpfs binds BasePath/JOBID/.JOBID over /tmp and gives the job a /dev/shm of its own.
  bool is_private = false;
  for (const Mount& mount : parse_mountinfo(read_text(root.path("/proc/self/mountinfo")))) {
    is_private |= (mount.point == "/tmp" || mount.point == "/var/tmp") &&
                  (mount.root + "/").find("/." + job + "/") != std::string::npos;
  }
  if (is_private &&
      (lies_under(path, "/tmp") || lies_under(path, "/var/tmp") || lies_under(path, "/dev/shm"))) {
    warnings.push_back(path + " is private to Slurm job " + job +
                       " and removed at its end (job_container/tmpfs)");
  }
}

void warn_size(const std::string& path, std::vector<std::string>& warnings) {
  struct statvfs info;
  if (!lies_under(path, "/dev/shm") || statvfs(path.c_str(), &info) != 0) return;
  if (static_cast<uint64_t>(info.f_blocks) * info.f_frsize == container_default) {
    warnings.push_back(
        "/dev/shm has 64 MiB, as containers give it by default; start the container with "
        "--shm-size, or --ipc=host");
  }
}

}  // namespace

bool parse_remove_ipc(const std::string& text, bool before) {
  bool answer = before;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    line.erase(std::remove(line.begin(), line.end(), ' '), line.end());
    if (line.compare(0, 10, "RemoveIPC=") != 0) continue;
    std::string value = line.substr(10);
    answer = value == "yes" || value == "true" || value == "on" || value == "1" || value == "y";
  }
  return answer;
}

std::vector<std::string> lifetime_warnings(const std::string& path, const SystemRoot& root) {
  std::vector<std::string> warnings;
  std::string real = resolve(path);
  warn_logout(real, root, warnings);
  warn_job(real, root, warnings);
  warn_size(real, warnings);
  return warnings;
}

}  // namespace cairn::media
