// Tells which covered files and directories the loader finds: it opens the ones below the cover.
#pragma once

#include "posix/path/lookup.h"

namespace posix::below {

// Returns true if the file below is the one that the cover shows. The loader checks nothing, so
// owner and mode must be the same, too. If they were changed in the pool, a user who could write to
// the file before still can below, and can set its times back.
bool is_unchanged(const Found& found, const char* path);

// Returns true if the loader, looking for the library DIR/NAME, would find one that the cover does
// not show. `shown`: the cover has that name itself. The loader also looks in directories for
// certain processors in DIR.
bool has_hidden(const char* path, bool shown);

}  // namespace posix::below
