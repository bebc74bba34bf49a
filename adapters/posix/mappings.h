// Mappings of Cairn files, around a fork.
#pragma once

namespace posix {

void hold_mappings();
void release_mappings();

}  // namespace posix
