#include "harness/settings.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace cairn::bench {
namespace {

void usage(FILE* out, const char* program, const char* purpose) {
  std::fprintf(
      out,
      "%s: %s\n\n"
      "  --quick          a smaller set and few pairs: shows that it runs, not how fast\n"
      "  --full           larger cases, and what is not judged as well: up to an hour\n"
      "  --pairs N        interleaved pairs per row (default 96); longer rows take a fixed part\n"
      "  --filter TEXT    only groups whose name contains TEXT\n"
      "  --medium NAME    huge (tmpfs with 2 MiB pages, needs root) or shm (/dev/shm)\n"
      "  --json FILE      write the results there as well\n"
      "\nExit codes: 0 all bars hold, 1 some are short, 2 could not measure.\n",
      program, purpose);
}

}  // namespace

size_t last_level_cache() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    size_t value = 0;
    char suffix = 'K';
    if (!(file >> value)) continue;
    file >> suffix;
    largest = std::max(largest, value << (suffix == 'M' ? 20 : 10));
  }
  return largest != 0 ? largest : size_t{32} << 20;
}

std::string machine_name() {
  std::string name = "unknown CPU";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    name = line.substr(line.find(':') + 2);
    break;
  }
  utsname system = {};
  uname(&system);
  const long gib = sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) >> 10) >> 20;
  return name + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, " +
         std::to_string(gib) + " GiB, " + system.sysname + " " + system.release;
}

Settings parse_settings(int argc, char** argv, const char* purpose) {
  Settings settings;
  bool pairs_given = false;
  for (int i = 1; i < argc; ++i) {
    const char* option = argv[i];
    if (std::strcmp(option, "--help") == 0) {
      usage(stdout, argv[0], purpose);
      std::exit(0);
    }
    if (std::strcmp(option, "--quick") == 0) {
      settings.quick = true;
      continue;
    }
    if (std::strcmp(option, "--full") == 0) {
      settings.full = true;
      continue;
    }
    std::string* text = std::strcmp(option, "--json") == 0     ? &settings.json
                        : std::strcmp(option, "--filter") == 0 ? &settings.filter
                        : std::strcmp(option, "--medium") == 0 ? &settings.medium
                                                               : nullptr;
    const bool is_pairs = std::strcmp(option, "--pairs") == 0;
    if ((text == nullptr && !is_pairs) || i + 1 == argc) {
      std::fprintf(
          stderr, "%s: %s: %s\n", argv[0], option,
          i + 1 == argc && (text != nullptr || is_pairs) ? "needs a value" : "unknown option");
      usage(stderr, argv[0], purpose);
      std::exit(2);
    }
    ++i;
    if (text != nullptr) *text = argv[i];
    if (is_pairs) {
      settings.pairs = std::strtoul(argv[i], nullptr, 10);
      pairs_given = true;
    }
  }
  if (settings.pairs == 0 || settings.pairs > 10000 ||
      !(settings.medium.empty() || settings.medium == "huge" || settings.medium == "shm")) {
    std::fprintf(stderr, "%s: --pairs is 1 to 10000, --medium is huge or shm\n", argv[0]);
    std::exit(2);
  }
  settings.cache = last_level_cache();
  settings.working_set = std::max(size_t{512} << 20, 4 * settings.cache);
  if (settings.quick) {
    settings.working_set = size_t{128} << 20;
    if (!pairs_given) settings.pairs = 8;
  }
  settings.working_set = (settings.working_set + 2 * Settings::slice - 1) / (2 * Settings::slice) *
                         (2 * Settings::slice);
  return settings;
}

}  // namespace cairn::bench
