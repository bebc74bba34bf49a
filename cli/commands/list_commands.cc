// cairn ls, stat, cat, df, du: show what is in a pool.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <set>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "pools/pool_path.h"
#include "pools/pool_tree.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

struct ListArguments {
  std::vector<std::string> paths;
  bool as_long = false, all = false, recursive = false, summary = false, bytes = false;
};

std::string size_text(uint64_t size, bool bytes) {
  return bytes ? std::to_string(size) : format_size(size);
}

class Lister {
 public:
  Lister(const Config& config, bool json, const ListArguments& arguments)
      : pools_(config, 0), json_(json), arguments_(arguments) {}

  int run() {
    for (const std::string& text : arguments_.paths) {
      const PoolPath place = parse_pool_path(text, false);
      const Pool& pool = pools_.at(place.pool);
      const cairn_stat st = stat_of(pool, place.path, false);
      if (is_directory(st))
        walk(pool, place.path, st);
      else
        show(pool, nullptr, place.path, {{place.path, st}});
    }
    if (json_) print_json(list_);
    return failed_ ? exit_failed : exit_ok;
  }

 private:
  struct Directory {
    std::string path;
    cairn_ino ino;
  };

  // Lists a directory, and with -R those below it; without recursion, so that the stack does not
  // grow.
  void walk(const Pool& pool, const std::string& path, const cairn_stat& st) {
    PoolTree tree(pool, "ls", st.ino);
    const bool heading = arguments_.paths.size() > 1 || arguments_.recursive;
    std::vector<Directory> left = {{path, st.ino}};
    while (!left.empty()) {
      const Directory directory = std::move(left.back());
      left.pop_back();
      const std::vector<Entry> entries = list(pool, &tree, directory, heading);
      if (!arguments_.recursive) break;
      for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        const std::string below = join(directory.path, entry->name);
        if (is_directory(entry->st) && tree.enter(directory.ino, entry->name, entry->st, below))
          left.push_back({below, entry->st.ino});
      }
    }
    failed_ = failed_ || tree.failed();
  }

  std::vector<Entry> list(const Pool& pool, PoolTree* tree, const Directory& directory,
                          bool heading) {
    std::vector<Entry> entries = tree->read(directory.ino, directory.path);
    if (!arguments_.all)
      std::erase_if(entries, [](const Entry& entry) { return entry.name.starts_with("."); });
    if (heading && !json_ && shown_) print("\n");
    if (heading && !json_) print("{}:\n", directory.path);
    shown_ = true;
    show(pool, tree, directory.path, entries);
    return entries;
  }

  // The target of a link. If it cannot be read, a message says so, and the listing goes on.
  std::string target_of(const Pool& pool, PoolTree* tree, const Entry& entry,
                        const std::string& path) {
    try {
      return read_link(pool, entry.st.ino, path);
    } catch (const Error& error) {
      if (tree == nullptr) throw;
      tree->tell_problem(error.what());
      return "";
    }
  }

  // `tree` null: shows one file that was named.
  void show(const Pool& pool, PoolTree* tree, const std::string& directory,
            const std::vector<Entry>& entries) {
    Table table({"MODE", "LINKS", "UID", "GID", "SIZE", "MODIFIED", "NAME"}, {1, 2, 3, 4});
    for (const Entry& entry : entries) {
      const std::string path = tree == nullptr ? entry.name : join(directory, entry.name);
      const bool link = type_text(entry.st.mode) == "link";
      if (json_) {
        Json one = stat_json(path, entry.st);
        if (link) one["target"] = json_text(target_of(pool, tree, entry, path));
        list_.push_back(std::move(one));
      } else if (!arguments_.as_long) {
        print("{}{}\n", entry.name, is_directory(entry.st) ? "/" : "");
      } else {
        table.row({mode_text(entry.st.mode), std::to_string(entry.st.nlink),
                   std::to_string(entry.st.uid), std::to_string(entry.st.gid),
                   size_text(entry.st.size, arguments_.bytes), format_time(entry.st.mtime_ns),
                   printable(entry.name) +
                       (link ? " -> " + printable(target_of(pool, tree, entry, path)) : "")});
      }
    }
    if (!table.empty()) print_lines(table.text());
  }

  Pools pools_;
  bool json_;
  const ListArguments& arguments_;
  Json list_ = Json::array();
  bool shown_ = false;
  bool failed_ = false;
};

int stat_command(const Config& config, bool json, const ListArguments& arguments) {
  Pools pools(config, 0);
  Json all = Json::array();
  for (const std::string& text : arguments.paths) {
    const PoolPath place = parse_pool_path(text, false);
    const Pool& pool = pools.at(place.pool);
    const cairn_stat st = stat_of(pool, place.path, false);
    Json one = stat_json(place.path, st);
    if (type_text(st.mode) == "link")
      one["target"] = json_text(read_link(pool, st.ino, place.path));
    all.push_back(one);
    if (json) continue;
    const auto line = [](const char* what, const std::string& value) {
      print("{:<10}{}\n", what, value);
    };
    line("path",
         printable(place.path) +
             (one.contains("target") ? " -> " + printable(one["target"].get<std::string>()) : ""));
    line("type", type_text(st.mode));
    line("size", fmt::format("{} bytes ({}), {} taken", st.size, format_size(st.size),
                             format_size(st.blocks * 512)));
    line("mode", fmt::format("{} ({:04o}), uid {}, gid {}", mode_text(st.mode), st.mode & 07777U,
                             st.uid, st.gid));
    line("inode", fmt::format("{} (generation {}), {} link(s)", st.ino, st.generation, st.nlink));
    line("accessed", format_time(st.atime_ns));
    line("modified", format_time(st.mtime_ns));
    line("changed", format_time(st.ctime_ns));
    line("created", format_time(st.btime_ns));
    if ((st.flags & CAIRN_FILE_EVICTED) != 0)
      line("contents", "evicted, in the covered directory only");
    else if ((st.flags & CAIRN_FILE_LAZY) != 0)
      line("contents", "still in the covered directory");
  }
  if (json) print_json(all);
  return exit_ok;
}

int cat_command(const Config& config, const ListArguments& arguments) {
  Pools pools(config, 0);
  std::vector<char> buffer(4 << 20);
  for (const std::string& text : arguments.paths) {
    const PoolPath place = parse_pool_path(text, false);
    const File file(pools.at(place.pool), place.path, O_RDONLY);
    for (uint64_t offset = 0;;) {
      const int64_t count =
          check(cairn_pread(file.get(), buffer.data(), buffer.size(), offset), place.path);
      if (count == 0) break;
      offset += static_cast<uint64_t>(count);
      for (ssize_t written = 0; written < count;) {
        const ssize_t n =
            write(STDOUT_FILENO, buffer.data() + written, static_cast<size_t>(count - written));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw Error(exit_failed, system_error("standard output", errno));
        written += n;
      }
    }
  }
  return exit_ok;
}

int df_command(const Config& config, bool json, const ListArguments& arguments) {
  Table table({"POOL", "SIZE", "USED", "FREE", "USE", "FILES", "MEDIUM"}, {1, 2, 3, 4, 5});
  Json all = Json::array();
  std::vector<std::string> names = arguments.paths;
  if (names.empty()) names.emplace_back();
  for (std::string name : names) {
    if (name.ends_with(":")) name.pop_back();
    const Pool pool = open_pool(config, name);
    cairn_space space{};
    check(cairn_statfs(pool.get(), &space), pool.path());
    const cairn_pool_info info = pool.info();
    const uint64_t used = space.total_bytes - std::min(space.free_bytes, space.total_bytes);
    all.push_back({{"name", json_text(pool.name())},
                   {"path", json_text(pool.path())},
                   {"total_bytes", space.total_bytes},
                   {"used_bytes", used},
                   {"free_bytes", space.free_bytes},
                   {"files", space.files},
                   {"medium", info.medium},
                   {"volatile", info.is_volatile != 0}});
    const double share = space.total_bytes == 0 ? 0
                                                : 100 * static_cast<double>(used) /
                                                      static_cast<double>(space.total_bytes);
    table.row({printable(pool.name()), size_text(space.total_bytes, arguments.bytes),
               size_text(used, arguments.bytes), size_text(space.free_bytes, arguments.bytes),
               fmt::format("{:.0f}%", share), std::to_string(space.files), info.medium});
  }
  if (json)
    print_json(all);
  else
    print_lines(table.text());
  return exit_ok;
}

class DiskUsage {
 public:
  DiskUsage(const Pool& pool, bool summary) : pool_(pool), summary_(summary) {}

  // Counts the bytes taken at and below `path`; adds a row for each directory. False: something
  // could not be counted, and a message said so.
  bool count(const std::string& path, const cairn_stat& st) {
    if (!is_directory(st)) {
      rows.emplace_back(bytes_of(st), path);
      return true;
    }
    PoolTree tree(pool_, "du", st.ino);
    // The directories that the walk is in; without recursion, so that the stack does not grow.
    std::vector<ListedDirectory> way;
    way.push_back({path, st.ino, bytes_of(st), tree.read(st.ino, path)});
    while (!way.empty()) {
      ListedDirectory& level = way.back();
      if (level.next < level.entries.size()) {
        const Entry& entry = level.entries[level.next++];
        const std::string below = join(level.path, entry.name);
        if (!is_directory(entry.st)) {
          level.bytes += bytes_of(entry.st);
        } else if (tree.enter(level.ino, entry.name, entry.st, below)) {
          const cairn_stat& at = entry.st;
          way.push_back({below, at.ino, bytes_of(at), tree.read(at.ino, below)});
        }
        continue;
      }
      if (way.size() == 1 || !summary_) rows.emplace_back(level.bytes, level.path);
      const uint64_t bytes = level.bytes;
      way.pop_back();
      if (!way.empty()) way.back().bytes += bytes;
    }
    return !tree.failed();
  }
  std::vector<std::pair<uint64_t, std::string>> rows;

 private:
  struct ListedDirectory {
    std::string path;
    cairn_ino ino;
    uint64_t bytes;
    std::vector<Entry> entries;
    size_t next = 0;
  };

  uint64_t bytes_of(const cairn_stat& st) {
    if (st.nlink > 1 && !is_directory(st) && !seen_.insert(st.ino).second) return 0;
    return st.blocks * 512;
  }

  const Pool& pool_;
  bool summary_;
  std::set<cairn_ino> seen_;  // a file with several names counts once
};

int du_command(const Config& config, bool json, const ListArguments& arguments) {
  Pools pools(config, 0);
  Table table({"TAKEN", "PATH"}, {0});
  Json all = Json::array();
  bool all_counted = true;
  for (const std::string& text : arguments.paths) {
    const PoolPath place = parse_pool_path(text, false);
    const Pool& pool = pools.at(place.pool);
    DiskUsage usage(pool, arguments.summary);
    all_counted &= usage.count(place.path, stat_of(pool, place.path, false));
    for (const auto& [bytes, path] : usage.rows) {
      all.push_back({{"path", json_text(path)}, {"taken_bytes", bytes}});
      table.row({size_text(bytes, arguments.bytes), printable(path)});
    }
  }
  if (json)
    print_json(all);
  else
    print_lines(table.text());
  return all_counted ? exit_ok : exit_failed;
}

}  // namespace

void add_list_commands(CLI::App& root, Context& context) {
  auto arguments = std::make_shared<ListArguments>();
  const auto add = [&](const char* name, const char* summary, const char* prose, bool paths_needed,
                       std::function<int()> action) {
    CLI::App* command = add_command(root, context, name, summary, prose);
    command->callback([&context, arguments, paths_needed, action = std::move(action)] {
      if (!paths_needed && arguments->paths.empty()) arguments->paths.emplace_back("/");
      context.action = action;
    });
    CLI::Option* paths = command->add_option(
        "PATH", arguments->paths, "A path in a pool: POOL:/path, or /path in the configured pool.");
    paths->type_name("POOLPATH")->required(paths_needed);
    return command;
  };
  const char* bytes_help = "Print sizes in bytes.";
  CLI::App* ls =
      add("ls", "List a directory of a pool.", "  cairn ls -l big:/results", false,
          [&context, arguments] { return Lister(context.config, context.json, *arguments).run(); });
  ls->add_flag("-l,--long", arguments->as_long, "Show mode, links, owner, size and time too.");
  ls->add_flag("-a,--all", arguments->all, "List names that begin with a dot too.");
  ls->add_flag("-R,--recursive", arguments->recursive, "List subdirectories too.");
  ls->add_flag("-b,--bytes", arguments->bytes, bytes_help);
  add("stat", "Show everything about a file of a pool.", "", true,
      [&context, arguments] { return stat_command(context.config, context.json, *arguments); });
  add("cat", "Write files of a pool to standard output.", "", true,
      [&context, arguments] { return cat_command(context.config, *arguments); });
  CLI::App* df = add_command(root, context, "df", "Show the space of a pool.", "");
  df->add_option("POOL", arguments->paths,
                 "Pools: names or paths; the configured one if none is given.")
      ->type_name("POOL");
  df->add_flag("-b,--bytes", arguments->bytes, bytes_help);
  df->callback([&context, arguments] {
    context.action = [&context, arguments] {
      return df_command(context.config, context.json, *arguments);
    };
  });
  CLI::App* du =
      add("du", "Show the space that directories of a pool use.", "", false,
          [&context, arguments] { return du_command(context.config, context.json, *arguments); });
  du->add_flag("-s,--summary", arguments->summary, "Print only the sum of each argument.");
  du->add_flag("-b,--bytes", arguments->bytes, bytes_help);
}

}  // namespace cairn::cli
