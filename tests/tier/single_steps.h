// Single steps: another thread acts before any chosen instruction of a call. x86-64 only.
#pragma once

#include <functional>

namespace cairn::test {

// Makes `call`, and stops it before its `instruction`th instruction until `event`, which another
// thread runs, is over; an event that waits for the stopped call is not waited for. Returns how
// many instructions the call had by then; false in `*happened`: it ended before that.
unsigned long step_into(unsigned long instruction, const std::function<void()>& call,
                        const std::function<void()>& event, bool* happened);

// Makes `most` calls with an event before another instruction of each: from the first one up to
// where the event does not succeed any more, or the call ends. Each gets the number of the call.
void at_many_steps(unsigned most, const std::function<void(unsigned)>& call,
                   const std::function<bool(unsigned)>& event,
                   const std::function<void(unsigned)>& check);

}  // namespace cairn::test
