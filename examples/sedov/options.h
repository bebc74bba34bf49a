// Options of the program.
#pragma once

#include <cstdint>
#include <string>

namespace sedov {

struct Options {
  int64_t size = 30;           // elements along each edge
  double end = 1;              // time
  int64_t cycles = INT64_MAX;  // the run ends after this one, too
  int64_t every = 10;          // cycles from one checkpoint to the next; 0: none
  int64_t report = 50;         // cycles from one line to the next; 0: none
  std::string name = "sedov";  // of the set of checkpoints
};

// An empty text, or what is wrong; "help" if the usage is asked for.
std::string read_options(int argc, char** argv, Options* options);
extern const char* const usage;

}  // namespace sedov
