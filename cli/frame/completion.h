// Shell completion, made from the description of the commands.
#pragma once

#include <string>

#include "frame/description.h"

namespace cairn::cli {

std::string bash_completion(const CommandDescription& root);
std::string zsh_completion(const CommandDescription& root);
std::string fish_completion(const CommandDescription& root);

}  // namespace cairn::cli
