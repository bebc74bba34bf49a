#include "persist/copy/streaming.h"

namespace cairn::persist {

constinit thread_local detail::StreamRun detail::stream_run{};

}  // namespace cairn::persist
