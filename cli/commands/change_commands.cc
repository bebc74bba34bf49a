// cairn rm, mkdir, mv: change names in a pool.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "pools/pool_path.h"
#include "pools/pool_tree.h"
#include "runs/covers.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

struct ChangeArguments {
  std::vector<std::string> paths;
  std::string at;
  std::string mode;
  bool recursive = false, force = false, parents = false, no_replace = false;
};

// A directory that is being removed, with what is in it.
struct TreeLevel {
  cairn_ino base;    // the directory where `path` begins
  std::string path;  // of this directory
  std::string shown_path;
  cairn_ino ino;
  std::vector<std::string> names;
  size_t next = 0;
};

// Removes `path`, which begins in directory `base`; messages call it `shown_path`. Adds to the
// count of removed files. False: something could not be removed, and a message said so.
bool remove_tree(const Pool& pool, cairn_ino base, const std::string& path, const cairn_stat& st,
                 const std::string& shown_path, uint64_t* removed) {
  if (!is_directory(st)) {
    check(cairn_unlink(pool.get(), base, path.c_str()), shown_path);
    ++*removed;
    return true;
  }
  PoolTree tree(pool, "rm", st.ino);
  // The directories that the walk is in; without recursion, so that the stack does not grow.
  std::vector<TreeLevel> way;
  way.push_back({base, path, shown_path, st.ino, tree.names(st.ino, shown_path)});
  while (!way.empty()) {
    TreeLevel& level = way.back();
    if (level.next == level.names.size()) {
      const int result = cairn_rmdir(pool.get(), level.base, level.path.c_str());
      // If a name in the directory could not be removed, a message has said so.
      if (!tree.failed() || result != -ENOTEMPTY) check(result, level.shown_path);
      if (result == 0) ++*removed;
      way.pop_back();
      continue;
    }
    const std::string name = std::move(level.names[level.next++]);
    const std::string below = join(level.shown_path, name);
    cairn_stat at{};
    const int result = cairn_lookup(pool.get(), level.ino, name.c_str(), CAIRN_NOFOLLOW, &at);
    if (result == -ENOENT) continue;  // it was removed meanwhile
    check(result, below);
    if (!is_directory(at)) {
      check(cairn_unlink(pool.get(), level.ino, name.c_str()), below);
      ++*removed;
    } else if (tree.enter(level.ino, name, at, below)) {
      const cairn_ino above = level.ino;
      way.push_back({above, name, below, at.ino, tree.names(at.ino, below)});
    }
  }
  return !tree.failed();
}

// The path below `directory` that a relative or an absolute path means.
std::string path_below(const std::string& directory, const std::string& given) {
  namespace fs = std::filesystem;
  std::string path =
      fs::path(given.starts_with("/") ? given : directory + "/" + given).lexically_normal();
  while (path.ends_with("/")) path.pop_back();
  for (const fs::path& part : fs::path(given))
    if (part == "..") usage_error("{}: invalid path: '..' is not allowed here", given);
  if (!path.starts_with(directory + "/")) usage_error("{}: is not below {}", given, directory);
  return path.substr(directory.size() + 1);
}

// Looks up a path component by component. Follows no symbolic link, which could lead out of the
// covered directory into the rest of the pool.
int look_below(const Pool& pool, cairn_ino top, const std::string& path,
               const std::string& shown_path, cairn_ino* parent, cairn_stat* st) {
  st->ino = top;
  st->mode = S_IFDIR;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    if (!is_directory(*st)) throw Error(exit_failed, system_error(shown_path, ENOTDIR));
    *parent = st->ino;
    const int result = cairn_lookup(pool.get(), *parent, part.c_str(), CAIRN_NOFOLLOW, st);
    if (result < 0) return result;
  }
  return 0;
}

// Removes files of a covered directory, which the system's `rm` reaches only in a run.
int remove_covered(const Config& config, bool json, const ChangeArguments& arguments) {
  const std::string directory = real_directory(arguments.at);
  const auto found = find_cover(config, directory);
  if (!found)
    fail(
        "{}: not covered by any of your pools; remove its files with `rm` (`cairn status` lists "
        "covered directories)",
        directory);
  const Pool pool(*found);
  const Cover cover = Cover::join(pool, directory);
  uint64_t removed = 0;
  bool all = true;
  for (const std::string& given : arguments.paths) {
    const std::string path = path_below(directory, given);
    const std::string shown_path = join(directory, path);
    cairn_stat st{};
    cairn_ino parent = 0;
    const int result = look_below(pool, cover.top(), path, shown_path, &parent, &st);
    if (result == -ENOENT && arguments.force) continue;
    check(result, shown_path);
    if (is_directory(st) && !arguments.recursive)
      fail("{}: is a directory; use -r to remove it and its contents", shown_path);
    all &= remove_tree(pool, parent, base_name(path), st, shown_path, &removed);
  }
  if (json) print_json({{"removed", removed}});
  return all ? exit_ok : exit_failed;
}

int remove_command(const Config& config, bool json, const ChangeArguments& arguments) {
  if (!arguments.at.empty()) return remove_covered(config, json, arguments);
  Pools pools(config, 0);
  uint64_t removed = 0;
  bool all = true;
  for (const std::string& text : arguments.paths) {
    const PoolPath place = parse_pool_path(text, false);
    refuse_own_names(place.path);
    const Pool& pool = pools.at(place.pool);
    cairn_stat st{};
    const int result = try_stat(pool, place.path, false, &st);
    if (result == -ENOENT && arguments.force) continue;
    check(result, place.path);
    if (std::filesystem::path(place.path + "/").lexically_normal() == "/")
      usage_error("/: the root of a pool cannot be removed; `cairn pool remove` removes the pool");
    if (is_directory(st) && !arguments.recursive)
      fail("{}: is a directory; use -r to remove it and its contents", place.path);
    all &= remove_tree(pool, CAIRN_ROOT, place.path, st, place.path, &removed);
  }
  if (json) print_json({{"removed", removed}});
  return all ? exit_ok : exit_failed;
}

void make_directory(const Pool& pool, const std::string& path, uint32_t mode,
                    bool existing_is_fine) {
  const int result = cairn_mkdir(pool.get(), CAIRN_ROOT, path.c_str(), mode);
  if (result == -EEXIST && existing_is_fine) {
    if (!is_directory(stat_of(pool, path))) fail("{}: exists and is not a directory", path);
    return;
  }
  check(result, path);
}

int mkdir_command(const Config& config, bool json, const ChangeArguments& arguments) {
  Pools pools(config, 0);
  const uint32_t mode = arguments.mode.empty() ? 0777 & ~022U : parse_mode(arguments.mode);
  for (const std::string& text : arguments.paths) {
    const PoolPath place = parse_pool_path(text, false);
    refuse_own_names(place.path);
    const Pool& pool = pools.at(place.pool);
    for (size_t slash = place.path.find('/', 1); arguments.parents && slash != std::string::npos;
         slash = place.path.find('/', slash + 1))
      if (slash + 1 < place.path.size())
        make_directory(pool, place.path.substr(0, slash), 0755, true);
    make_directory(pool, place.path, mode, arguments.parents);
  }
  if (json) print_json({{"made", arguments.paths.size()}});
  return exit_ok;
}

int move_command(const Config& config, bool json, ChangeArguments arguments) {
  if (arguments.paths.size() < 2)
    usage_error("missing destination: mv takes one or more sources and a destination");
  Pools pools(config, 0);
  const PoolPath to = parse_pool_path(arguments.paths.back(), false);
  refuse_own_names(to.path);
  arguments.paths.pop_back();
  const Pool& pool = pools.at(to.pool);
  cairn_stat st{};
  const bool into = try_stat(pool, to.path, true, &st) == 0 && is_directory(st);
  if (arguments.paths.size() > 1 && !into)
    fail("{}: not a directory; several sources need a directory as destination", to.path);
  for (const std::string& text : arguments.paths) {
    const PoolPath from = parse_pool_path(text, false);
    refuse_own_names(from.path);
    if (pools.at(from.pool).path() != pool.path())
      usage_error("{} and {} are in different pools; use cp, then rm", text, to.path);
    const std::string target = into ? join(to.path, base_name(from.path)) : to.path;
    check(cairn_rename(pool.get(), CAIRN_ROOT, from.path.c_str(), CAIRN_ROOT, target.c_str(),
                       arguments.no_replace ? 1 : 0),
          from.path + " to " + target);
  }
  if (json) print_json({{"moved", arguments.paths.size()}});
  return exit_ok;
}

}  // namespace

void add_change_commands(CLI::App& root, Context& context) {
  auto arguments = std::make_shared<ChangeArguments>();
  const auto add = [&](const char* name, const char* summary, const char* prose,
                       int (*action)(const Config&, bool, const ChangeArguments&)) {
    CLI::App* command = add_command(root, context, name, summary, prose);
    command->callback([&context, arguments, action] {
      context.action = [&context, arguments, action] {
        return action(context.config, context.json, *arguments);
      };
    });
    command
        ->add_option("PATH", arguments->paths,
                     "A path in a pool: POOL:/path, or /path in the configured pool.")
        ->type_name("POOLPATH")
        ->required();
    return command;
  };
  CLI::App* rm = add("rm", "Remove files of a pool.",
                     "With --at DIR, each PATH names a file of the covered directory DIR, as a run "
                     "sees it. The command removes the file's bytes in the pool immediately. The "
                     "next drain removes what DIR itself has under that name. Outside a run, `rm` "
                     "does not reach files that are only in the pool.",
                     remove_command);
  rm->add_option("--at", arguments->at, "The covered directory that contains each PATH.")
      ->type_name("DIR");
  rm->add_flag("-r,-R,--recursive", arguments->recursive, "Remove directories and their contents.");
  rm->add_flag("-f,--force", arguments->force, "Ignore files that do not exist.");
  CLI::App* mkdir = add("mkdir", "Create directories in a pool.", "", mkdir_command);
  mkdir->add_flag("-p,--parents", arguments->parents,
                  "Create missing parents; an existing directory is not an error.");
  mkdir->add_option("-m,--mode", arguments->mode, "Permissions, octal; by default 0755.")
      ->type_name("MODE");
  CLI::App* mv =
      add("mv", "Rename files within a pool.",
          "The last PATH is the destination: a new name, or a directory to move the others into. "
          "Each rename is atomic: if a process is killed, the rename is done or not done.",
          [](const Config& config, bool json, const ChangeArguments& given) {
            return move_command(config, json, given);
          });
  mv->add_flag("-n,--no-replace", arguments->no_replace, "Fail if the destination exists.");
}

}  // namespace cairn::cli
