// Takes each flush and each fence that the histories and their recoveries meet out of the engine in
// turn: every removal must make a history, or two calls that overlap, fail, or the flush or fence is not needed. Prints one line for
// each; exit code 1 if any survived that mutation_survivors.txt does not give a reason for.
//
//   mutation_program [FILE[:LINE]]   only those that contain this
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   images for each crash point
//   CAIRN_SOURCE_DIR                 where mutation_survivors.txt and the sources lie
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <map>

#include "crash/histories.h"
#include "crash/interleaved.h"

namespace cairn::test {
namespace {

// Processor time for one site and, because the removal may make everybody wait for ever, time on the clock.
// Who exceeds the first has found nothing so far and counts as a survivor; a hang is a finding.
constexpr rlim_t longest_processor_s = 600;
constexpr unsigned longest_s = 3600;

const char* short_name(const char* file) {
  const char* src = std::strstr(file, "src/");
  return src != nullptr ? src : file;
}

// How often a recovery is crashed as well.
constexpr uint64_t recovery_stride = 61;

std::string name_of(const SitePlace& place) {
  return std::string(short_name(place.site.file)) + ":" + std::to_string(place.site.line);
}
const char* kind_of(const SitePlace& place) {
  return place.kind == persist::EventKind::flush ? "flush" : "fence";
}

std::vector<SitePlace> all_sites(const LabOptions& options) {
  std::map<std::string, SitePlace> found;
  for (const History& history : all_histories()) {
    LabOptions mine = options;
    mine.processes = history.processes;
    mine.images_per_point = 1;
    mine.recovery_stride = 4;
    mine.kill_stride = 40;
    CrashLab lab(mine);
    history.prepare(lab);
    lab.begin();
    // Only what the history itself meets: what comes before it is durable by definition.
    std::map<std::string, uint64_t> before;
    const auto place_of = [](const persist::SiteHits& hits) {
      return SitePlace{hits.kind, hits.site};
    };
    const auto key = [&](const persist::SiteHits& hits) {
      return std::string(kind_of(place_of(hits))) + " " + name_of(place_of(hits));
    };
    for (const auto& hits : lab.simulator().sites()) before[key(hits)] = hits.hits;
    history.run(lab);
    for (const auto& hits : lab.simulator().sites()) {
      if (hits.hits != before[key(hits)]) found[key(hits)] = place_of(hits);
    }
    const std::string wrong = lab.power_losses() + lab.kills();
    if (!wrong.empty())
      std::printf("%s fails with everything in place: %s\n", history.name, wrong.c_str());
    for (const auto& hits : lab.recovery_sites()) found[key(hits)] = place_of(hits);
  }
  std::vector<SitePlace> sites;
  for (const auto& [name, place] : found) sites.push_back(place);
  return sites;
}

// Two processes' calls that overlap: what one has not made durable the other may rest on.
std::string try_overlaps(const LabOptions& options, uint64_t* images) {
  constexpr uint64_t most_switches = 24;
  LabOptions whole = options;
  whole.ignored.clear();
  Random random(options.seed);
  for (const Pair& pair : all_pairs()) {
    const Outcomes outcomes(pair, whole);
    for (int first : {0, 1}) {
      const Overlap alone = interrupt(pair, outcomes, options, first, Turns::to_the_end, 0, images);
      if (!alone.wrong.empty()) return std::string(pair.name) + ": " + alone.wrong;
      const uint64_t step = alone.events / most_switches + 1;
      for (uint64_t at = 1 + random.below(step); at < alone.events; at += step) {
        const uint64_t other = random.one_in(2) ? Turns::to_the_end : 1 + random.below(60);
        const std::string wrong =
            interrupt(pair, outcomes, options, first, at, other, images).wrong;
        if (!wrong.empty())
          return std::string(pair.name) + ", interrupted after " + std::to_string(at) +
                 " events: " + wrong;
      }
    }
  }
  return "";
}

// What is wrong when the site does nothing, "" if nothing.
std::string try_without(const SitePlace& place, const LabOptions& options) {
  uint64_t images = 0;
  // Most are caught by a few images; the rest get a closer look.
  for (uint64_t limit : {options.images_per_point / 10 + 1, options.images_per_point}) {
    for (const History& history : all_histories()) {
      LabOptions mine = options;
      mine.images_per_point = limit;
      mine.recovery_stride = recovery_stride;
      mine.ignored.push_back(place);
      const std::string wrong = try_power_losses(history, mine, &images);
      if (!wrong.empty()) return std::string(history.name) + ": " + wrong;
    }
  }
  // A kill, a recovery without it, and then the power.
  for (const History& history : all_histories()) {
    LabOptions mine = options;
    mine.recovery_stride = 7;
    mine.kill_stride = 5;
    mine.ignored.push_back(place);
    const std::string wrong = try_kills(history, mine, &images);
    if (!wrong.empty()) return std::string(history.name) + ": " + wrong;
  }
  LabOptions overlapping = options;
  overlapping.processes = 2;
  overlapping.images_per_point = 8;
  overlapping.ignored.push_back(place);
  return try_overlaps(overlapping, &images);
}

std::string without_indent(const std::string& line) {
  const size_t at = line.find_first_not_of(' ');
  return at == std::string::npos ? "" : line.substr(at);
}

// The line before the site's and its own: numbers change, and one text may stand in many places.
std::string text_of(const SitePlace& place) {
  std::ifstream source(place.site.file);
  std::string before;
  std::string text;
  for (int line = 0; line < place.site.line; ++line) {
    before.swap(text);
    std::getline(source, text);
  }
  return without_indent(before) + " " + without_indent(text);
}

// Why a flush or fence that no history misses is there all the same: lines
// "KIND FILE: TEXT: REASON".
std::string reason_to_stay(const SitePlace& place) {
  const char* root = std::getenv("CAIRN_SOURCE_DIR");
  std::ifstream list(std::string(root == nullptr ? "." : root) +
                     "/tests/crash/mutation_survivors.txt");
  const std::string start = std::string(kind_of(place)) + " " + short_name(place.site.file) + ": " +
                            text_of(place) + ": ";
  for (std::string entry; std::getline(list, entry);) {
    if (entry.rfind(start, 0) == 0) return entry.substr(start.size());
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
    const std::string name = name_of(place);
    if (name.find(only) == std::string::npos) continue;
    // In a process of its own: what a missing flush breaks may also crash or never end.
    std::printf("%s %s ", kind_of(place), name.c_str());
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const rlimit limit = {longest_processor_s, longest_processor_s + 10};
      setrlimit(RLIMIT_CPU, &limit);
      alarm(longest_s);
      const std::string wrong = try_without(place, options);
      std::printf("%s", wrong.substr(0, wrong.find('\n')).substr(0, 140).c_str());
      std::fflush(stdout);
      _exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool undecided = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    const bool caught = !undecided && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    if (WIFSIGNALED(status)) std::printf("died of signal %d", WTERMSIG(status));
    if (!caught) std::printf("%s ", text_of(place).c_str());
    const std::string reason = caught ? "" : reason_to_stay(place);
    std::printf("%s%s\n",
                caught           ? ""
                : reason.empty() ? "SURVIVED"
                                 : "survived, as it may: ",
                reason.c_str());
    survived += caught || !reason.empty() ? 0 : 1;
  }
  std::printf("%zu sites, %d survived\n", sites.size(), survived);
  return survived == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cairn::test

int main(int count, char** arguments) { return cairn::test::run(count > 1 ? arguments[1] : ""); }
