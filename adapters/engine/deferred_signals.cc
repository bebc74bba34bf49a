#include "engine/deferred_signals.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

namespace engine {

__thread volatile int Inside::depth;
__thread volatile bool Inside::held;

using SignalHandler = void (*)(int);

// The kernel's set of signals; glibc's is longer than the set in a signal frame.
using Mask = uint64_t;
static constexpr Mask bit(int number) { return Mask{1} << (number - 1); }
constexpr Mask kFaults =
    bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS);

static Mask mask_of(const sigset_t& set) {
  Mask mask;
  memcpy(&mask, &set, sizeof mask);
  return mask;
}

static void set_mask(Mask mask) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
}

// The signal that this thread keeps, and the mask that it interrupted.
struct Held {
  int number;
  siginfo_t info;
  Mask mask;
};
static __thread Held kept;

// A handler that the program installed. It may be read while it is being replaced: each part is
// then old or new, as for a signal at that moment.
struct Handler {
  std::atomic<void (*)(int, siginfo_t*, void*)> function;
  std::atomic<int> flags;
  std::atomic<Mask> mask;
};
static Handler handlers[NSIG];

// Null: SIGBUS does not go to it first.
static std::atomic<bool (*)(const void*)> bus_error_reached;
static bool stays_ours(int number) { return number == SIGBUS && bus_error_reached != nullptr; }

static void keep(int number, const struct sigaction& action) {
  handlers[number].function = action.sa_sigaction;
  handlers[number].flags = action.sa_flags;
  handlers[number].mask = mask_of(action.sa_mask);
}

static bool is_a_function(void (*function)(int, siginfo_t*, void*)) {
  return reinterpret_cast<SignalHandler>(reinterpret_cast<void*>(function)) != SIG_DFL &&
         reinterpret_cast<SignalHandler>(reinterpret_cast<void*>(function)) != SIG_IGN;
}

static Mask* interrupted_mask(void* context) {
  return reinterpret_cast<Mask*>(&static_cast<ucontext_t*>(context)->uc_sigmask);
}

static void set_default(int number) {
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(number, &plain, nullptr);
}

// Does what the kernel does for SA_RESETHAND: removes the handler, and leaves its flags and mask to
// be read.
static void take_handler(int number, int flags, Mask mask) {
  struct sigaction left = {};
  left.sa_handler = SIG_DFL;
  left.sa_flags = flags;
  memcpy(&left.sa_mask, &mask, sizeof mask);
  ::sigaction(number, &left, nullptr);
}

// Applies the program's own action to a signal that the engine handles for mappings only, and that
// does not concern a mapping. The kernel raises a fault again when the handler returns.
static void end_by(int number, siginfo_t* info, void (*function)(int, siginfo_t*, void*)) {
  bool fault = info->si_code > 0;
  if (!fault && function != nullptr) return;  // ignored
  set_default(number);
  if (!fault) syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info);
}

// The frame from which the running handler was called; null: none is running.
static __thread const char* volatile handler_frame;

static void run(int number, siginfo_t* info, void* context) {
  Handler& handler = handlers[number];
  auto function = handler.function.load();
  int flags = handler.flags.load();
  if (!is_a_function(function)) return end_by(number, info, function);
  // All signals are blocked here; the program asked for this mask.
  Mask mask = *interrupted_mask(context) | handler.mask.load();
  if ((flags & SA_NODEFER) == 0) mask |= bit(number);
  if ((static_cast<unsigned>(flags) & SA_RESETHAND) != 0) {
    if (stays_ours(number)) {
      handler.function = nullptr;
    } else {
      take_handler(number, flags, handler.mask.load());
    }
  }
  set_mask(mask);
  const char* outer = handler_frame;
  handler_frame = static_cast<const char*>(__builtin_frame_address(0));
  if ((flags & SA_SIGINFO) != 0) {
    function(number, info, context);
  } else {
    reinterpret_cast<SignalHandler>(reinterpret_cast<void*>(function))(number);
  }
  handler_frame = outer;
}

// A handler that was left by a jump may still be noted here. A call from further up the stack is
// not the handler's.
bool is_in_handler() {
  const char* frame = handler_frame;
  return frame != nullptr && static_cast<const char*>(__builtin_frame_address(0)) < frame;
}

static void arrive(int number, siginfo_t* info, void* context) {
  int depth = Inside::depth;
  bool fault = (kFaults & bit(number)) != 0 && info->si_code > 0;
  if (depth == 0) {
    int error = errno;
    auto reached = fault && number == SIGBUS ? bus_error_reached.load() : nullptr;
    bool grown = reached != nullptr && reached(info->si_addr);
    errno = error;
    if (grown) return;
    return run(number, info, context);
  }
  if (fault) {
    // The handler may leave by a jump: then the thread is no longer inside.
    Inside::depth = 0;
    run(number, info, context);
    Inside::depth = depth;
    return;
  }
  Mask* mask = interrupted_mask(context);
  kept.number = number;
  kept.info = *info;
  kept.mask = *mask;
  *mask = ~kFaults;  // takes effect at return: no second signal arrives
  Inside::held = true;
}

void Inside::deliver() {
  int before = errno;
  Held now = kept;
  held = false;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), now.number, &now.info);
  set_mask(now.mask);
  errno = before;
}

void Inside::leave_in_child() {
  depth = depth - 1;
  if (!held) return;
  held = false;
  set_mask(kept.mask);
}

// Returns the action with our function before the program's.
static struct sigaction behind_us(struct sigaction action) {
  action.sa_sigaction = arrive;
  action.sa_flags = static_cast<int>((static_cast<unsigned>(action.sa_flags) | SA_SIGINFO) &
                                     ~(SA_NODEFER | SA_RESETHAND));
  sigfillset(&action.sa_mask);
  return action;
}

static bool is_behind_us(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == arrive;
}

void catch_bus_errors(bool (*reached)(const void*)) {
  struct sigaction now;
  if (::sigaction(SIGBUS, nullptr, &now) != 0) return;
  bus_error_reached = reached;
  if (is_behind_us(now)) return;
  keep(SIGBUS, now);
  now = behind_us(now);
  ::sigaction(SIGBUS, &now, nullptr);
}

int set_handler(int number, const struct sigaction* action, struct sigaction* old) {
  if (number < 1 || number >= NSIG) return ::sigaction(number, action, old);
  Handler& handler = handlers[number];
  struct sigaction before;
  before.sa_sigaction = handler.function.load();
  before.sa_flags = handler.flags.load();
  sigemptyset(&before.sa_mask);
  Mask mask = handler.mask.load();
  memcpy(&before.sa_mask, &mask, sizeof mask);

  struct sigaction ours;
  const struct sigaction* asked = action;
  if (action != nullptr && (is_a_function(action->sa_sigaction) || stays_ours(number))) {
    // The old action stays in force until the kernel knows ours.
    keep(number, *action);
    ours = behind_us(*action);
    asked = &ours;
  }
  struct sigaction in_force;
  if (::sigaction(number, asked, &in_force) != 0) return -1;
  if (old != nullptr) *old = is_behind_us(in_force) ? before : in_force;
  return 0;
}

}  // namespace engine
