// Takes the guarded C API, the attachment and the log of the engine into namespace posix.
#pragma once

#include "engine/allocator.h"
#include "engine/attach.h"
#include "engine/deferred_signals.h"
#include "engine/guarded.h"
#include "engine/log.h"

namespace posix {

#define CAIRN_CALL(name) using engine::cairn_##name;
#include "cairn/api.def"

using engine::Cover;
using engine::Inside;
using engine::join;
using engine::kEnded;
using engine::Level;
using engine::log;
using engine::log_few;
using engine::pool;
using engine::pool_path;
namespace memory = engine::memory;

}  // namespace posix
