// What the loader finds of a covered file or directory: it opens the one that lies below the cover.
#pragma once

#include "posix/path/lookup.h"

namespace posix::below {

// Is the file below the one that the cover shows? The loader checks nothing, so owner and mode have
// to be the same, too: if they were changed in the pool, whoever could write to the file before
// still can below, and may set its times back.
bool is_unchanged(const Found& found, const char* path);

// Would the loader, looking for the library DIR/NAME, find one that the cover does not show?
// `shown` says whether the cover has that name itself. The loader also looks in directories for
// certain processors that are in DIR.
bool has_hidden(const char* path, bool shown);

}  // namespace posix::below
