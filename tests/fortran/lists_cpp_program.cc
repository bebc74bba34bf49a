// What lists_program.F90 writes and reads, in C++: `lists_cpp_program write` or `read`.
#include <algorithm>
#include <cairn/checkpoint.hpp>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int64_t cells = 12;

void check(bool condition, const char* what) {
  if (condition) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int32_t> counts;
  std::vector<double> values;
  std::vector<int64_t> keys;
  std::vector<double> speeds;
  std::vector<int32_t> own{1, 2, 3};
  for (int64_t cell = 0; cell < cells; ++cell) {
    counts.push_back(static_cast<int32_t>(cell % 4));
    for (int64_t k = 0; k < cell % 4; ++k) values.push_back(static_cast<double>(10 * cell + k));
    keys.push_back(cells - 1 - cell);
    speeds.push_back(static_cast<double>(keys.back()) / 2);
  }
  const std::vector<double> expected = values;
  const bool writes = argc == 2 && std::string(argv[1]) == "write";
  if (!writes) {
    values.clear();
    keys.clear();
    speeds.clear();
    own.clear();
  }
  cairn::Checkpoint checkpoint("lists");
  checkpoint.define("counts", counts, cairn::Block{.global = {cells}});
  checkpoint.define("values", values, cairn::Counted{CAIRN_RAGGED, "counts"});
  checkpoint.define("keys", keys, cairn::Counted{CAIRN_PARTICLES, "counts"});
  checkpoint.define("speeds", speeds, cairn::Counted{CAIRN_PARTICLES, "counts", "keys"},
                    {.attributes = {cairn::text_attribute("units", "m s-1")}});
  checkpoint.define("own", own, cairn::Counted{});
  if (writes) {
    checkpoint.write(1);
  } else {
    checkpoint.read();
    check(values == expected, "values");
    check(keys.size() == cells && speeds.size() == cells, "the number of particles");
    for (size_t i = 0; i < keys.size(); ++i)
      check(speeds[i] == static_cast<double>(keys[i]) / 2, "speeds");
    std::sort(keys.begin(), keys.end());
    for (size_t i = 0; i < keys.size(); ++i) check(keys[i] == static_cast<int64_t>(i), "keys");
    check(own == std::vector<int32_t>{1, 2, 3}, "own");
    check(checkpoint.counts("own") == std::vector<uint64_t>{3}, "counts of ranks");
  }
  checkpoint.close();
  std::puts("all lists are right");
}
