#include "options.h"

#include <cmath>
#include <cstdlib>

namespace sedov {

const char* const usage =
    "sedov: a blast wave on a moving mesh, with a checkpoint from time to time.\n"
    "Usage: mpirun -n RANKS sedov [options]\n"
    "  --size N      elements along each edge of the cube (30)\n"
    "  --time T      end of the run (1: the front is near radius 1)\n"
    "  --cycles N    end after cycle N\n"
    "  --every N     cycles from one checkpoint to the next (10); 0: none\n"
    "  --report N    cycles from one line to the next (50); 0: none\n"
    "  --name NAME   set of checkpoints (sedov)\n"
    "A run goes on from the newest checkpoint of its set, on any number of ranks.\n";

namespace {

bool to_number(const char* text, int64_t least, int64_t* number) {
  char* end = nullptr;
  *number = std::strtoll(text, &end, 10);
  return end != text && *end == 0 && *number >= least && *number < INT32_MAX;
}

}  // namespace

std::string read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--help") return "help";
    if (i + 1 == argc) return option + ": unknown option or missing value; --help lists them";
    const char* value = argv[i + 1];
    bool is_good = true;
    if (option == "--size") {
      is_good = to_number(value, 1, &options->size);
    } else if (option == "--cycles") {
      is_good = to_number(value, 0, &options->cycles);
    } else if (option == "--every") {
      is_good = to_number(value, 0, &options->every);
    } else if (option == "--report") {
      is_good = to_number(value, 0, &options->report);
    } else if (option == "--name") {
      options->name = value;
    } else if (option == "--time") {
      char* end = nullptr;
      options->end = std::strtod(value, &end);
      is_good = end != value && *end == 0 && options->end > 0 && std::isfinite(options->end);
    } else {
      return option + ": unknown option; --help lists them";
    }
    if (!is_good) return option + ": invalid value '" + value + "'; --help shows the usage";
  }
  return "";
}

}  // namespace sedov
