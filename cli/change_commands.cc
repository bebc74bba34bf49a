// cairn rm, mkdir, mv: changing names in a pool.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "command_line.h"
#include "error.h"
#include "pool_path.h"
#include "units.h"

namespace cairn::cli {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string mode;
  bool recursive = false, force = false, parents = false, no_replace = false;
};

uint64_t remove_tree(const Pool& pool, const std::string& path, const cairn_stat& st) {
  uint64_t count = 1;
  if (is_directory(st)) {
    for (const Entry& entry : read_directory(pool, path))
      count += remove_tree(pool, join(path, entry.name), entry.st);
    check(cairn_rmdir(pool.get(), CAIRN_ROOT, path.c_str()), path);
  } else {
    check(cairn_unlink(pool.get(), CAIRN_ROOT, path.c_str()), path);
  }
  return count;
}

int remove_command(const Config& config, bool json, const Arguments& arguments) {
  Pools pools(config, 0);
  uint64_t removed = 0;
  for (const std::string& text : arguments.paths) {
    const PoolPath place = parse_pool_path(text, false);
    refuse_own_names(place.path);
    const Pool& pool = pools.at(place.pool);
    cairn_stat st{};
    const int result = try_stat(pool, place.path, false, &st);
    if (result == -ENOENT && arguments.force) continue;
    check(result, place.path);
    if (std::filesystem::path(place.path + "/").lexically_normal() == "/")
      usage_error("/: the root of a pool stays; `cairn pool remove` removes the pool");
    if (is_directory(st) && !arguments.recursive)
      fail("{}: is a directory; -r removes it and what is in it", place.path);
    removed += remove_tree(pool, place.path, st);
  }
  if (json) print_json({{"removed", removed}});
  return exit_ok;
}

void make_directory(const Pool& pool, const std::string& path, uint32_t mode,
                    bool existing_is_fine) {
  const int result = cairn_mkdir(pool.get(), CAIRN_ROOT, path.c_str(), mode);
  if (result == -EEXIST && existing_is_fine) {
    if (!is_directory(stat_of(pool, path))) fail("{}: exists and is no directory", path);
    return;
  }
  check(result, path);
}

int mkdir_command(const Config& config, bool json, const Arguments& arguments) {
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

int move_command(const Config& config, bool json, Arguments arguments) {
  if (arguments.paths.size() < 2)
    usage_error("where to? mv takes one or more sources and a destination");
  Pools pools(config, 0);
  const PoolPath to = parse_pool_path(arguments.paths.back(), false);
  refuse_own_names(to.path);
  arguments.paths.pop_back();
  const Pool& pool = pools.at(to.pool);
  cairn_stat st{};
  const bool into = try_stat(pool, to.path, true, &st) == 0 && is_directory(st);
  if (arguments.paths.size() > 1 && !into)
    fail("{}: is no directory that several sources could go to", to.path);
  for (const std::string& text : arguments.paths) {
    const PoolPath from = parse_pool_path(text, false);
    refuse_own_names(from.path);
    if (pools.at(from.pool).path() != pool.path())
      usage_error("{} and {} lie in different pools: use cp, then rm", text, to.path);
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
  auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const char* summary, const char* prose,
                       int (*action)(const Config&, bool, const Arguments&)) {
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
  CLI::App* rm = add("rm", "Remove files of a pool.", "", remove_command);
  rm->add_flag("-r,-R,--recursive", arguments->recursive, "Directories and what is in them too.");
  rm->add_flag("-f,--force", arguments->force, "What is not there is no error.");
  CLI::App* mkdir = add("mkdir", "Make directories in a pool.", "", mkdir_command);
  mkdir->add_flag("-p,--parents", arguments->parents,
                  "Missing parents too; an existing directory is no error.");
  mkdir->add_option("-m,--mode", arguments->mode, "Permissions, octal; by default 0755.")
      ->type_name("MODE");
  CLI::App* mv = add("mv", "Rename files within a pool.",
                     "The last PATH is the destination: a new name, or a directory that the others "
                     "go to. Each rename "
                     "happens or does not, whatever dies meanwhile.",
                     [](const Config& config, bool json, const Arguments& given) {
                       return move_command(config, json, given);
                     });
  mv->add_flag("-n,--no-replace", arguments->no_replace, "An existing destination is an error.");
}

}  // namespace cairn::cli
