// Takes each flush and each fence that the histories meet out of the engine in turn: every removal
// must make a history fail, or the flush or fence is not needed. Prints one line for each; exit code 1
// if any survived that is not listed as needed for another reason.
//
//   mutation_program [FILE[:LINE]]   only those that contain this
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   images for each crash point
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "crash/histories.h"

namespace cairn::test {
namespace {

constexpr unsigned longest_s = 1200;

struct SitePlace {
  persist::EventKind kind;
  persist::Site site;
};

const char* short_name(const char* file) {
  const char* src = std::strstr(file, "src/");
  return src != nullptr ? src : file;
}

std::vector<SitePlace> all_sites(const LabOptions& options) {
  std::map<std::string, SitePlace> found;
  for (const History& history : all_histories()) {
    LabOptions mine = options;
    mine.processes = history.processes;
    CrashLab lab(mine);
    history.prepare(lab);
    lab.begin();
    // Only what the history itself meets: what comes before it is durable by definition.
    std::map<std::string, uint64_t> before;
    const auto key = [](const persist::SiteHits& hits) {
      return std::string(hits.kind == persist::EventKind::flush ? "flush " : "fence ") +
             short_name(hits.site.file) + ":" + std::to_string(hits.site.line);
    };
    for (const auto& hits : lab.simulator().sites()) before[key(hits)] = hits.hits;
    history.run(lab);
    for (const auto& hits : lab.simulator().sites()) {
      if (hits.hits != before[key(hits)]) found[key(hits)] = {hits.kind, hits.site};
    }
  }
  std::vector<SitePlace> sites;
  for (const auto& [name, place] : found) sites.push_back(place);
  return sites;
}

// What is wrong when the site does nothing, "" if nothing.
std::string try_without(const SitePlace& place, const LabOptions& options) {
  uint64_t images = 0;
  // Most are caught by a few images; the rest get a closer look.
  for (uint64_t limit : {options.images_per_point / 10 + 1, options.images_per_point}) {
    for (const History& history : all_histories()) {
      LabOptions mine = options;
      mine.images_per_point = limit;
      const std::string wrong =
          try_power_losses(history, mine, &images, [&place](persist::Simulator& simulator) {
            simulator.ignore(place.kind, place.site);
          });
      if (!wrong.empty()) return std::string(history.name) + ": " + wrong;
    }
  }
  return "";
}

int run(const char* only) {
  LabOptions options;
  options.seed = test_seed();
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 300);
  const auto sites = all_sites(options);
  int survived = 0;
  for (const SitePlace& place : sites) {
    const std::string name = std::string(short_name(place.site.file)) + ":" + std::to_string(place.site.line);
    if (name.find(only) == std::string::npos) continue;
    // In a process of its own: what a missing flush breaks may also crash or never end.
    std::printf("%s %s ", place.kind == persist::EventKind::flush ? "flush" : "fence", name.c_str());
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(longest_s);
      const std::string wrong = try_without(place, options);
      std::printf("%s", wrong.substr(0, wrong.find('\n')).substr(0, 140).c_str());
      std::fflush(stdout);
      _exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool caught = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (WIFSIGNALED(status)) std::printf("died of signal %d", WTERMSIG(status));
    std::printf("%s\n", caught ? "" : "SURVIVED");
    survived += caught ? 0 : 1;
  }
  std::printf("%zu sites, %d survived\n", sites.size(), survived);
  return survived == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cairn::test

int main(int count, char** arguments) { return cairn::test::run(count > 1 ? arguments[1] : ""); }
