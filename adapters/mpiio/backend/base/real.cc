#include "mpiio/backend/base/real.h"

namespace mpiio {

namespace real {
#define PLAIN(name, parameters, arguments) int(*name[kKinds]) parameters;
#define CALL PLAIN
#define SMALL PLAIN
#define LARGE(name, parameters, arguments) int(*name##_c[kKinds]) parameters;
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef SMALL
#undef LARGE
}  // namespace real

}  // namespace mpiio
