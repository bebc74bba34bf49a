// Drains further names of a file as links to the first.
#pragma once

#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"

namespace cairn::tier {

// True: lower has the name as a link to the file's first name, or an error was reported.
bool drain_link(const DrainName& item);
void note_linked(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                 const file::Map& map, const file::Witness& witness, const CopiedFrom& copied);
void finish_links(DrainState& state);

}  // namespace cairn::tier
