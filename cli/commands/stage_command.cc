// cairn stage: copies files of a directory into the pool before a job reads them.
//
// It covers the directory as a run with drain mode `never` does, and a run that follows joins the
// cover. If the files do not fit, it fails before the first one is copied: otherwise later files
// would evict those that were staged before.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "pools/pool_owner.h"
#include "pools/pool_path.h"
#include "pools/pool_place.h"
#include "pools/pool_tree.h"
#include "process/launcher.h"
#include "runs/covers.h"
#include "runs/full_pool.h"
#include "runs/pool_create.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

constexpr size_t longest_path = 8192;  // as that of a drain

struct StageArguments {
  std::string directory, from;
  std::vector<std::string> paths;
};

std::string real_path(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr) usage_error("{}", system_error(path, errno));
  std::string text = real;
  std::free(real);
  return text;
}

// Reads paths from a file, one a line; "-": from stdin. A pipe counts, too: a shell's <(find ...).
void read_list(const std::string& file, std::vector<std::string>* paths) {
  std::ifstream opened;
  if (file != "-") opened.open(file);
  std::istream& lines = file == "-" ? std::cin : opened;
  if (!lines) usage_error("{}", system_error(file, errno));
  constexpr size_t most_bytes = size_t{256} << 20;
  char line[longest_path + 1];
  size_t bytes = 0;
  while (lines.getline(line, sizeof line)) {
    bytes += static_cast<size_t>(lines.gcount());
    if (bytes > most_bytes) usage_error("{}: larger than 256 MiB; name directories instead", file);
    if (line[0] != '\0') paths->emplace_back(line);
  }
  if (lines.bad()) fail("{}: cannot be read", file);
  if (!lines.eof()) usage_error("{}: a line is longer than {} bytes", file, longest_path);
}

// The paths that the user named, below the directory; "." is the directory itself.
std::vector<std::string> listed_paths(const StageArguments& arguments,
                                      const std::string& directory) {
  std::vector<std::string> given;
  if (!arguments.from.empty()) read_list(arguments.from, &given);
  for (const std::string& path : arguments.paths) {
    if (path == "-")
      read_list(path, &given);
    else
      given.push_back(path);
  }
  if (given.empty()) usage_error("missing LIST: the files and directories to stage");
  std::vector<std::string> below;
  for (const std::string& path : given) {
    const std::string real = real_path(path);
    if (real != directory && !real.starts_with(directory + "/"))
      usage_error("{}: does not lie in {}", path, directory);
    below.push_back(real == directory ? "." : real.substr(directory.size() + 1));
  }
  return below;
}

// A file whose bytes are to be staged.
struct Lazy {
  std::string path;  // below the directory
  cairn_stat st;
  [[nodiscard]] uint64_t bytes() const {
    constexpr uint64_t unit = 512;
    return std::min(st.size, st.blocks * unit);
  }
};

class Stager {
 public:
  Stager(const Context& context, std::string directory, std::vector<std::string> paths)
      : context_(context), directory_(std::move(directory)), paths_(std::move(paths)) {}

  int go() {
    open();
    try {
      for (const std::string& path : paths_) find(path);
      check_room();
    } catch (...) {
      undo();
      throw;
    }
    const StopOnSignal stop;
    Progress progress("stage");
    const bool complete = stage(&progress);
    report(progress.seconds());
    if (staged_ == 0) undo();
    if (stop_signal() != 0) return exit_signal + stop_signal();
    return complete && failed_ == 0 ? exit_ok : exit_failed;
  }

 private:
  void open() {
    const std::string configured = pool_path(context_.config, "", true);
    const std::string path = find_cover(context_.config, directory_).value_or(configured);
    if (const auto owner = other_owner(path))
      fail("{}: the pool belongs to user {}; stage the files as that user", path, owner->user);
    const PlaceLock start = lock_start(path);
    pool_ = path == configured ? attach_or_create(context_.config, 0) : Pool(path);
    is_new_ = !cover_of(pool_, directory_);
    try {
      const auto open = [this] { return Cover::open(pool_, directory_, true, launcher_job(), {}); };
      cover_ =
          is_new_ ? open_with_room(pool_, directory_, false, open) : Cover::join(pool_, directory_);
    } catch (...) {
      remove_if_left_over(pool_, start);  // a pool that this command made is not needed
      throw;
    }
  }

  // Removes the cover and the pool if this command has made them. Called when nothing was staged.
  void undo() {
    if (!is_new_ || !cover_.end()) return;
    remove_if_left_over(pool_, lock_start(pool_.path()));
  }

  // Finds a file, or all files below a directory. Follows no symbolic links below the directory.
  void find(const std::string& path) {
    cairn_stat st{};
    check(cairn_lookup(pool_.get(), cover_.top(), path.c_str(), 0, &st), directory_ + "/" + path);
    if (!is_directory(st)) return add(path, st);
    PoolTree tree(pool_, "stage", st.ino);
    std::vector<std::pair<std::string, cairn_ino>> left = {{path, st.ino}};
    while (!left.empty()) {
      const auto [at, ino] = std::move(left.back());
      left.pop_back();
      for (const Entry& entry : tree.read(ino, directory_ + "/" + at)) {
        const std::string below = at == "." ? entry.name : at + "/" + entry.name;
        if (!is_directory(entry.st))
          add(below, entry.st);
        else if (tree.enter(ino, entry.name, entry.st, below))
          left.emplace_back(below, entry.st.ino);
      }
    }
    if (tree.failed()) ++failed_;
  }

  void add(const std::string& path, const cairn_stat& st) {
    if (type_text(st.mode) != "file" || !met_.insert(st.ino).second) return;
    if ((st.flags & CAIRN_FILE_LAZY) == 0) {
      ++already_;
      return;
    }
    lazy_.push_back({path, st});
    bytes_ += lazy_.back().bytes();
  }

  void check_room() const {
    constexpr uint64_t block = 4096;
    uint64_t needed = 0;
    for (const Lazy& file : lazy_) needed += (file.bytes() + block - 1) / block * block;
    cairn_space space{};
    check(cairn_statfs(pool_.get(), &space), pool_.path());
    if (needed > space.free_bytes)
      fail(
          "{}: {} in {} do not fit into pool {}, where {} are free; nothing was staged: name "
          "less, or use a larger pool (--pool-size, `cairn pool grow`)",
          directory_, format_size(needed), files_text(lazy_.size()), pool_.path(),
          format_size(space.free_bytes));
  }

  // False: it was stopped.
  bool stage(Progress* progress) {
    for (const Lazy& file : lazy_) {
      if (stop_signal() != 0) return false;
      progress->show(staged_bytes_, bytes_);
      const int result = cairn_stage(pool_.get(), file.st.ino, file.st.generation);
      if (result == 0) {
        ++staged_;
        staged_bytes_ += file.bytes();
        continue;
      }
      ++failed_;
      progress->hide();
      tell("cairn stage: {}: {}\n", file.path, library_error(result));
      if (result == -ENOSPC) return false;
    }
    return true;
  }

  void report(double seconds) const {
    if (context_.json)
      return print_json({{"directory", json_text(directory_)},
                         {"pool", json_text(pool_.path())},
                         {"files", staged_},
                         {"bytes", staged_bytes_},
                         {"already", already_},
                         {"failed", failed_},
                         {"seconds", seconds}});
    std::string text = fmt::format("{}, {} staged into {}", files_text(staged_),
                                   format_size(staged_bytes_), pool_.path());
    if (staged_bytes_ != 0)
      text +=
          fmt::format(" in {} ({})", format_duration(seconds), format_rate(staged_bytes_, seconds));
    if (already_ != 0) text += fmt::format("; {} there already", files_text(already_));
    print("{}\n", text);
  }

  const Context& context_;
  const std::string directory_;
  const std::vector<std::string> paths_;
  Pool pool_;
  Cover cover_;
  bool is_new_ = false;  // this command has covered the directory
  std::vector<Lazy> lazy_;
  std::set<cairn_ino> met_;
  uint64_t bytes_ = 0;  // of `lazy_`
  uint64_t staged_ = 0;
  uint64_t staged_bytes_ = 0;
  uint64_t already_ = 0;  // files whose bytes lie in the pool
  uint64_t failed_ = 0;
};

}  // namespace

void add_stage_command(CLI::App& root, Context& context) {
  auto arguments = std::make_shared<StageArguments>();
  CLI::App* stage = add_command(
      root, context, "stage", "Bring files into memory before a job reads them.",
      "Copies files of DIR into a pool. The next `cairn run --at DIR` with the same pool finds "
      "them "
      "there. LIST names files, and directories with all that is below them. All must lie in DIR. "
      "A file that is in the pool already is not copied again.\n\n"
      "If the files do not fit into the free room of the pool, nothing is staged, and the message "
      "has both sizes. The command creates a pool that does not exist. The pool stays until the "
      "run ends, or until `cairn discard DIR`.\n\n"
      "  cairn stage --at data data/mesh data/tables && cairn run --at data -- ./simulation\n"
      "  find data -name '*.nc' | cairn stage --at data -");
  stage
      ->add_option("--at", arguments->directory,
                   "The directory that the run will cover. Default: that of the run in which the "
                   "command is called.")
      ->type_name("DIR");
  stage
      ->add_option("--from", arguments->from,
                   "Read the list from a file, one path a line; -: from standard input.")
      ->type_name("FILE");
  stage->add_option("LIST", arguments->paths, "Files and directories in DIR; -: as --from -.")
      ->type_name("LIST");
  stage->callback([&context, arguments] {
    context.action = [&context, arguments] {
      if (arguments->directory.empty()) {
        const char* const covered = std::getenv("CAIRN_COVER");
        if (covered != nullptr) arguments->directory = covered;
      }
      if (arguments->directory.empty())
        usage_error("missing --at DIR: the directory that the run will cover");
      const std::string directory = real_directory(arguments->directory);
      return Stager(context, directory, listed_paths(*arguments, directory)).go();
    };
  });
}

}  // namespace cairn::cli
