// The C API as the adapter calls it: no handler of the program's runs inside (signals.h).
//
// In namespace posix each name of the C API is an object that calls the function of the same name.
#pragma once

#include "cairn/adapter/shared.h"
#include "cairn/cairn.h"
#include "cairn/cover.h"
#include "posix/signals.h"

namespace posix {

template <auto function>
struct Guarded;
template <typename Result, typename... Parameters, Result (*function)(Parameters...)>
struct Guarded<function> {
  static Result call(Parameters... arguments) {
    Inside inside;
    return function(arguments...);
  }
  Result operator()(Parameters... arguments) const { return call(arguments...); }
};

#define CAIRN_CALL(name) inline constexpr Guarded<::cairn_##name> cairn_##name;
#include "cairn/api.def"

}  // namespace posix
