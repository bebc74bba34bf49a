#include "runs/keeper.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <thread>
#include <utility>

#include "machine/own_size_limit.h"
#include "pools/pool_place.h"
#include "process/process.h"
#include "runs/covers.h"
#include "runs/finish_run.h"
#include "runs/keeper_log.h"
#include "text/error.h"
#include "text/output.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* keeper_flag = "--keep-drained";
std::string keeper_lock_name(const std::string& directory) {
  return "keeper-" + cover_lock_name(directory);
}
// The attribute of the pool's root directory in which a keeper stores its state.
std::string state_name(const std::string& directory) {
  return "user.cairn." + keeper_lock_name(directory);
}
std::string end_lock_name(const std::string& directory) {
  return "end-keeper-" + cover_lock_name(directory);
}

// Is a keeper of the cover at work?
bool is_kept(const std::string& locks, const std::string& directory) {
  return !PlaceLock(locks, keeper_lock_name(directory), PlaceLock::Mode::shared, false).held();
}

// The arguments that start_keeper() passes to run_keeper().
struct Order {
  std::string pool;
  std::string directory;
  std::string mode;              // drain.mode
  std::chrono::seconds quiet{};  // drain.quiet
  uint64_t rate = 0;             // drain.rate in bytes a second; 0: unlimited
  std::chrono::seconds for_others{};
  bool yields = true;  // drain.yield
};
constexpr int order_words = 7;

// After an error of lower, the keeper waits before it tries again, each time twice as long.
class Backoff {
 public:
  void failed() { pause_ = std::clamp(pause_ * 2, least, most); }
  void succeeded() { pause_ = {}; }
  [[nodiscard]] std::chrono::milliseconds pause() const { return pause_; }

 private:
  static constexpr std::chrono::milliseconds least = 1s;
  static constexpr std::chrono::milliseconds most = 5min;
  std::chrono::milliseconds pause_{};
};

// Renews the promise of room while a drain is at work: a single call, such as an fsync of a large
// file, may take longer than the promise lasts. Programs still wait for a bounded time. Calls
// `watch` each time, because the drain itself may wait for a file system that does not answer.
class PromiseRenewal {
 public:
  PromiseRenewal(const Pool& pool, const std::function<void()>& watch)
      : thread_([&pool, watch](const std::stop_token& stop) {
          for (int moments = 0; !stop.stop_requested(); ++moments) {
            if (moments % moments_between == 0) {
              cairn_room_promise(pool.get());
              watch();
            }
            std::this_thread::sleep_for(moment);
          }
        }) {}

 private:
  static constexpr std::chrono::milliseconds moment = 20ms;
  static constexpr int moments_between = 50;
  std::jthread thread_;
};

class Keeper {
 public:
  explicit Keeper(Order order) : order_(std::move(order)), locks_(lock_directory(order_.pool)) {}

  int go() {
    const auto only = be_the_only_one();
    if (!only->held()) return exit_ok;
    if (order_.yields) yield_to_programs();
    const StopOnSignal stop;
    while (!is_to_end() && access(order_.pool.c_str(), F_OK) == 0) {
      next_ = Clock::now() + least_pause;
      try {
        if (work()) return exit_ok;
      } catch (const Error& error) {
        backoff_.failed();
        problem_ = error.what();
        tell_change();
        next_ = Clock::now() + backoff_.pause();
      }
      rest();
    }
    return exit_ok;
  }

 private:
  static constexpr auto least_pause = 250ms;
  static constexpr auto busy_pause = 20ms;
  static constexpr auto patience = 1s;
  static constexpr std::chrono::seconds longest_silence{30};

  // `cairn status` may hold the lock for a moment.
  [[nodiscard]] std::unique_ptr<PlaceLock> be_the_only_one() const {
    auto lock = std::make_unique<PlaceLock>(locks_, keeper_lock_name(order_.directory),
                                            PlaceLock::Mode::exclusive, false);
    lock->hold_soon();
    return lock;
  }

  // Gives programs priority, for the processor and for the disk.
  static void yield_to_programs() {
    constexpr int nicer = 10;
    constexpr int most = 19;
    constexpr int who_process = 1;  // linux/ioprio.h
    constexpr int class_idle = 3 << 13;
    setpriority(PRIO_PROCESS, 0, std::min(getpriority(PRIO_PROCESS, 0) + nicer, most));
    syscall(SYS_ioprio_set, who_process, 0, class_idle);
    // A kernel with autogroups compares sessions by their groups' values.
    std::ofstream("/proc/self/autogroup") << nicer;
  }

  [[nodiscard]] bool drains_meanwhile(const CoverEntry& cover) const {
    return order_.mode == "close" || order_.mode == "async" || cover.asks_for_keeper();
  }

  // One pass. True: nothing is left to do.
  bool work() {
    const auto begun = Clock::now();
    Pool pool(order_.pool);
    const auto entry = cover_of(pool, order_.directory);
    if (!entry) return leave(pool);
    if (!entry->in_use && finish(pool)) return true;
    bool has_drained = false;
    const bool drains = drains_meanwhile(*entry);
    if (entry->in_use && !entry->all_drained && drains && !is_to_end()) {
      cairn_while_running rule{};
      rule.open_too = 1;
      rule.quiet_ns = static_cast<uint64_t>(std::chrono::nanoseconds(order_.quiet).count());
      gives_way_ = true;
      const auto result = try_to_drain(pool, rule);
      gives_way_ = false;
      note_result(result);
      has_drained = result.code == 0 && result.report.bytes != 0;
    }
    tell_state(pool);
    // A walk over a cover with many names takes long. If it finds nothing to drain, the pause is in
    // proportion, so that walks take a small part of a processor's time.
    constexpr int most_share = 20;
    const Clock::duration pause =
        has_drained ? busy_pause
                    : std::max<Clock::duration>(least_pause, (Clock::now() - begun) * most_share);
    next_ = Clock::now() + std::max<Clock::duration>(pause, backoff_.pause());
    if (drains) make_room(pool);
    return false;
  }

  // Makes room until the next pass is due. Programs that find the pool full wait for this process:
  // it drains closed files, quiet or not, and the programs evict them.
  void make_room(Pool& pool) {
    while (Clock::now() < next_ && !is_to_end()) {
      if (const uint64_t request = cairn_room_promise(pool.get()); request != 0) {
        const auto result = try_to_drain(pool, {});
        if (result.code != 0) note_result(result);
        cairn_room_answer(pool.get(), request);
      }
      std::this_thread::sleep_for(10ms);
    }
    if (is_to_end()) cairn_room_end(pool.get());
  }

  // A run has ended the cover, and could not remove the pool while this process was attached.
  bool leave(Pool& pool) {
    forget_state(pool);
    remove_if_left_over(pool, lock_start(order_.pool));
    return true;
  }

  // No run is left: drains the rest. In mode `never`, drains only files whose own drain mode asks
  // for it.
  bool finish(Pool& pool) {
    PlaceLock alone = lock_cover_now(order_.pool, order_.directory);
    if (!alone.held()) return false;  // a run has begun
    if (order_.mode == "never") {
      cairn_while_running rule{};
      rule.at_end = 1;
      const auto result = try_to_drain(pool, rule);
      note_result(result);
      forget_state(pool);
      return result.code == 0;
    }
    forget_state(pool);
    const FinishResult result =
        finish_cover(pool, order_.directory, false, true, order_.for_others);
    note_result(result.drain);
    if (result.ended == Ended::drained) {
      leave_pool(pool, alone);
      return true;
    }
    return result.ended == Ended::gone;
  }

  // Drains. An exception, as when DIR cannot be opened, becomes a result like other errors.
  Cover::DrainResult try_to_drain(Pool& pool, cairn_while_running rule) {
    try {
      return drain(pool, rule);
    } catch (const Error& error) {
      hear();
      Cover::DrainResult result;
      result.code = -EIO;
      result.error = error.what();
      return result;
    }
  }

  Cover::DrainResult drain(Pool& pool, cairn_while_running rule) {
    began_ = Clock::now();
    heard_ = began_;
    pool_ = &pool;
    const PromiseRenewal renewal(pool, [&] { look_for_silence(pool); });
    Cover cover = Cover::join(pool, order_.directory);
    rule.mode = drain_mode_of(order_.mode);
    const auto result = cover.drain_while_running(&rule, progressed, met_problem, this);
    hear();
    drained_before_ += drained_now_;
    drained_now_ = 0;
    written_now_ = 0;
    return result;
  }

  void note_result(const Cover::DrainResult& result) {
    const std::string first = std::exchange(first_problem_, "");
    if (result.code == -ECANCELED) return;  // the process that stopped it reports
    if (result.code == 0 || result.code == -EAGAIN) {
      backoff_.succeeded();
      problem_.clear();
    } else {
      backoff_.failed();
      problem_ = first.empty() ? result.error : first + "; " + result.error;
    }
    tell_change();
  }

  // Reports in one line when drains begin to fail, and when they succeed again.
  void tell_change() {
    const std::lock_guard lock(telling_);
    if (fails_ == !problem_.empty()) return;
    fails_ = !problem_.empty();
    reports_.say(fails_ ? fmt::format("{} cannot be drained in the background at present, which is "
                                      "tried again: {}",
                                      order_.directory, problem_)
                        : fmt::format("{} is drained in the background again", order_.directory));
  }

  // Says what the drain waits for, as far as that can be seen. A system call that does not end is
  // one of lower's file system, even if the pool is full because of it.
  static std::string reason_for_silence(const Pool& pool) {
    constexpr const char* no_answer = "its file system may not answer";
    if (is_in_system_call(getpid())) return no_answer;
    std::string stopped;
    for (const cairn_lane_info& lane : pool.lanes())
      if (lane.alive != 0 && lane.stopped != 0)
        stopped += fmt::format("{}{} ({})", stopped.empty() ? "" : ", ", lane.pid,
                               printable(lane.command));
    if (!stopped.empty()) return fmt::format("processes that are stopped hold it up: {}", stopped);
    const cairn_pool_info info = pool.info();
    return info.used >= info.usable ? "the pool is full" : no_answer;
  }

  // Called by another thread while the drain is at work.
  void look_for_silence(const Pool& pool) {
    const std::lock_guard lock(telling_);
    if (is_silent_ || Clock::now() - heard_.load() < longest_silence) return;
    is_silent_ = true;
    const std::string text = fmt::format("no byte was drained for {} s; {}",
                                         longest_silence.count(), reason_for_silence(pool));
    reports_.say(fmt::format("{}: in the background {}", order_.directory, text));
    write_state(pool, text);
  }

  void hear() {
    heard_ = Clock::now();
    const std::lock_guard lock(telling_);
    if (!is_silent_) return;
    is_silent_ = false;
    reported_.clear();
    reports_.say(fmt::format("{}: the drain in the background goes on", order_.directory));
  }

  // A cairn_drain_problem. Keeps the first problem, which is reported.
  static void met_problem(void* context, const char* text) {
    auto* const self = static_cast<Keeper*>(context);
    if (self->first_problem_.empty()) self->first_problem_ = text;
  }

  // A cairn_progress. Keeps to the rate, and stops when a run drains by itself.
  static int progressed(void* context, uint64_t done, uint64_t /*total*/) {
    auto* const self = static_cast<Keeper*>(context);
    // A copy that the drain gave up does not count as drained, but it counts for the rate.
    if (done > self->drained_now_) self->written_now_ += done - self->drained_now_;
    self->drained_now_ = done;
    self->hear();
    if (Clock::now() - self->told_at_ > 1s) self->tell_state(*self->pool_);
    if (self->is_to_stop()) return 1;
    if (self->order_.rate == 0) return 0;
    const auto due =
        self->began_ +
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
            static_cast<double>(self->written_now_) / static_cast<double>(self->order_.rate)));
    while (Clock::now() < due && !self->is_to_stop()) {
      self->heard_ = Clock::now();
      std::this_thread::sleep_for(std::min<Clock::duration>(due - Clock::now(), 50ms));
    }
    return self->is_to_stop() ? 1 : 0;
  }

  // Programs whose pool is full need the files that make_room() drains, and would wait for a pass
  // over a large open file. So a request for room ends the pass, if the pass does not serve it
  // soon.
  bool is_to_stop() {
    if (is_to_end()) return true;
    if (!gives_way_ || cairn_room_promise(pool_->get()) == 0) {
      wanted_since_ = {};
      return false;
    }
    if (wanted_since_ == Clock::time_point()) wanted_since_ = Clock::now();
    return Clock::now() - wanted_since_ > patience;
  }

  // Looks ten times a second at most, because a look takes some system calls.
  bool is_to_end() {
    if (ends_ || stop_signal() != 0) return true;
    const auto now = Clock::now();
    if (now - looked_ < 100ms) return false;
    looked_ = now;
    ends_ =
        !PlaceLock(locks_, end_lock_name(order_.directory), PlaceLock::Mode::shared, false).held();
    return ends_;
  }

  // Waits without being attached, so that a run can remove the pool.
  void rest() {
    while (Clock::now() < next_ && !is_to_end() && access(order_.pool.c_str(), F_OK) == 0) {
      std::this_thread::sleep_for(
          std::clamp<Clock::duration>(next_ - Clock::now(), 10ms, least_pause));
    }
  }

  void tell_state(const Pool& pool) {
    const std::lock_guard lock(telling_);
    told_at_ = Clock::now();
    told_bytes_ = drained_before_ + drained_now_;
    write_state(pool, problem_);
  }

  void forget_state(const Pool& pool) {
    const std::lock_guard lock(telling_);
    cairn_removexattr(pool.get(), CAIRN_ROOT, 0, state_name(order_.directory).c_str());
    reported_.clear();
  }

  // Writes the attribute, whose size is bounded, when the state has changed.
  void write_state(const Pool& pool, const std::string& problem) {
    constexpr size_t most = 400;
    const std::string text =
        fmt::format("{}\n{}\n{}", getpid(), told_bytes_, problem.substr(0, most));
    if (text == reported_) return;
    if (cairn_setxattr(pool.get(), CAIRN_ROOT, 0, state_name(order_.directory).c_str(), text.data(),
                       text.size(), 0) == 0)
      reported_ = text;
  }

  const Order order_;
  const std::string locks_;
  Backoff backoff_;
  std::string problem_;
  std::string first_problem_;                            // of the drain under way
  std::atomic<Clock::time_point> heard_ = Clock::now();  // when lower answered last
  std::mutex telling_;                                   // of what follows, up to the blank line
  KeeperReports reports_;
  std::string reported_;     // the attribute as it was written last
  uint64_t told_bytes_ = 0;  // the bytes in it
  bool fails_ = false;       // the last report said that drains fail
  bool is_silent_ = false;

  const Pool* pool_ = nullptr;   // while it drains
  uint64_t drained_before_ = 0;  // bytes that earlier passes have drained
  uint64_t drained_now_ = 0;
  uint64_t written_now_ = 0;  // since began_; never goes back
  Clock::time_point next_;    // when to look at the cover again
  Clock::time_point told_at_;
  Clock::time_point began_;
  Clock::time_point looked_;
  bool gives_way_ = false;          // the drain under way stops if room is wanted
  Clock::time_point wanted_since_;  // since when room is wanted; none: it is not
  bool ends_ = false;               // a run has asked this keeper to end
};

// Called in the process that becomes the keeper.
[[noreturn]] void become_keeper(std::array<std::string, order_words>& words, int reports) {
  dup2(reports, KeeperReports::descriptor);
  if (reports == KeeperReports::descriptor) fcntl(reports, F_SETFD, 0);
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) dup2(nothing, fd);
  close_range(KeeperReports::descriptor + 1, ~0U, 0);
  unsetenv("CAIRN_COVER");                  // so that the run does not wait for the keeper
  if (chdir("/") != 0) _exit(exit_failed);  // so that no file system stays busy
  std::array<char*, order_words + 3> arguments{};
  std::string name = "cairn";
  std::string flag = keeper_flag;
  arguments[0] = name.data();
  arguments[1] = flag.data();
  for (size_t i = 0; i < words.size(); ++i) arguments[i + 2] = words[i].data();
  execv("/proc/self/exe", arguments.data());
  _exit(exit_failed);
}

}  // namespace

int start_keeper(const Config& config, const std::string& pool, const std::string& directory) {
  // A keeper that is ending still holds the lock. So another one is started in any case.
  if (is_kept(lock_directory(pool), directory))
    inform(
        fmt::format("{}: another process drains it in the background already, in the mode of its "
                    "run",
                    directory));
  std::array<std::string, order_words> words = {
      pool,
      directory,
      config.value("drain.mode"),
      config.value("drain.quiet"),
      std::to_string(parse_rate(config.value("drain.rate"))),
      config.value("drain.wait"),
      config.value("drain.yield")};
  int reports[2];
  if (pipe2(reports, O_CLOEXEC) != 0)
    fail("{}: no process can be started to drain it: {}", directory, std::strerror(errno));
  const pid_t between = fork();
  if (between < 0)
    fail("{}: no process can be started to drain it: {}", directory, std::strerror(errno));
  if (between == 0) {
    // Forks twice, so that a launcher which waits for its children does not wait for the keeper.
    setsid();
    const pid_t keeper = fork();
    if (keeper == 0) become_keeper(words, reports[1]);
    _exit(keeper < 0 ? exit_failed : exit_ok);
  }
  close(reports[1]);
  int status = 0;
  while (waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != exit_ok)
    fail("{}: no process can be started to drain it", directory);
  return reports[0];
}

bool is_keeper(int argc, char** argv) {
  return argc == order_words + 2 && std::strcmp(argv[1], keeper_flag) == 0;
}

int run_keeper(int /*argc*/, char** argv) {
  raise_own_size_limit();
  try {
    return Keeper({argv[2], argv[3], argv[4],
                   std::chrono::seconds(std::strtoull(argv[5], nullptr, 10)),
                   std::strtoull(argv[6], nullptr, 10),
                   std::chrono::seconds(std::strtoull(argv[7], nullptr, 10)),
                   std::strcmp(argv[8], "on") == 0})
        .go();
  } catch (const Error&) {
    return exit_failed;  // the directory of the pools is gone
  }
}

std::unique_ptr<PlaceLock> end_keeper(const std::string& pool, const std::string& directory) {
  const std::string locks = lock_directory(pool);
  auto end =
      std::make_unique<PlaceLock>(locks, end_lock_name(directory), PlaceLock::Mode::exclusive);
  const auto until = Clock::now() + 10s;
  while (is_kept(locks, directory) && Clock::now() < until) std::this_thread::sleep_for(5ms);
  return end;
}

std::optional<KeeperState> look_at_keeper(const Pool& pool, const std::string& directory) {
  char value[512];
  const int64_t size =
      cairn_getxattr(pool.get(), CAIRN_ROOT, 0, state_name(directory).c_str(), value, sizeof value);
  if (size <= 0) return std::nullopt;
  // If there is no keeper, an earlier one has written the attribute.
  if (!is_kept(lock_directory(pool.path()), directory)) return std::nullopt;
  std::istringstream text(std::string(value, static_cast<size_t>(size)));
  KeeperState state;
  std::string pid;
  std::string bytes;
  std::getline(text, pid);
  std::getline(text, bytes);
  std::getline(text, state.problem);
  state.pid = process_number(pid);
  state.drained_bytes = std::strtoull(bytes.c_str(), nullptr, 10);
  return state;
}

int stopped_keeper(const Pool& pool, const std::string& directory) {
  const auto keeper = look_at_keeper(pool, directory);
  return keeper && is_stopped(keeper->pid) ? keeper->pid : 0;
}

}  // namespace cairn::cli
