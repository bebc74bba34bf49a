#include "media/lifetime.h"

#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <map>

#include "base/lines.h"

namespace cairn::media {
namespace {

// Files of users below this, systemd's SYSTEM_UID_MAX, are not removed.
constexpr uid_t first_person = 1000;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

// Resolves a path; one that does not exist yet resolves by the first of its parents that exists.
std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) != nullptr) return resolved;
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return path == "." ? path : resolve(".") + "/" + path;
  return slash == 0 ? path : resolve(path.substr(0, slash)) + path.substr(slash);
}

// The places of logind.conf: the first that has one counts, then all fragments in order of their
// names; of two with the same name, that of the first place.
constexpr std::array logind_places = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
                                      "/usr/lib/systemd"};

bool remove_ipc(const SystemRoot& root) {
  bool answer = true;  // systemd's own default
  std::map<std::string, std::string> fragments;
  bool found = false;
  for (const char* place : logind_places) {
    const std::string main = root.path(std::string(place) + "/logind.conf");
    if (!found && exists(main)) answer = parse_remove_ipc(read_text(main), answer);
    found = found || exists(main);
    const std::string directory = main + ".d";
    DIR* open_directory = opendir(directory.c_str());
    if (open_directory == nullptr) continue;
    while (const dirent* entry = readdir(open_directory)) {
      const std::string name = entry->d_name;
      if (name.size() > 5 && name.compare(name.size() - 5, 5, ".conf") == 0)
        fragments.emplace(name, std::string(directory).append("/").append(name));
    }
    closedir(open_directory);
  }
  for (const auto& [name, path] : fragments) answer = parse_remove_ipc(read_text(path), answer);
  return answer;
}

std::string user_name() {
  for (const char* name : {"USER", "LOGNAME"})
    if (std::string user = variable(name); !user.empty()) return user;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found);
  return found != nullptr ? found->pw_name : "";
}

// Returns true if the user lingers: systemd never logs such a user out.
bool lingers(const SystemRoot& root) {
  const std::string user = user_name();
  return !user.empty() && exists(root.path("/var/lib/systemd/linger/" + user));
}

// Returns true if the user is logged in. A user who is not, as in a batch job on most clusters,
// cannot log out.
bool is_logged_in(const SystemRoot& root) {
  return exists(root.path("/run/systemd/users/" + std::to_string(geteuid())));
}

void warn_logout(const std::string& path, const SystemRoot& root,
                 std::vector<std::string>& warnings) {
  const std::string runtime = variable("XDG_RUNTIME_DIR");
  const bool in_runtime =
      lies_under(path, "/run/user") || (!runtime.empty() && lies_under(path, resolve(runtime)));
  const bool in_shm = lies_under(path, "/dev/shm");
  if ((!in_runtime && !in_shm) || lingers(root)) return;
  if (in_runtime)
    warnings.push_back(path + " is removed when you log out: it lies in a runtime directory");
  if (in_shm && geteuid() >= first_person && is_logged_in(root) && remove_ipc(root))
    warnings.push_back(
        path +
        " is removed at your last logout, as all your files in /dev/shm are (RemoveIPC=yes in "
        "systemd's logind.conf); `loginctl enable-linger` keeps them");
}

// Returns true if `path` has `job` in it, and not as a part of a longer number.
bool names_job(const std::string& path, const std::string& job) {
  const auto is_digit = [&](size_t at) {
    return at < path.size() && std::isdigit(static_cast<unsigned char>(path[at])) != 0;
  };
  for (size_t at = path.find(job); at != std::string::npos; at = path.find(job, at + 1))
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + job.size())) return true;
  return false;
}

// Warns about a job's own directory. A shared TMPDIR, or the user's own choice, stays; the job's
// own has the job's number in its name.
void warn_job(const std::string& path, const SystemRoot& root, std::vector<std::string>& warnings) {
  std::string job;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID"}) {
    job = variable(name);
    if (!job.empty()) break;
  }
  if (job.empty()) return;
  const std::string number =
      job.substr(0, job.find_first_of(".["));  // PBS: 123.server, 123[4].server
  for (const char* name : {"FLUX_JOB_TMPDIR", "SLURM_TMPDIR", "TMPDIR"}) {
    const std::string temporary = variable(name);
    const bool of_job = name == std::string("FLUX_JOB_TMPDIR") || names_job(temporary, number);
    if (temporary.empty() || !of_job || !lies_under(path, resolve(temporary))) continue;
    std::string warning = path;
    warning.append(" lies in ").append(name).append(" of job ").append(job);
    warnings.push_back(warning + ", which batch systems remove at the job's end");
    break;
  }
  if (variable("SLURM_JOB_ID").empty()) return;
  // job_container/tmpfs binds BasePath/JOBID/.JOBID over /tmp and others, and gives the job a
  // /dev/shm of its own.
  for (const Mount& mount : parse_mountinfo(read_text(root.path("/proc/self/mountinfo")))) {
    if ((mount.root + "/").find("/." + job + "/") == std::string::npos) continue;
    if (!lies_under(path, mount.point) && !lies_under(path, "/dev/shm")) continue;
    std::string warning = path;
    warning.append(" is private to Slurm job ").append(job);
    warnings.push_back(warning + " and removed at its end (job_container/tmpfs)");
    break;
  }
}

}  // namespace

bool parse_remove_ipc(const std::string& text, bool before) {
  bool answer = before;
  Lines lines(text);
  for (std::string_view next; lines.next(&next);) {
    std::string line(next);
    line.erase(std::remove_if(line.begin(), line.end(),
                              [](unsigned char c) { return std::isspace(c) != 0; }),
               line.end());
    if (line.compare(0, 10, "RemoveIPC=") != 0) continue;
    const std::string value = line.substr(10);
    answer = value == "yes" || value == "true" || value == "on" || value == "1" || value == "y";
  }
  return answer;
}

std::vector<std::string> lifetime_warnings(const std::string& path, const SystemRoot& root) {
  std::vector<std::string> warnings;
  const std::string real = resolve(path);
  warn_logout(real, root, warnings);
  warn_job(real, root, warnings);
  return warnings;
}

}  // namespace cairn::media
