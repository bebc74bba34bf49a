#include "programs/mpiio_checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "harness/fresh_place.h"
#include "harness/pools.h"
#include "loop/checkpoint_loop.h"

namespace cairn::bench {
namespace {

constexpr size_t mib = size_t{1} << 20;

struct Shape {
  std::string mpi;
  size_t ranks;
  size_t piece;
  size_t mib_per_rank;
  bool judged;
  bool first_round;
};

struct Way {
  const char* name;
  const char* word;
};
constexpr Way ways[] = {{"delete, create", "delete"}, {"set_size(0)", "cut"}};

struct Rounds {
  size_t warm, measured;
  size_t covered;  // written in the covered directory, even if fewer are measured
};

// Times of the contenders of one program, in the order of its rounds.
class JobTimes {
 public:
  void add_line(const std::string& line) {
    std::istringstream fields(line);
    std::string name;
    double wall = 0;
    double processor = 0;
    // Launchers print other lines as well.
    if (!std::getline(fields, name, '\t') || !(fields >> wall >> processor)) return;
    LoopTimes& times = of(name);
    times.wall.push_back(wall);
    times.processor.push_back(processor);
  }
  LoopTimes& of(const std::string& name) {
    for (LoopTimes& times : all_)
      if (times.name == name) return times;
    all_.push_back({.name = name, .wall = {}, .processor = {}});
    return all_.back();
  }

 private:
  std::vector<LoopTimes> all_;
};

class Loop {
 public:
  Loop(const std::filesystem::path& programs, const LoopMedium& on, const Shape& shape,
       const Way& way)
      : program_(programs / shape.mpi / "checkpoints"), on_(on), shape_(shape), way_(way) {}

  // Runs a job in a fresh pool and adds its times.
  void run(const Rounds& rounds) {
    const FreshPlace covered(*on_.medium);
    const FreshPlace plain(*on_.medium);
    std::ostringstream command;
    for (const std::string& word :
         covered.covered({"mpirun." + shape_.mpi, "-n", std::to_string(shape_.ranks), program_,
                          covered.directory(), plain.directory(), way_.word,
                          std::to_string(shape_.mib_per_rank), std::to_string(shape_.piece),
                          std::to_string(rounds.warm), std::to_string(rounds.measured),
                          std::to_string(rounds.covered), std::to_string(++jobs_)}))
      command << word << ' ';
    FILE* output = popen((command.str() + "< /dev/null").c_str(), "re");
    if (output == nullptr) must_posix(-1, "popen");
    char line[256];
    while (std::fgets(line, sizeof line, output) != nullptr) times_.add_line(line);
    if (pclose(output) != 0 || times_.of("Cairn").wall.size() != expected_ + rounds.measured) {
      std::fprintf(stderr, "bench_mpiio: failed: %s\n", command.str().c_str());
      std::exit(2);
    }
    expected_ += rounds.measured;
    held_ = covered.held_by_pool();
  }

  [[nodiscard]] LoopResult result(const std::string& group, const std::string& what) {
    return {.group = group,
            .what = what,
            .bytes = shape_.mib_per_rank * mib * shape_.ranks,
            .calls = shape_.mib_per_rank * mib / shape_.piece,
            .ours = times_.of("Cairn"),
            .copying = {times_.of("memcpy, warm mapping"),
                        times_.of("non-temporal copy, warm mapping")},
            .plain = {times_.of("POSIX, a file each"), times_.of("the MPI's own")}};
  }
  [[nodiscard]] const LoopTimes& again() { return times_.of("POSIX, again"); }
  [[nodiscard]] uint64_t held() const { return held_; }

 private:
  std::filesystem::path program_;
  const LoopMedium& on_;
  const Shape& shape_;
  Way way_;
  JobTimes times_;
  uint64_t held_ = 0;
  size_t jobs_ = 0;
  size_t expected_ = 0;
};

void steady_state(const Settings& settings, const std::filesystem::path& programs,
                  const LoopMedium& on, const Shape& shape, const Way& way,
                  const std::string& group, Report& report) {
  const LoopBars& bars = shape.judged ? on.bars : no_bars;
  const Rounds rounds{warm_rounds, settings.quick ? 3 : std::max<size_t>(6, settings.pairs / 3),
                      settings.quick ? 0 : checkpoints_until_held};
  Loop loop(programs, on, shape, way);
  loop.run(rounds);
  std::vector<Row> rows = steady_rows(loop.result(group, way.name), bars);
  rows.push_back(held_row(loop.result(group, way.name), loop.held(),
                          std::max(rounds.warm + rounds.measured, rounds.covered), bars));
  for (Row& row : rows) report.add(std::move(row));
}

void first_round(const Settings& settings, const std::filesystem::path& programs,
                 const LoopMedium& on, const Shape& shape, const std::string& group,
                 Report& report) {
  const size_t jobs = settings.quick ? 2 : std::max(least_first_rounds, settings.pairs / 3);
  Loop loop(programs, on, shape, ways[0]);
  for (size_t job = 0; job < jobs; ++job) loop.run({0, 1, 0});
  for (Row& row : first_rows(loop.result(group, "first checkpoint"), loop.again(),
                             shape.judged ? on.bars : no_bars))
    report.add(std::move(row));
}

std::vector<Shape> shapes(const Settings& settings, const std::vector<std::string>& mpis) {
  std::vector<Shape> all;
  for (const std::string& mpi : mpis) {
    for (const size_t ranks : {1, 2, 4}) {
      const bool judged = ranks <= 2;
      for (const size_t piece : {4 * size_t{1024}, 32 * size_t{1024}, mib}) {
        const bool small = piece < 32 * 1024;
        if ((!judged || small) && !settings.full) continue;
        if (settings.quick && (ranks != 2 || piece != mib)) continue;
        // Each first round is a job of its own, which takes a second or two.
        const bool first = (ranks == 2 && piece == mib) || settings.full;
        all.push_back({mpi, ranks, piece, settings.quick ? 8U : 32U, judged && !small, first});
      }
    }
  }
  return all;
}

}  // namespace

void mpi_checkpoint_rows(const Settings& settings, const std::filesystem::path& programs,
                         const std::vector<std::string>& mpis, const Medium& huge,
                         const Medium& shm, Report& report) {
  const std::vector<LoopMedium> media = loop_media(settings, huge, shm);
  std::vector<LoopGroup> groups;
  for (const LoopMedium& on : media) {
    for (const Shape& shape : shapes(settings, mpis)) {
      std::ostringstream name;
      name << checkpoint_loop << ", " << on.name << ", " << shape.mpi << ", " << shape.ranks
           << (shape.ranks == 1 ? " rank, " : " ranks, ") << shape.mib_per_rank
           << " MiB each in pieces of " << size_name(shape.piece);
      groups.push_back({name.str(), [&, shape](const std::string& group) {
                          const size_t bytes = shape.mib_per_rank * mib * shape.ranks;
                          const std::string missing = why_no_room(*on.medium, bytes, bytes);
                          if (!missing.empty()) return report.skip(group, "all", missing);
                          for (const Way& way : ways)
                            steady_state(settings, programs, on, shape, way, group, report);
                          if (shape.first_round)
                            first_round(settings, programs, on, shape, group, report);
                        }});
    }
  }
  measure_loop(settings, huge, groups, report);
}

}  // namespace cairn::bench
