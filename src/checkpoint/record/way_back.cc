#include "checkpoint/record/way_back.h"

namespace cairn::checkpoint {

std::string see_what_is_whole(const std::string& set) {
  return "`cairn ckpt verify " + set + "` shows which versions are whole";
}

std::string get_copy_back(const std::string& set, const std::string& directory) {
  const std::string from = directory.empty() ? "DIR" : directory;
  return "`cairn ckpt ls --in " + from + "` lists copies; `cairn ckpt rm --force " + set +
         "` and then `cairn ckpt restore " + set + " --from " + from +
         "` get the newest whole one back" +
         (directory.empty() ? " (DIR: where `cairn ckpt drain` copied to)" : "");
}

std::string use_another_pool(const std::string& set) {
  return "to go on, make another pool (`cairn pool create --pool-name NAME`) and set "
         "CAIRN_POOL_NAME=NAME; `cairn ckpt restore " +
         set + " --from DIR` or options.lower brings a copy into it";
}

std::string copy_and_restore(const std::string& set) {
  return "`cairn ckpt drain " + set + " --to DIR`, `cairn ckpt rm --force " + set +
         "` and `cairn ckpt restore " + set + " --from DIR` get its newest version back";
}

std::string get_earlier_line_back(const std::string& set, const std::string& directory) {
  return "`cairn ckpt restore " + set + " --from " + directory +
         " --earlier` gets back the line before, into a pool without versions of the set";
}

}  // namespace cairn::checkpoint
