// Takes each flush and each fence that the histories and their recoveries meet out of the engine in
// turn: every removal must make a history, two calls that overlap, or a scene of three processes
// fail, or the flush or fence is not needed. Prints one line for each; exit code 1 if any survived,
// or nothing could be said of it; 2 if something fails with everything in place.
//
//   mutation_program [FILE[:LINE] [NAME]]   only those that contain this; with NAME, only the
//   history or the
//                                    scene of this name, or the two calls of this name
//                                    (interleaved.h), with more switches
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   images for each crash point
//   CAIRN_JOBS                       sites tried at a time (default: one a processor)
//   CAIRN_SOURCE_DIR                 where the sources lie
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "crash/apart.h"
#include "crash/histories.h"
#include "crash/interleaved.h"
#include "crash/scenes.h"
#include "crash/try_history.h"

namespace cairn::test {
namespace {

// Processor time for one site, and time on the clock, for the removal may make everybody wait for
// ever. Who exceeds these has found nothing so far; survivors of a kill that hang are a finding.
constexpr rlim_t longest_processor_s = 600;
constexpr unsigned longest_s = 1800;
constexpr unsigned longest_kills_s = 600;

// What a missing flush may lead to. Any other signal (no memory, no room, no time) says nothing
// about it.
bool is_crash(int signal) { return signal == SIGSEGV || signal == SIGBUS; }

const char* short_name(const char* file) {
  const char* src = std::strstr(file, "src/");
  return src != nullptr ? src : file;
}

// Of each crash point at first: nothing that was pending has arrived, and all of it.
constexpr uint64_t few_images = 2;

// How often a recovery is crashed as well.
constexpr uint64_t recovery_stride = 61;

std::string source_directory() {
  const char* root = std::getenv("CAIRN_SOURCE_DIR");
  return root == nullptr ? "." : root;
}

std::string name_of(const SitePlace& place) {
  return std::string(short_name(place.site.file)) + ":" + std::to_string(place.site.line);
}
const char* kind_of(const SitePlace& place) {
  return place.kind == persist::EventKind::flush ? "flush" : "fence";
}

// What is to be tried: null: everything.
bool is_wanted(const char* only, const char* name) {
  return only == nullptr || std::strcmp(only, name) == 0;
}

std::vector<History> wanted_histories(const char* only) {
  std::vector<History> wanted;
  for (const History& history : all_histories())
    if (is_wanted(only, history.name)) wanted.push_back(history);
  return wanted;
}

// Persistent memory, and a plain file: some sites are for one of them.
constexpr persist::Granularity media[] = {persist::Granularity::cache_line,
                                          persist::Granularity::page};

// A flush or fence, and the names of the histories that were seen to come by it on each of the
// media.
struct Site {
  SitePlace place;
  std::map<persist::Granularity, std::set<std::string>> met_by;
};

// Adds what the histories and their recoveries come by on the medium of `options`.
void note_sites(const LabOptions& options, const char* only, std::map<std::string, Site>* found,
                std::string* wrong) {
  const std::vector<History> wanted = wanted_histories(only);
  // Pairs and scenes meet no others.
  for (const History& history : wanted.empty() ? all_histories() : wanted) {
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
    const auto note = [&](const persist::SiteHits& hits) {
      Site& site = (*found)[key(hits)];
      site.place = place_of(hits);
      site.met_by[options.granularity].insert(history.name);
    };
    for (const auto& hits : lab.simulator().sites()) before[key(hits)] = hits.hits;
    history.run(lab);
    for (const auto& hits : lab.simulator().sites()) {
      if (hits.hits != before[key(hits)]) note(hits);
    }
    std::string failure = lab.power_losses();
    if (options.granularity == persist::Granularity::cache_line) failure += lab.kills();
    if (!failure.empty()) *wrong = std::string(history.name) + ": " + failure;
    for (const auto& hits : lab.recovery_sites()) note(hits);
  }
}

// `wrong`: what fails with everything in place.
std::vector<Site> all_sites(const LabOptions& options, const char* only, std::string* wrong) {
  std::map<std::string, Site> found;
  for (const persist::Granularity medium : media) {
    LabOptions mine = options;
    mine.granularity = medium;
    note_sites(mine, only, &found, wrong);
  }
  std::vector<Site> sites;
  for (const auto& [name, site] : found) sites.push_back(site);
  return sites;
}

// In a process of its own, whose survivors may hang. A death that says nothing is this process's
// too.
std::string try_kills_of_one(const Pair& pair, const Outcomes& outcomes, const LabOptions& options,
                             int first, const std::vector<uint64_t>& places) {
  const std::string wrong = apart(longest_kills_s, [&] {
    std::string found;
    for (size_t i = 0; i < places.size() && found.empty(); ++i)
      found = kill_one(pair, outcomes, options, first, places[i]).wrong;
    return found;
  });
  if (wrong.rfind(died_of_signal, 0) == 0) {
    const int signal = std::stoi(wrong.substr(sizeof died_of_signal - 1));
    if (!is_crash(signal)) {
      std::signal(signal, SIG_DFL);
      raise(signal);
    }
  }
  return wrong;
}

// Two processes' calls that overlap: what one has not made durable the other may rest on, also when
// the first is killed there. `only`: this pair, with more switches.
std::string try_overlaps(const LabOptions& options, const char* only, uint64_t* images) {
  LabOptions whole = options;
  whole.ignored.clear();
  Random random(options.seed);
  for (const Pair& pair : all_pairs()) {
    if (!is_wanted(only, pair.name)) continue;
    const Outcomes outcomes(pair, whole);
    for (int first : {0, 1}) {
      const Overlap alone = interrupt(pair, outcomes, options, first, Turns::to_the_end, 0, images);
      if (!alone.wrong.empty()) return std::string(pair.name) + ": " + alone.wrong;
      // Pairs that have more to prepare were made for a place that is two events wide.
      const bool closely = only != nullptr || pair.prepare != nullptr || pair.mapped != nullptr;
      const uint64_t most_switches = closely ? 256 : 48;
      const uint64_t step = alone.events / most_switches + 1;
      std::vector<uint64_t> places;
      for (uint64_t at = 1 + random.below(step); at < alone.events; at += step)
        places.push_back(at);
      for (const uint64_t at : places) {
        if (pair.mapped != nullptr) break;  // it differs from others in what comes after a kill
        const uint64_t other = random.one_in(2) ? Turns::to_the_end : 1 + random.below(60);
        const std::string wrong =
            interrupt(pair, outcomes, options, first, at, other, images).wrong;
        if (!wrong.empty())
          return std::string(pair.name) + ", interrupted after " + std::to_string(at) +
                 " events: " + wrong;
      }
      const std::string wrong = try_kills_of_one(pair, outcomes, options, first, places);
      if (!wrong.empty()) return std::string(pair.name) + ": " + wrong;
    }
  }
  return "";
}

// The wanted histories, and which of them were seen to come by a site.
struct Split {
  std::vector<History> met;
  std::vector<History> not_met;
};
Split split(const Site& site, persist::Granularity medium, const char* only) {
  Split histories;
  const auto by = site.met_by.find(medium);
  for (const History& history : wanted_histories(only)) {
    const bool met = by != site.met_by.end() && by->second.contains(history.name);
    (met ? histories.met : histories.not_met).push_back(history);
  }
  return histories;
}

// Images of a power loss, at most `limit` of each crash point.
std::string try_losses(const std::vector<History>& wanted, const SitePlace& place,
                       const LabOptions& options, uint64_t limit, uint64_t* images) {
  for (const History& history : wanted) {
    LabOptions mine = options;
    mine.images_per_point = limit;
    mine.recovery_stride = recovery_stride;
    mine.ignored.push_back(place);
    const std::string wrong = try_power_losses(history, mine, images);
    if (!wrong.empty()) return std::string(history.name) + ": " + wrong;
  }
  return "";
}

// A kill, a recovery without it, and then the power.
std::string try_killed(const std::vector<History>& wanted, const SitePlace& place,
                       const LabOptions& options, uint64_t* images) {
  for (const History& history : wanted) {
    LabOptions mine = options;
    mine.recovery_stride = 7;
    mine.kill_stride = 5;
    mine.ignored.push_back(place);
    const std::string wrong = try_kills(history, mine, images);
    if (!wrong.empty()) return std::string(history.name) + ": " + wrong;
  }
  return "";
}

// `options`: with as many images as for a history; there is one run of each scene.
std::string try_scenes(const LabOptions& options, const char* only) {
  for (const NamedScene& scene : all_scenes()) {
    if (!is_wanted(only, scene.name)) continue;
    const std::string wrong = play(scene, options);
    if (!wrong.empty()) return std::string(scene.name) + ": " + wrong;
  }
  return "";
}

LabOptions overlapping(const LabOptions& options) {
  LabOptions mine = options;
  mine.processes = 2;
  mine.images_per_point = 8;
  return mine;
}

// What a plain file as medium shows. Two calls that overlap, scenes and kills are persistent
// memory's.
std::string try_page_medium(const Site& site, const LabOptions& options, const char* only) {
  LabOptions mine = options;
  mine.granularity = persist::Granularity::page;
  const Split histories = split(site, persist::Granularity::page, only);
  uint64_t images = 0;
  std::string wrong;
  for (const uint64_t limit : {few_images, options.images_per_point}) {
    if (wrong.empty()) wrong = try_losses(histories.met, site.place, mine, limit, &images);
  }
  return wrong.empty() ? "" : "on a plain file, " + wrong;
}

// What is wrong when the site does nothing, "" if nothing. The cheap looks come first, for most
// sites are caught by nothing or everything having arrived. Those histories come last that were not
// seen to come by it: some may, in a recovery that was not looked at.
std::string try_without(const Site& site, const LabOptions& options, const char* only) {
  const Split histories = split(site, persist::Granularity::cache_line, only);
  if (histories.met.empty()) return try_page_medium(site, options, only);
  uint64_t images = 0;
  const auto losses = [&](const std::vector<History>& some, uint64_t limit) {
    return try_losses(some, site.place, options, limit, &images);
  };
  LabOptions without = options;
  without.ignored.push_back(site.place);
  std::string wrong = losses(histories.met, few_images);
  if (wrong.empty()) wrong = try_scenes(without, only);
  if (wrong.empty()) wrong = losses(histories.met, options.images_per_point / 10 + 1);
  if (wrong.empty()) wrong = try_killed(histories.met, site.place, options, &images);
  if (wrong.empty()) wrong = try_overlaps(overlapping(without), only, &images);
  if (wrong.empty()) wrong = losses(histories.met, options.images_per_point);
  if (wrong.empty()) wrong = try_page_medium(site, options, only);
  if (wrong.empty()) wrong = losses(histories.not_met, options.images_per_point);
  if (wrong.empty()) wrong = try_killed(histories.not_met, site.place, options, &images);
  return wrong;
}

std::string without_indent(const std::string& line) {
  const size_t at = line.find_first_not_of(' ');
  return at == std::string::npos ? "" : line.substr(at);
}

// The line before the site's and its own.
std::string text_of(const SitePlace& place) {
  // The compiler may have been given a path from where it ran.
  std::ifstream source(source_directory() + "/" + short_name(place.site.file));
  std::string before;
  std::string text;
  for (int line = 0; line < place.site.line; ++line) {
    before.swap(text);
    std::getline(source, text);
  }
  return without_indent(before) + " " + without_indent(text);
}

// A site that is tried in a process of its own: what a missing flush breaks may also crash or never
// end.
struct Trial {
  SitePlace place;
  int text;  // what it finds is read here
};

pid_t start(const Site& site, const LabOptions& options, const char* only, int* text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {longest_processor_s, longest_processor_s + 10};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(longest_s);
    const std::string wrong = try_without(site, options, only);
    const std::string line = wrong.substr(0, wrong.find('\n')).substr(0, 140);
    _exit(wrong.empty() ? 0 : write(ends[1], line.data(), line.size()) < 0 ? 2 : 1);
  }
  close(ends[1]);
  *text = ends[0];
  return child;
}

// Prints what came of it; false if the site survived, or nothing can be said.
bool report(const Trial& trial, int status) {
  char found[200] = {};
  if (read(trial.text, found, sizeof found - 1) < 0) found[0] = '\0';
  close(trial.text);
  std::string line = std::string(kind_of(trial.place)) + " " + name_of(trial.place) + " " + found;
  const bool crashed = WIFSIGNALED(status) && is_crash(WTERMSIG(status));
  const bool caught =
      crashed || (found[0] != '\0' && WIFEXITED(status) && WEXITSTATUS(status) == 1);
  const bool survived = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status)) line += died_of_signal + std::to_string(WTERMSIG(status)) + " ";
  if (!caught) line += text_of(trial.place) + (survived ? " SURVIVED" : " UNDECIDED");
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  return caught;
}

int run(const char* files, const char* only) {
  LabOptions options;
  options.seed = test_seed();
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 300);
  const size_t jobs = number_from_environment("CAIRN_JOBS", std::thread::hardware_concurrency());
  std::string wrong;
  std::vector<Site> sites;
  for (const Site& site : all_sites(options, only, &wrong)) {
    if (name_of(site.place).find(files) != std::string::npos) sites.push_back(site);
  }
  uint64_t images = 0;
  if (wrong.empty()) wrong = try_scenes(options, only);
  if (wrong.empty()) wrong = try_overlaps(overlapping(options), only, &images);
  if (!wrong.empty()) {
    std::printf("fails with everything in place: %s\n", wrong.c_str());
    return 2;
  }
  std::map<pid_t, Trial> running;
  size_t survived = 0;
  for (size_t next = 0; next < sites.size() || !running.empty();) {
    if (next < sites.size() && running.size() < jobs) {
      const Site& site = sites[next++];
      Trial trial{site.place, -1};
      const pid_t child = start(site, options, only, &trial.text);
      running.emplace(child, trial);
      continue;
    }
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    const auto trial = running.find(child);
    if (trial == running.end()) continue;
    survived += report(trial->second, status) ? 0 : 1;
    running.erase(trial);
  }
  std::printf("%zu sites, %zu survived\n", sites.size(), survived);
  return survived == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cairn::test

int main(int count, char** arguments) {
  return cairn::test::run(count > 1 ? arguments[1] : "", count > 2 ? arguments[2] : nullptr);
}
