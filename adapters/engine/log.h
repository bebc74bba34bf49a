// What adapters have to say goes to the program's stderr, one line each, prefixed "cairn: ".
// CAIRN_LOG (or CAIRN_LOG_LEVEL): error, warning (the default), info, debug.
#pragma once

namespace engine {

enum class Level { kError, kWarning, kInfo, kDebug };

void log(Level level, const char* text, const char* detail = "", const char* more = "");

// An error that may come over and over: it is told a few times.
void log_few(const char* text, const char* detail);

}  // namespace engine
