// What the adapter has to say goes to the program's stderr, one line each, prefixed "cairn: ".
// CAIRN_LOG (or CAIRN_LOG_LEVEL): error, warning (the default), info, debug.
#pragma once

namespace posix {

enum class Level { kError, kWarning, kInfo, kDebug };

void log(Level level, const char* text, const char* detail = "", const char* more = "");

// An error that may come over and over: it is told a few times.
void log_few(const char* text, const char* detail);

// A call that we do not serve on a covered file: one line per name, sets errno, returns -1.
int refuse(const char* call, const char* path, int error);

// Sets errno from a negative result of the C API; -1.
int fail(long negative_errno);
// The same for a result that may be a count.
inline long result(long value) { return value < 0 ? fail(value) : value; }

}  // namespace posix
