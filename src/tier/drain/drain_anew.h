// Drains changes of rights by a new file with the bytes of the old one.
#pragma once

#include "tier/drain/write_temp_file.h"
#include "tier/lower/import_lock.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/while_running.h"

namespace cairn::tier {

// A file in lower whose attributes were changed in the pool.
struct LazyFile {
  sys::Descriptor fd;
  sys::FileStat st = {};      // as it was found
  bool is_readable = true;    // `fd` is open for reading
  bool is_opened_up = false;  // its mode refused that, and was changed
  file::Attributes wanted = {};
  Rights rights = {};            // of `wanted`
  file::Attributes of_new = {};  // of a new file in its place
  TempFile temp;                 // that file
};
// How long a drain waits for a process that stages the file. Beside programs that process may wait
// for room, which only the rest of the drain can make.
inline uint64_t import_patience_ns(const DrainState& state) {
  constexpr uint64_t patience_ns = 20'000'000;
  return leaves_busy_files(state) ? patience_ns : ImportLock::forever;
}
// Writes a new file with the bytes of the one in lower and the attributes of the pool, and gives it
// the name. Holds the ImportLock for that last step only. ESTALE: the file has changed meanwhile.
// Other errors were not reported either, and lower is as it was.
Result<Tried> drain_anew(const DrainName& item, LazyFile* old);

}  // namespace cairn::tier
