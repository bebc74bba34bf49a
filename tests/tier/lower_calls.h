// The calls that tier/ makes on lower, seen and answered by a test: they go through syscall(2),
// which the tests' binary defines in the place of the C library's.
#pragma once

#include <functional>

namespace cairn::test {

struct LowerCall {
  long number = 0;
  const long* arguments = nullptr;
};

// Called before each; an errno makes the call fail with it, 0 lets it happen. Null: nobody looks.
using LowerHook = std::function<int(const LowerCall&)>;
void set_lower_hook(LowerHook hook);

// What the first argument of a call names, if it is a descriptor.
bool is_directory(long descriptor);
// Does the path of the descriptor hold `part`?
bool names(long descriptor, const char* part);

}  // namespace cairn::test
