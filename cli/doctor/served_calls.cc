#include "doctor/served_calls.h"

#include <map>

namespace cairn::cli {
namespace {

// The adapter's list is the only one: from it come its wrappers, the table in the documentation,
// and this.
const std::map<std::string, Service>& calls() {
#define SERVED(result, name, ...) {#name, Service::served},
#define ALIAS(result, name, ...) {#name, Service::served},
#define VARIADIC(result, name) {#name, Service::served},
#define REFUSED(result, name, ...) {#name, Service::refused},
#define FORWARDED(name) {#name, Service::forwarded},
  static const std::map<std::string, Service> all = {
#include "posix/calls.def"
  };
#undef SERVED
#undef ALIAS
#undef VARIADIC
#undef REFUSED
#undef FORWARDED
  return all;
}

}  // namespace

Service service_of(const std::string& call) {
  const auto found = calls().find(call);
  return found == calls().end() ? Service::unrelated : found->second;
}

}  // namespace cairn::cli
