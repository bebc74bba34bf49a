// cairn ckpt drain, restore and ls --in: copies of versions in a directory of the parallel file
// system.
#include <cairn/checkpoint.h>
#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "ckpt.h"
#include "ckpt_set.h"
#include "error.h"
#include "units.h"

namespace cairn::cli {
namespace {

constexpr const char* below = "/.cairn-checkpoints";

std::vector<std::string> names_in(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) throw Error(exit_failed, system_error(path, errno));
  std::vector<std::string> names;
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

// What is not a record of a version is told, and left out.
Json read_record(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  Json record = Json::parse(text.str(), nullptr, false);
  const bool is_one = file && record.is_object() &&
                      record.value("version", Json()).is_number_integer() &&
                      record.value("sequence", Json()).is_number_unsigned() &&
                      record.value("bytes", Json()).is_number_unsigned() &&
                      record.value("global_ns", Json()).is_number_unsigned();
  if (!is_one) warn(fmt::format("{}: is not a record of a version", path));
  return is_one ? record : Json();
}

uint32_t parse_keep(const std::string& text) {
  if (text.empty()) return 0;
  if (text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos || text == "0")
    usage_error("invalid number '{}': expected how many versions to keep", text);
  return static_cast<uint32_t>(std::stoul(text));
}

}  // namespace

int ckpt_ls_lower(bool json, const CkptArguments& arguments) {
  const std::string all = arguments.directory + below;
  Table table({"SET", "VERSION", "STEP", "BYTES", "WRITTEN", "HOST"}, {1, 2, 3});
  Json records = Json::array();
  for (const std::string& set : names_in(all)) {
    if (!arguments.set.empty() && set != arguments.set) continue;
    std::vector<std::string> names = names_in(all + "/" + set);
    std::reverse(names.begin(), names.end());  // sequences ascend: the newest first
    for (const std::string& name : names) {
      if (!name.ends_with(".json")) continue;
      Json record = read_record(all + "/" + set + "/" + name);
      if (record.is_null()) continue;
      record["set"] = json_text(set);
      const uint64_t bytes = record["bytes"].get<uint64_t>();
      table.row({printable(set), record["version"].dump(), record.value("step", Json()).dump(),
                 arguments.bytes ? std::to_string(bytes) : format_size(bytes),
                 format_time(static_cast<int64_t>(record["global_ns"].get<uint64_t>())),
                 printable(record.value("host", Json("")).is_string()
                               ? record.value("host", Json("")).get<std::string>()
                               : "")});
      records.push_back(std::move(record));
    }
  }
  if (json)
    print_json(records);
  else
    print(table.text());
  return exit_ok;
}

int ckpt_drain(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  const uint32_t keep = parse_keep(arguments.keep);
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set);
  const int64_t number = parse_version(arguments.number);
  const CkptVersion& version = set.version(number);
  check(cairn_checkpoint_drain(set.get(), number, arguments.directory.c_str(), keep),
        fmt::format("{}: version {}", name.set, version.info.number));
  if (json)
    print_json({{"set", name.set},
                {"version", version.info.number},
                {"to", json_text(arguments.directory)},
                {"bytes", version.info.bytes}});
  else
    print(fmt::format("{}: version {}, {}, is in {}\n", name.set, version.info.number,
                      format_size(version.info.bytes), printable(arguments.directory)));
  return exit_ok;
}

int ckpt_restore(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  const Pool pool = open_pool(config, name.pool);
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  check(cairn_checkpoint_restore(pool.get(), name.set.c_str(), arguments.directory.c_str(), &info),
        name.set);
  if (info.skipped != 0)
    warn(fmt::format("{}: {} newer versions are damaged there: {}", name.set, info.skipped,
                     printable(info.why)));
  if (json)
    print_json({{"set", name.set},
                {"version", info.number},
                {"bytes", info.bytes},
                {"skipped", info.skipped},
                {"why", json_text(info.why)}});
  else
    print(fmt::format("{}: version {}, {}\n", name.set, info.number, format_size(info.bytes)));
  return exit_ok;
}

}  // namespace cairn::cli
