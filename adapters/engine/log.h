// Writes messages of adapters to the program's stderr, one line each, prefixed "cairn: ". CAIRN_LOG
// (or CAIRN_LOG_LEVEL): error, warning (the default), info, debug.
#pragma once

namespace engine {

enum class Level { kError, kWarning, kInfo, kDebug };

void log(Level level, const char* text, const char* detail = "", const char* more = "");

// Logs an error that may repeat, a few times at most.
void log_few(const char* text, const char* detail);

}  // namespace engine
