// cairn pool create, list, info, check, grow, populate and remove. pool_clean.cc has `clean`.
#include <CLI/CLI.hpp>
#include <cctype>
#include <list>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "machine/lifetime.h"
#include "pools/pool_handle.h"
#include "pools/pool_owner.h"
#include "pools/pool_place.h"
#include "process/live_processes.h"
#include "runs/checkpoints.h"
#include "runs/covers.h"
#include "runs/pool_create.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

constexpr const char* pool_help = "The pool: a name in the pool directory, or a path with a '/'.";

Json info_json(const Pool& pool) {
  const cairn_pool_info info = pool.info();
  return {{"name", json_text(pool.name())},
          {"path", json_text(pool.path())},
          {"uuid", uuid_text(info.uuid)},
          {"medium", info.medium},
          {"granularity", info.granularity},
          {"volatile", info.is_volatile != 0},
          {"durability", durability_text(info)},
          {"large_pages", info.large_pages != 0},
          {"format_version", info.format_version},
          {"size_bytes", info.size},
          {"usable_bytes", info.usable},
          {"used_bytes", info.used},
          {"withheld_bytes", info.withheld},
          {"free_held_bytes", info.free_held},
          {"untouched_bytes", info.untouched},
          {"reserve_bytes", info.reserve},
          {"block_bytes", info.block_size},
          {"segments", info.segments},
          {"inodes", info.inodes},
          {"lanes", info.lanes},
          {"lanes_attached", info.lanes_attached},
          {"full_count", info.full_count},
          {"full_bytes", info.full_bytes},
          {"attach_generation", info.attach_generation},
          {"created", static_cast<double>(info.created_ns) / 1e9}};
}

int info_command(const Config& config, bool json, const std::string& name) {
  const Pool pool = open_pool(config, name, look_only);
  const cairn_pool_info info = pool.info();
  const auto lanes = pool.lanes();
  const auto covers = list_covers(pool);
  if (json) {
    Json all = info_json(pool);
    all["processes"] = Json::array();
    for (const auto& lane : live(lanes)) all["processes"].push_back(lane_json(lane));
    all["processes_ended"] = lanes.size() - live(lanes).size();
    all["covers"] = Json::array();
    for (const auto& cover : covers) all["covers"].push_back(cover_json(cover));
    print_json(all);
    return exit_ok;
  }
  const auto line = [](const char* what, const std::string& value) {
    print("{:<14}{}\n", what, value);
  };
  line("pool", printable(pool.name()));
  line("path", printable(pool.path()));
  line("medium", fmt::format("{}, {} pages, granularity {}", info.medium,
                             info.large_pages != 0 ? "large" : "4 KiB", info.granularity));
  line("durability", durability_text(info));
  line("size", fmt::format("{} in {} segment(s)", format_size(info.size), info.segments));
  line("live", fmt::format("{} of {} usable", format_size(info.used), format_size(info.usable)));
  line("withheld", fmt::format("{}, removed, but a process may still be copying from it",
                               format_size(info.withheld)));
  line("free but held",
       fmt::format("{}, in memory that the pool holds; {} reserved for unlink and truncate",
                   format_size(info.free_held), format_size(info.reserve)));
  line("untouched", format_size(info.untouched));
  if (info.full_count != 0)
    line("was full", fmt::format("{} write(s) did not fit, {} were missing", info.full_count,
                                 format_size(info.full_bytes)));
  line("files", std::to_string(info.inodes));
  line("processes", fmt::format("{} attached of at most {}", info.lanes_attached, info.lanes));
  if (const std::string text = ended_text(lanes); !text.empty()) line("", text);
  for (const auto& lane : live(lanes))
    line("", fmt::format("pid {}  {}  {}", lane.pid, lane_state(lane), printable(lane.command)));
  for (const auto& cover : covers)
    line("covers", fmt::format("{}, {}", printable(cover.directory), undrained_text(cover)));
  line("created", format_time(static_cast<int64_t>(info.created_ns)));
  line("format", fmt::format("version {}, uuid {}", info.format_version, uuid_text(info.uuid)));
  for (const auto& lane : live(lanes))
    if (lane.stopped != 0)
      warn(fmt::format("process {} ({}) is stopped and may block others", lane.pid, lane.command));
  return exit_ok;
}

int create_command(const Config& config, bool json, const std::string& name,
                   cairn_pool_options options, bool populate) {
  const std::string path = pool_path(config, name, true);
  create_pool(config, path, options);
  const Pool pool(path);
  set_release(config, pool);
  if (populate) {
    const double seconds = populate_pool(pool);
    inform(fmt::format("populated in {}", format_duration(seconds)));
  }
  const cairn_pool_info info = pool.info();
  const auto warnings = lifetime_warnings(path);
  if (json) {
    print_json(with_warnings(info_json(pool), warnings));
  } else {
    warn_all(warnings);
    print("pool {}: {} on {} at {}\n", pool.name(), format_size(info.size), info.medium, path);
    if (info.is_volatile != 0)
      print("nothing in it survives power loss or reboot: the medium is volatile\n");
  }
  return exit_ok;
}

int list_command(const Config& config, bool json) {
  Table table({"NAME", "SIZE", "LIVE", "WITHHELD", "FREE BUT HELD", "UNTOUCHED", "MEDIUM",
               "POWER LOSS", "PROCESSES", "UNDRAINED", "PATH"},
              {1, 2, 3, 4, 5, 8, 9});
  Json all = Json::array();
  for (const std::string& path : list_pools(config)) {
    try {
      const Pool pool(path, look_only);
      const cairn_pool_info info = pool.info();
      const auto covers = list_covers(pool);
      const uint64_t undrained = undrained_bytes(covers);
      Json one = info_json(pool);
      one["undrained_bytes"] = undrained;
      one["all_drained"] = all_drained(covers);
      all.push_back(one);
      table.row({printable(pool.name()), format_size(info.size), format_size(info.used),
                 format_size(info.withheld), format_size(info.free_held),
                 format_size(info.untouched), info.medium, info.is_volatile != 0 ? "lost" : "kept",
                 std::to_string(info.lanes_attached),
                 undrained == 0 && !all_drained(covers) ? "names" : format_size(undrained),
                 printable(path)});
    } catch (const Error& error) {
      all.push_back({{"name", json_text(pool_name_of(path))},
                     {"path", json_text(path)},
                     {"error", json_text(error.what())}});
      table.row({printable(pool_name_of(path)), "?", "", "", "", "", "", "", "", "",
                 printable(error.what())});
    }
  }
  const std::string of_other = table.empty() ? pools_of_other(config) : "";
  if (!of_other.empty()) tell("cairn pool list: {}\n", of_other);
  if (json)
    print_json(all);
  else if (!table.empty())
    print_lines(table.text());
  else if (of_other.empty())
    print("no pools\n");
  return exit_ok;
}

// Prints no more findings than this: one damaged word can cause a million of them.
constexpr int64_t most_findings = 100;

int check_command(const Config& config, bool json, const std::string& name, bool all_findings) {
  struct Findings {
    Json list = Json::array();
    bool json = false;
    int64_t room = 0;  // lines that may still be printed
  } findings;
  findings.json = json;
  findings.room = all_findings ? INT64_MAX : most_findings;
  const std::string path = pool_path(config, name);
  work_as_owner(path);
  const auto finding = [](void* context, const char* text) {
    auto* all = static_cast<Findings*>(context);
    if (all->room-- <= 0) return;
    if (all->json)
      all->list.push_back(json_text(text));
    else
      print("{}\n", text);
  };
  const int64_t count = check(cairn_pool_check(path.c_str(), finding, &findings), path);
  if (findings.room < 0 && !json) print("and {} more; --all shows them\n", -findings.room);
  if (json)
    print_json({{"path", json_text(path)},
                {"ok", count == 0},
                {"count", count},
                {"findings", findings.list}});
  else
    print("{}: {}\n", path, count == 0 ? "sound" : fmt::format("{} finding(s)", count));
  return count == 0 ? exit_ok : exit_failed;
}

int grow_command(const Config& config, bool json, const std::string& name,
                 const std::string& size) {
  const Pool pool = open_pool_to_change(config, name);
  check(cairn_pool_grow(pool.get(), parse_bytes(size)), pool.path());
  if (json)
    print_json(info_json(pool));
  else
    print("pool {}: {} in {} segments\n", pool.name(), format_size(pool.info().size),
          pool.info().segments);
  return exit_ok;
}

int populate_command(const Config& config, bool json, const std::string& name) {
  const Pool pool = open_pool_to_change(config, name);
  const double seconds = populate_pool(pool);
  const uint64_t size = pool.info().size;
  if (json)
    print_json({{"path", json_text(pool.path())}, {"size_bytes", size}, {"seconds", seconds}});
  else
    print("pool {}: {} populated in {} ({})\n", pool.name(), format_size(size),
          format_duration(seconds), format_rate(size, seconds));
  return exit_ok;
}

int remove_command(const Config& config, bool json, const std::string& name, bool force) {
  const std::string path = pool_path(config, name);
  work_as_owner(path);                       // before the lock, which lies beside the pool
  const PlaceLock start = lock_start(path);  // no run begins to use the pool meanwhile
  std::vector<CoverEntry> covers;
  try {
    covers = list_covers(Pool(path, look_only));
  } catch (const Error&) {
    // A pool that cannot be read may hold undrained data, so it is removed with --force only.
    if (!force) throw;
  }
  std::list<PlaceLock> locks;
  for (const CoverEntry& cover : covers) {
    locks.emplace_back(lock_directory(path), cover_lock_name(cover.directory),
                       PlaceLock::Mode::exclusive, false);
    if (!locks.back().held()) fail("{}: a run is under way in {}", path, cover.directory);
  }
  // This process holds the locks of all covers, so their state does not change any more.
  if (!covers.empty() && !force)
    for (const CoverEntry& cover : list_covers(Pool(path, look_only)))
      if (!cover.all_drained)
        fail("{}: covers {}, {}; `cairn drain {}` saves it, --force drops it", path,
             cover.directory, undrained_text(cover), cover.directory);
  if (!force && holds_checkpoints(Pool(path, look_only)))
    fail("{}: holds checkpoints of programs; --force drops them", path);
  check(cairn_pool_remove(path.c_str()), path);
  if (json) print_json({{"path", json_text(path)}, {"removed", true}});
  return exit_ok;
}

}  // namespace

void add_pool_commands(CLI::App& root, Context& context) {
  struct Arguments {
    std::string name, size;
    uint32_t lanes = 0;
    std::string mode, granularity;
    bool populate = false, force = false, all = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* pool = add_command(root, context, "pool", "Create, show, check and remove pools.",
                               "A pool is memory-speed storage on this node, private to its user. "
                               "Programs attach to it automatically, and it outlives them. A pool "
                               "on a volatile medium is lost when the node loses power.");
  pool->require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* summary, const char* prose,
                       std::function<int()> action) {
    CLI::App* command = add_command(*pool, context, name, summary, prose);
    command->callback([&context, action = std::move(action)] { context.action = action; });
    return command;
  };
  const auto pool_argument = [&](CLI::App* command) {
    command->add_option("POOL", arguments->name, pool_help)->type_name("POOL");
  };

  CLI::App* create =
      add("create", "Create a pool.",
          "Without --size, the pool takes what the machine and its cgroup allow. On tmpfs, the "
          "pool takes memory as it is used, unless --populate takes it now.\n\n"
          "  cairn pool create                      # the default pool in /dev/shm\n"
          "  cairn pool create big --size 50% --populate\n"
          "  cairn pool create --pool-dir /dev/dax0.0",
          [&context, arguments] {
            cairn_pool_options options{};
            options.lanes = arguments->lanes;
            if (!arguments->mode.empty()) options.mode = parse_mode(arguments->mode);
            const std::vector<std::string> names = {"", "none", "page", "cache-line", "byte"};
            for (uint32_t i = 1; i < names.size(); ++i)
              if (arguments->granularity == names[i]) options.granularity = i;
            if (!arguments->granularity.empty() && options.granularity == 0)
              usage_error("invalid granularity '{}': expected none, page, cache-line or byte",
                          arguments->granularity);
            return create_command(context.config, context.json, arguments->name, options,
                                  arguments->populate);
          });
  pool_argument(create);
  create
      ->add_option(
          "--lanes", arguments->lanes,
          "Maximum number of concurrent processes; by default 64 to 1024, one for each 256 KiB.")
      ->type_name("N");
  create
      ->add_option("--mode", arguments->mode,
                   "Permissions of the root directory, octal; by default 0700.")
      ->type_name("MODE");
  create->add_flag("--populate", arguments->populate, "Allocate and touch all memory now.");
  create
      ->add_option(
          "--granularity", arguments->granularity,
          "Force how stores are made durable, for measurements; by default the medium decides.")
      ->type_name("none|page|cache-line|byte");

  add("list", "List the pools in the pool directory.", "",
      [&context] { return list_command(context.config, context.json); });
  CLI::App* info =
      add("info", "Show one pool: medium, durability, space, attached processes, covers.", "",
          [&context, arguments] {
            return info_command(context.config, context.json, arguments->name);
          });
  pool_argument(info);
  CLI::App* check_app =
      add("check", "Verify a whole pool without changing it.",
          "Reads and compares superblocks, inodes, maps, records, directories and space. Each "
          "finding is one line that names what and where; the first 100 are shown. Other processes "
          "should not use the pool meanwhile. Exit code 1 if there are findings.",
          [&context, arguments] {
            return check_command(context.config, context.json, arguments->name, arguments->all);
          });
  pool_argument(check_app);
  check_app->add_flag("-a,--all", arguments->all, "Show every finding.");
  CLI::App* grow =
      add("grow", "Add space to a pool.",
          "Adds a segment of at least SIZE. Attached processes see the new space immediately.\n\n"
          "  cairn pool grow 4GiB\n"
          "  cairn pool grow big 4GiB",
          [&context, arguments] {
            // A single argument that begins with a digit is the size.
            if (arguments->size.empty() && !arguments->name.empty() &&
                std::isdigit(static_cast<unsigned char>(arguments->name[0])) != 0)
              std::swap(arguments->name, arguments->size);
            if (arguments->size.empty()) usage_error("missing SIZE: the space to add");
            return grow_command(context.config, context.json, arguments->name, arguments->size);
          });
  pool_argument(grow);
  grow->add_option("SIZE", arguments->size, "How much to add: bytes with a unit.")
      ->type_name("SIZE");
  CLI::App* populate =
      add("populate", "Allocate and touch all memory of a pool.",
          "Programs then have no page faults on first use. Shows a progress bar on a terminal.",
          [&context, arguments] {
            return populate_command(context.config, context.json, arguments->name);
          });
  pool_argument(populate);
  CLI::App* remove =
      add("remove", "Remove a pool and everything in it.",
          "Fails while processes are attached, and while the pool holds checkpoints or undrained "
          "data of a covered directory.",
          [&context, arguments] {
            return remove_command(context.config, context.json, arguments->name, arguments->force);
          });
  pool_argument(remove);
  remove->add_flag(
      "-f,--force", arguments->force,
      "Remove the pool even if checkpoints or undrained data are lost, or if it cannot be "
      "read.");
  add_pool_clean_command(*pool, context);
}

}  // namespace cairn::cli
