// cairn run --at DIR -- PROGRAM: serves DIR from a pool, runs the program unchanged, and drains.
//
// This process attaches the pool before the program starts, to cover DIR, so that every error comes
// early. It detaches, so that it takes no lane from the program, and attaches again when the
// program has ended. A shared lock tells that a run is under way: of several runs of one job
// (mpirun cairn run ...) the last one ends the cover. Runs with other pools see the cover's claim.
// A run inside a run of the same directory (cairn run -- mpirun cairn run ...) leaves all that to
// the outer one.
#include <cairn/checkpoint.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "machine/environment.h"
#include "machine/lifetime.h"
#include "pools/place_lock.h"
#include "pools/pool_owner.h"
#include "pools/pool_place.h"
#include "process/core_dump.h"
#include "process/held_directory.h"
#include "process/job_end.h"
#include "process/launcher.h"
#include "process/preload.h"
#include "process/run_child.h"
#include "runs/finish_run.h"
#include "runs/full_pool.h"
#include "runs/keeper.h"
#include "runs/keeper_log.h"
#include "runs/nested_run.h"
#include "runs/pool_create.h"
#include "runs/shortage.h"
#include "runs/stale_claim.h"
#include "text/error.h"
#include "text/output.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// Does the program's path lie below `directory`? The file itself need not exist.
bool lies_in(const std::string& program, const std::string& directory) {
  if (program.find('/') == std::string::npos) return false;
  const std::string parent = program.substr(0, program.rfind('/') + 1);
  char* real = realpath(parent.c_str(), nullptr);
  // If the directory exists in the pool only, the paths are compared as they are written.
  const std::string place = (real == nullptr ? parent : std::string(real)) + "/";
  std::free(real);
  return place.starts_with(directory + "/");
}

// The absolute path of the directory as the user spells it. Programs may get paths that are spelled
// so, with symbolic links in them. "" if it is the same as the real path.
std::string other_spelling(const std::string& given, const std::string& real) {
  namespace fs = std::filesystem;
  fs::path path = given;
  if (path.is_relative()) {
    const std::string here = environment_variable("PWD");
    std::error_code error;
    if (here.empty() || !fs::equivalent(here, ".", error)) return "";
    path = fs::path(here) / path;
  }
  std::string spelled;
  for (const fs::path& part : path) {
    if (part == "..") return "";  // behind a symbolic link it may lead elsewhere
    if (!part.empty() && part != "." && part != "/") spelled += "/" + part.string();
  }
  return spelled == real || spelled.find(':') != std::string::npos ? "" : spelled;
}

struct Run {
  const Context& context;
  std::string directory;
  std::string job;
  uint32_t lanes = 0;
  bool fresh = false;
  bool detach_drain = false;
  std::string spelling = {};
  std::vector<std::string> warnings = {};

  void check_program() const {
    if (context.program.empty())
      usage_error("missing program: cairn run --at DIR -- PROGRAM [ARGUMENTS...]");
    const std::string& name = context.program.front();
    if (find_program(name).empty() && !lies_in(name, directory))
      throw Error(exit_not_found, fmt::format("{}: command not found", name));
  }

  std::vector<std::pair<std::string, std::string>> environment(const std::string& pool) const {
    const auto library = find_preload();
    if (!library) fail("libcairn_posix.so is missing: it belongs in ../lib beside this command");
    if (library->find_first_of(": ") != std::string::npos)
      fail("{}: the loader cannot preload from a path with blanks or colons", *library);
    std::vector<std::pair<std::string, std::string>> variables = {
        {"LD_PRELOAD", preload_with(environment_variable("LD_PRELOAD"), *library)},
        {"CAIRN_COVER", directory},
        {"CAIRN_POOL", pool},
        {"CAIRN_RUN", this_run()},
        {"CAIRN_POOL_PROTECT", context.config.value("pool.protect")},
        {"CAIRN_DURABILITY", context.config.value("durability")},
        {"CAIRN_MPI_TIMEOUT", context.config.value("mpi.timeout")},
        {"CAIRN_MPI_VISIBILITY", context.config.value("mpi.visibility")},
        {"CAIRN_LOG_LEVEL", context.config.value("log.level")}};
    // 0: an outer run, around the launcher, also covers processes that the launcher starts later.
    if (is_rank()) variables.emplace_back("CAIRN_RUN_OF_RANK", named_by_environment() ? "0" : "1");
    if (!spelling.empty()) variables.emplace_back("CAIRN_COVER_SPELLINGS", spelling);
    const Setting& domain = context.config.at("checkpoint.domain");
    if (domain.origin != "default") variables.emplace_back("CAIRN_CHECKPOINT_DOMAIN", domain.value);
    return variables;
  }

  // Refuses another user's pool to root, because its owner could change what root's programs read.
  static void refuse_pool_of_other(const std::string& path) {
    if (const auto owner = other_owner(path))
      fail(
          "{}: the pool belongs to user {}, who could change what root's programs read; start "
          "the run as that user, or choose another pool with --pool or --pool-dir",
          path, owner->user);
  }

  int go() {
    const std::string given = directory;
    directory = real_directory(given);
    spelling = other_spelling(given, directory);
    // The preloaded library gets a list of paths with ':' between them. It would not find the
    // cover, and programs would write to lower.
    for (const std::string& path : {given, directory})
      if (path.find(':') != std::string::npos)
        usage_error("{}: a path with ':' in it cannot be covered", path);
    if (const std::string outer = environment_variable("CAIRN_COVER");
        !outer.empty() && outer != directory)
      usage_error("{}: this process already runs under a cover of {}; one run covers one directory",
                  directory, outer);
    for (const std::string& pool : list_pools(context.config))
      if ((directory + "/").starts_with(pool + "/"))
        usage_error("{}: lies in the pool {}; cover an ordinary directory", directory, pool);
    check_program();
    const std::string mode = context.config.value("drain.mode");
    const bool keep = mode == "never";
    if (keep && detach_drain) usage_error("--detach-drain: nothing is drained with --drain never");
    bool has_keeper = mode == "close" || mode == "async" || detach_drain;
    const std::string pool_of_run = pool_path(context.config, "", true);
    refuse_pool_of_other(pool_of_run);
    const auto variables = environment(pool_of_run);

    if (environment_variable("CAIRN_COVER") == directory && named_by_environment())
      return start(environment(environment_variable("CAIRN_POOL")));
    const auto patience = std::chrono::seconds(is_one_of_several() ? 10 : 0);
    const std::string locks = lock_directory(pool_of_run);
    if (descends_from_run(lock_path(locks, cover_lock_name(directory)))) {
      const std::string pool_of_outer = find_cover(context.config, directory).value_or(pool_of_run);
      if (!owner_text().empty())
        fail("{}: {}; the program was not started", directory, owner_text());
      return start(environment(pool_of_outer));
    }

    // Waits while another run of this directory is draining.
    PlaceLock running(locks, cover_lock_name(directory), PlaceLock::Mode::shared);
    end_keeper_of_earlier_run(running, pool_of_run);
    Shortage before;
    std::unique_ptr<Cover::Hold> hold;
    const HeldDirectory held(directory);
    {
      const PlaceLock start = lock_start(pool_of_run);
      const bool lost = claim_of(directory).is_lost(pool_of_run);
      Pool pool = attach_or_create(context.config, lanes);
      before = shortage_of(pool.get(), pool.info());
      look_at_launcher();
      look_at_lifetime(pool);
      if (!context.json) warn_all(warnings);
      try {
        const Fresh from = fresh_start();
        const bool is_tight = mode == "exit" && !fresh && is_left_full(pool, directory);
        hold = open_with_room(pool, directory, !keep, [&] {
                 return Cover::open(pool, directory, keep, job, patience, &from);
               }).hold();
        if (is_tight) drain_left(pool, directory);
        // Files that an earlier run left, or DIR itself, may have their own drain mode.
        const auto cover = cover_of(pool, directory);
        const bool drains_meanwhile =
            mode == "close" || mode == "async" || (cover && cover->asks_for_keeper());
        has_keeper = has_keeper || drains_meanwhile;
        // Promises room, as the keeper does: a program may fill the pool before its first look.
        if (drains_meanwhile) cairn_room_promise(pool.get());
        if (lost)
          tell(
              "cairn run: {}: the pool {} that covered it is gone, and with it what "
              "was not drained\n",
              directory, pool_of_run);
        // In a job on several hosts the others may still be starting: MPI_Init checks that.
        if (speaks_for_all())
          for (const OtherPool& other : other_pools(pool, directory))
            tell("cairn run: {}\n", missing_text(directory, other));
      } catch (...) {
        running.release();
        remove_if_left_over(pool, start);  // a pool that this run made is not needed
        throw;
      }
    }
    const KeeperLog log(has_keeper ? start_keeper(context.config, pool_of_run, directory) : -1);
    const int code = start(variables);
    if (detach_drain) {
      if (access(pool_of_run.c_str(), F_OK) == 0) report_full(attach_again(pool_of_run), before);
      hold.reset();
      running.release();
      report_detached();
      return code;
    }
    const StopOnSignal stop;
    // While other runs of the job are at work, this one waits or leaves: the last one drains. A run
    // that drains nothing need not wait.
    const Wait wait =
        code == exit_ok && !keep ? wait_to_be_last(running, directory) : be_last_or_leave(running);
    if (wait == Wait::interrupted) return report_interrupt();
    if (wait == Wait::left) {
      if (!keep && (!is_rank() || running.is_first_to_note()))
        note(fmt::format("cairn run: other runs still use {}; the last one drains it{}", directory,
                         is_rank() ? if_killed() : ""));
      return code;
    }
    const bool has_pool = access(pool_of_run.c_str(), F_OK) == 0;
    const auto no_keeper = has_keeper && has_pool ? end_keeper(pool_of_run, directory) : nullptr;
    const int ended = end(pool_of_run, before, keep, code, running, held);
    return code != exit_ok ? code : ended;
  }

  // Says that a keeper drains, and warns if the end of the job or container would kill it.
  void report_detached() const {
    if (!is_first_rank()) return;
    const std::string ends = what_ends_background();
    const std::string text = fmt::format(
        "{} is drained in the background; `cairn drain {} --wait` waits for that{}", directory,
        directory,
        ends.empty() ? "" : fmt::format(". But {}: `cairn drain` on this host continues", ends));
    if (!ends.empty() && !context.json)
      note(fmt::format("cairn run: {}", text));
    else
      report(text, {{"directory", json_text(directory)},
                    {"detached", true},
                    {"ended_by", ends.empty() ? Json() : Json(json_text(ends))}});
  }

  // If a rank fails, the launcher may kill the run that is to drain.
  [[nodiscard]] std::string if_killed() const {
    return fmt::format(", or run `cairn drain {}` if that run is killed", directory);
  }

  // An earlier run with --detach-drain may have left a keeper with another drain mode. This run
  // ends it, unless other runs are under way.
  void end_keeper_of_earlier_run(PlaceLock& running, const std::string& pool) const {
    if (running.change(PlaceLock::Mode::exclusive, false)) end_keeper(pool, directory);
    running.change(PlaceLock::Mode::shared, true);
  }

  // --fresh: the first run of a launch discards what earlier runs left, and says so. It joins a
  // cover that other runs use.
  Fresh fresh_start() const {
    Fresh start{launch_id(), {}};
    if (!fresh) return start;
    start.left = [this](const CoverEntry& left) {
      if (left.in_use)
        note(fmt::format(
            "cairn run: --fresh: other runs or processes use {}, so nothing there is discarded",
            directory));
      else if (!left.all_drained)
        note(fmt::format("cairn run: --fresh: discarding what an earlier run left for {}: {}",
                         directory, undrained_text(left)));
    };
    return start;
  }

  // Warns if the launcher's files lie in DIR, where its processes under Cairn see the pool's files.
  void look_at_launcher() {
    const std::string shared = launcher_directory();
    if (shared.empty() || !lies_in(shared, directory) || !is_first_rank()) return;
    warnings.push_back(fmt::format(
        "{}: the MPI's launcher shares files with its processes there, in the covered directory "
        "{}: they do not see each other's, and MPI_Init fails; set TMPDIR to a directory outside "
        "of {}",
        shared, directory, directory));
  }

  // Warns if the end of the job, or a logout, would remove the pool with undrained data, or DIR
  // with drained ones. Of the ranks of a job, the one that begins the cover does it.
  void look_at_lifetime(const Pool& pool) {
    const auto covers = list_covers(pool);
    const bool begun = std::any_of(covers.begin(), covers.end(), [&](const CoverEntry& cover) {
      return cover.directory == directory;
    });
    if (begun && is_rank()) return;
    for (const std::string& path : {pool.path(), directory})
      for (std::string& text : lifetime_warnings(path)) warnings.push_back(std::move(text));
  }

  int start(const std::vector<std::pair<std::string, std::string>>& variables) const {
    const ChildResult child =
        run_child(context.program, variables, lies_in(context.program.front(), directory));
    if (!child.error.empty()) tell("cairn run: {}\n", child.error);
    note_end(child.exit_code, variables);
    const std::string core = missing_core_text(child.status, context.program.front(), directory);
    if (!core.empty()) tell("cairn run: {}\n", core);
    return child.exit_code;
  }

  // A restart from a checkpoint counts against its version unless the program was ended from
  // outside. Shells and launchers return 128 + the signal's number.
  static void note_end(int code,
                       const std::vector<std::pair<std::string, std::string>>& variables) {
    if (code == exit_ok) return;
    const auto value = [&](const char* name) {
      const auto found = std::find_if(variables.begin(), variables.end(),
                                      [&](const auto& one) { return one.first == name; });
      return found == variables.end() ? std::string() : found->second;
    };
    const bool is_outside = code == exit_signal + SIGKILL || code == exit_signal + SIGTERM;
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(value("CAIRN_POOL").c_str(), 0, &pool) != 0) return;
    cairn_checkpoint_program_ended(pool, value("CAIRN_RUN").c_str(),
                                   is_outside ? CAIRN_ENDED_FROM_OUTSIDE : CAIRN_ENDED_BY_ITSELF);
    cairn_pool_detach(pool);
  }

  [[nodiscard]] bool keeps_something(const Pool& pool) const {
    const auto covers = list_covers(pool);
    return std::any_of(covers.begin(), covers.end(), [&](const CoverEntry& cover) {
      return cover.directory == directory && !cover.all_drained;
    });
  }

  int report_interrupt() const {
    tell("cairn run: interrupted; `cairn drain {}` goes on\n", directory);
    return exit_signal + stop_signal();
  }

  int end(const std::string& path, const Shortage& before, bool keep, int code_of_program,
          PlaceLock& running, const HeldDirectory& held) const {
    if (access(path.c_str(), F_OK) != 0) return end_without_pool(path);
    Pool pool;
    try {
      pool = attach_again(path);
    } catch (const Error&) {
      // Another run may be removing the pool. When this process gets the lock, that has ended.
      lock_start(path).release();
      if (access(path.c_str(), F_OK) != 0) return end_without_pool(path);
      throw;
    }
    report_full(pool, before);
    if (keep) return end_kept(pool, code_of_program);
    // If there is no claim, the drain itself recognises another directory.
    if (held.is_replaced() && access((directory + "/.cairn-claim").c_str(), F_OK) == 0 &&
        keeps_something(pool)) {
      tell(
          "cairn run: {}: replaced during the run: this path leads to a directory other than the "
          "covered one, with a copy of its claim; nothing is drained to it; {}\n",
          directory, how_to_rescue(directory));
      return exit_failed;
    }
    DrainNotice notice(code_of_program != exit_ok);
    const FinishResult result =
        finish_cover(pool, directory, true, true, wait_for_others(context.config), &notice);
    const int code = finish_code(result);
    if (code != exit_ok) {
      tell("cairn run: {}\n", finish_text(directory, result));
      if (context.json)
        tell("{}\n", json_line(with_warnings(drain_json(directory, result.drain), warnings)));
    }
    if (code == exit_ok && result.ended != Ended::gone)
      report(finish_text(directory, result), drain_json(directory, result.drain));
    if (code == exit_ok) leave_pool(pool, running);
    return code;
  }

  // Drain mode `never`: drains only files whose own drain mode asks for it.
  int end_kept(const Pool& pool, int code_of_program) const {
    auto cover = cover_of(pool, directory);
    if (!cover) return exit_ok;
    int code = exit_ok;
    if (cover->asks_for_drain() && !cover->all_drained) {
      cairn_while_running rule{};
      rule.mode = CAIRN_DRAIN_NEVER;
      rule.at_end = 1;
      const auto drained =
          Cover::join(pool, directory).drain_while_running(&rule, nullptr, tell_problem, nullptr);
      if (drained.code != 0) {
        tell("cairn run: {}\n", drained.error);
        code = exit_failed;
      }
      cover = cover_of(pool, directory);
    }
    if (cover) report_kept(pool.path(), *cover, code_of_program);
    return code;
  }

  static void tell_problem(void* /*context*/, const char* text) { tell("cairn: {}\n", text); }

  void report_kept(const std::string& path, const CoverEntry& cover, int code_of_program) const {
    const std::string text =
        fmt::format("{}: kept in {}; `cairn drain {}` writes it to the directory",
                    undrained_text(cover), path, directory);
    // A program may have failed because the reader of its output has closed the pipe (SIGPIPE). So
    // this says what is left to drain.
    if (code_of_program == exit_ok || cover.all_drained || context.json)
      return report(text, cover_json(cover));
    const int signal = code_of_program - exit_signal;
    tell("cairn run: the program {}; {}\n",
         signal > 0 && signal < NSIG
             ? fmt::format("was ended by signal {} ({})", signal, strsignal(signal))
             : fmt::format("ended with code {}", code_of_program),
         text);
  }

  // Attaches the pool again. Processes that the program has left behind may hold all lanes.
  Pool attach_again(const std::string& path) const {
    cairn_pool* attached = nullptr;
    int result = 0;
    while ((result = cairn_pool_attach(path.c_str(), 0, &attached)) == -EBUSY && stop_signal() == 0)
      tell("cairn run: waiting for a free lane in the pool: {}\n", library_error(result));
    check(result, path);
    return {attached, path};
  }

  // Ends a run whose pool does not exist any more: another run has drained the cover and removed
  // claim and pool, or a user has removed the pool.
  int end_without_pool(const std::string& path) const {
    // The directory of the pools may be gone as well, and the lock with it.
    std::unique_ptr<PlaceLock> start;
    if (access(path.substr(0, path.rfind('/') + 1).c_str(), F_OK) == 0)
      start.reset(new PlaceLock(lock_start(path)));  // cannot be moved
    const std::string claim = stale_claim(directory, path);
    if (claim.empty() || access(path.c_str(), F_OK) == 0) return exit_ok;
    tell(
        "cairn run: {}: the pool was removed while the run was under way; what was not "
        "drained to {} is lost ({} still names it: `cairn discard` removes that)\n",
        path, directory, claim);
    return exit_failed;
  }

  // The program met ENOSPC: says in one line why, and how much room was missing.
  void report_full(const Pool& pool, const Shortage& before) const {
    const cairn_pool_info info = pool.info();
    // A pool that was there before has the size it was made with; options do not change it.
    char value = 0;
    const bool own = cairn_getxattr(pool.get(), CAIRN_ROOT, 0, made_by_run, &value, 1) >= 0;
    const std::string mode = context.config.value("drain.mode");
    const Shortage now = shortage_of(pool.get(), info);
    Draining draining{mode == "close" || mode == "async", 0};
    if (now.writes != before.writes) draining.stopped = stopped_keeper(pool, directory);
    const std::string text = shortage_text(before, now, info, own, draining);
    if (!text.empty()) tell("cairn run: {}\n", text);
  }

  // Reports on stderr, because stdout is the program's.
  void report(const std::string& text, const Json& json) const {
    if (context.json)
      tell("{}\n", json_line(with_warnings(json, warnings)));
    else if (context.config.value("log.level") == "info" || isatty(STDERR_FILENO) == 1)
      tell("cairn run: {}\n", text);
  }
};

}  // namespace

void add_run_command(CLI::App& root, Context& context) {
  struct Arguments {
    std::string directory, job;
    uint32_t lanes = 0;
    bool fresh = false;
    bool detach_drain = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* run = add_command(
      root, context, "run", "Run a program unchanged, with a directory served from memory.",
      "Serves DIR from a pool, over what is already in it: existing names and contents stay "
      "readable, and writes go to memory. When the last process using DIR exits, including "
      "background children, Cairn writes the changes back. DIR then holds ordinary files again. "
      "With --drain close or async, a process in the background writes files back while the "
      "program runs, as soon as they are closed or quiet. "
      "With --drain never, the changes stay in the pool for the next run, until `cairn drain DIR` "
      "or `cairn discard DIR`.\n\n"
      "The run creates a pool that does not exist, and removes it when nothing is left in it. Runs "
      "of the same job, or of the same host and pool, share DIR. Other runs are refused, with the "
      "host and job that hold DIR. Everything after -- belongs to the program.\n\n"
      "  cairn run --at results -- ./simulation input.nml\n"
      "  cairn run --at results -- mpirun -n 4 ./simulation\n"
      "  mpirun -n 4 cairn run --at results -- ./simulation\n\n"
      "Exit code: the program's own; 128 + N if signal N ended it; 127 if it is not found, 126 if "
      "it cannot be executed; 2 if DIR is missing, not a directory or in a pool; 1 if another job "
      "has claimed DIR, or if the drain failed after a program that succeeded. The report goes to "
      "stderr, on a terminal or with --log-level info; with --json, as one line.");
  run->add_option("--at", arguments->directory, "The directory to serve from memory.")
      ->type_name("DIR");
  run->add_option("--job", arguments->job,
                  "The job's name, which is the same for its runs on all hosts. Default: the batch "
                  "system's (SLURM_JOB_ID, PBS_JOBID, LSB_JOBID, FLUX_JOB_ID), or what mpirun or "
                  "mpiexec of Open MPI, MPICH and other PMIx or Hydra launchers set.")
      ->type_name("ID");
  run->add_flag(
      "--fresh", arguments->fresh,
      "Start afresh: discard what an earlier run left for DIR in the pool on this host, and print "
      "how much that is. DIR's own files stay. Of the runs of one mpirun or srun, only the first "
      "one discards. A run that joins others in DIR discards nothing.");
  run->add_flag("--detach-drain", arguments->detach_drain,
                "Return when PROGRAM ends. A process in the background drains DIR then; "
                "`cairn drain DIR --wait` waits for it. Where a batch system or a container will "
                "end that process, too, the run says so: the data then stay in the pool for "
                "`cairn drain DIR`.");
  run->add_option(
         "--lanes", arguments->lanes,
         "Maximum number of concurrent processes in a pool that the run creates; by default 64 to "
         "1024, one for each 256 KiB. A process that finds no free lane waits up to 10 s.")
      ->type_name("N");
  run->prefix_command();
  run->callback([&context, arguments] {
    context.action = [&context, arguments] {
      if (arguments->directory.empty()) arguments->directory = environment_variable("CAIRN_COVER");
      if (arguments->directory.empty()) usage_error("missing --at DIR: the directory to serve");
      if (arguments->job.empty()) arguments->job = launcher_job();
      return Run{context,          arguments->directory, arguments->job,
                 arguments->lanes, arguments->fresh,     arguments->detach_drain}
          .go();
    };
  });
}

}  // namespace cairn::cli
