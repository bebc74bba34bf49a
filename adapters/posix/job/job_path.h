// Where a path leads in the covered directory, and what is in that directory itself: for files
// whose names other nodes see too.
#pragma once

#include "engine/paths.h"
#include "posix/path/lookup.h"

namespace posix::job_path {

using engine::Place;

// As engine/paths.h has them.
const char* directory();
int of(const char* path, Place* place);
bool is_below(const char* relative);
// Not the same as !is_below(): an error is no answer.
bool is_missing_below(const char* relative);
// The cover of the directory that other nodes see too.
Cover* cover();
// Where the name that was found leads, as Place::relative (PATH_MAX). 0 or a negative errno.
int relative_of(const Found& found, char* relative);

}  // namespace posix::job_path
