// Writes a file of the pool under a temporary name in lower, and publishes it.
#pragma once

#include <functional>

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/publish.h"

namespace cairn::tier {

// The steps of writing a file. write_temp_file() writes it under a temporary name. When that is
// durable, publish_temp_file() gives it its name. Tried::again: the file has changed meanwhile.
// Tried::crowded: no descriptor was free, because other temporary files are open. Tried::staged:
// the pool has the bytes of a lazy file by now.
enum class Tried : uint8_t { done, failed, again, crowded, staged };
Tried write_temp_file(const DrainName& item, TempFile* temp);
Tried publish_temp_file(const DrainName& item, int64_t synced, TempFile* temp);
// Notes in `temp` what the pool says of the file, before it is copied.
void note_before_copy(const DrainName& item, TempFile* temp);
// Removes a temporary file, whose bytes then do not count as drained.
void remove_copy(DrainState& state, int directory, const TempFile& temp);
// Calls once() again, a few times at most, while it returns Tried::again: the file is being
// changed. A drain while programs run calls it once, and leaves such a file to a later drain.
Tried try_again(const DrainName& item, const std::function<Tried()>& once);

}  // namespace cairn::tier
