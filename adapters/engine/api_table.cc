#include "engine/api_table.h"

#include "engine/attach.h"
#include "engine/deferred_signals.h"
#include "engine/guarded.h"

namespace engine {

// The table is filled in when a module asks: as a constant it would cost every program a relocation
// for each entry. `volatile` keeps the compiler from making it a constant.
template <typename Function>
static void enter(Function* entry, Function function) {
  *const_cast<Function volatile*>(entry) = function;
}

static ApiTable filled_in() {
  ApiTable table;
  table.size = sizeof table;
  table.release = CAIRN_VERSION;
#define CAIRN_CALL(name) enter(&table.name, &Guarded<::cairn_##name>::call);
#include "cairn/api.def"
  table.attach = [] { return engine::attach() == 0 ? pool : nullptr; };
  table.log = [](Level level, const char* text) { engine::log(level, text); };
  table.is_in_handler = engine::is_in_handler;
  return table;
}

const ApiTable& api_table() {
  static const ApiTable table = filled_in();
  return table;
}

}  // namespace engine
