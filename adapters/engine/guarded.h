// Guarded calls: the C API as adapters call it. While a call runs, no handler of the program runs
// in its thread (deferred_signals.h).
//
// In namespace engine each name of the C API is an object that calls the function of the same name.
// An adapter takes these names into its own namespace with a using-declaration for each.
#pragma once

#include "cairn/adapter/shared.h"
#include "cairn/adapter/transport.h"
#include "cairn/cairn.h"
#include "cairn/checkpoint.h"
#include "cairn/cover.h"
#include "engine/deferred_signals.h"

namespace engine {

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

}  // namespace engine
