#include "tier/single_steps.h"

#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

namespace cairn::test {
namespace {

#if defined(__x86_64__)

constexpr greg_t trap_flag = 0x100;

struct State {
  std::atomic<unsigned long> seen{0};
  unsigned long stop = 0;
  std::atomic<bool> reached{false};
  std::atomic<bool> over{false};
};
State* state = nullptr;

void on_step(int /*signal*/, siginfo_t* /*info*/, void* context) {
  auto& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  if (++state->seen < state->stop) return;
  flags &= ~trap_flag;
  state->reached = true;
  // Not for ever: the event may need what the stopped call holds.
  for (int i = 0; i < 3000 && !state->over; ++i) usleep(100);
}

void set_trap_flag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "orq $0x100, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}
void clear_trap_flag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "andq $~0x100, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

#endif

}  // namespace

#if defined(__x86_64__)

unsigned long step_into(unsigned long instruction, const std::function<void()>& call,
                        const std::function<void()>& event, bool* happened) {
  State now;
  now.stop = instruction;
  state = &now;
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  std::atomic<bool> abandoned{false};
  std::thread other([&] {
    while (!now.reached && !abandoned) usleep(200);
    if (now.reached) event();
    now.over = true;
  });
  set_trap_flag();
  call();
  clear_trap_flag();
  abandoned = true;
  *happened = now.reached;
  other.join();
  sigaction(SIGTRAP, &before, nullptr);
  state = nullptr;
  return now.seen;
}

#else

unsigned long step_into(unsigned long /*instruction*/, const std::function<void()>& call,
                        const std::function<void()>& /*event*/, bool* happened) {
  call();
  *happened = false;
  return 0;
}

#endif

void at_many_steps(unsigned most, const std::function<void(unsigned)>& call,
                   const std::function<bool(unsigned)>& event,
                   const std::function<void(unsigned)>& check) {
  unsigned number = 0;
  const auto try_at = [&](unsigned long at) {
    bool happened = false;
    bool succeeded = false;
    step_into(
        at, [&] { call(number); }, [&] { succeeded = event(number); }, &happened);
    check(number++);
    return happened && succeeded;
  };
  unsigned long end = 64;
  while (number < most / 3 && try_at(end)) end *= 2;
  unsigned long last = end / 2;
  while (number < most / 2 && end - last > 3) {
    const unsigned long middle = last + (end - last) / 2;
    (try_at(middle) ? last : end) = middle;
  }
  // Densely where it succeeds for the last time: after the call's first looks.
  for (unsigned long at = last; at > 3 && number < most * 3 / 4; at -= 3) try_at(at);
  const unsigned long stride = std::max(1UL, end / (most - number));
  for (unsigned long at = 1; number < most; at += stride) try_at(at);
}

}  // namespace cairn::test
