#include "doctor/served_calls.h"

#include <map>

namespace cairn::cli {
namespace {

// Made from the adapter's list of calls, as its wrappers and the table in the documentation are.
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
