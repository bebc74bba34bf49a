// cairn ckpt drain, restore and ls --in: copies of versions in a directory of the parallel file
// system.
#include <cairn/checkpoint.h>

#include <algorithm>
#include <optional>

#include "ckpt/ckpt.h"
#include "machine/file_name.h"
#include "machine/named_path.h"
#include "machine/own_directory.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// A record is a few lines.
constexpr uint64_t most_of_record = 64ULL << 10;

// Reads the record of a version. Reports a file that is not a record, and leaves it out.
Json read_record(const OwnDirectory& set, const std::string& name) {
  std::string text;
  const bool is_read = set.read(name, most_of_record, &text);
  Json record = Json::parse(text, nullptr, false);
  const bool is_one = is_read && record.is_object() &&
                      record.value("version", Json()).is_number_integer() &&
                      record.value("sequence", Json()).is_number_unsigned() &&
                      record.value("bytes", Json()).is_number_unsigned() &&
                      record.value("global_ns", Json()).is_number_unsigned();
  if (!is_one) warn(fmt::format("{}/{}: is not a record of a version", set.path(), name));
  return is_one ? record : Json();
}

// The host of the first part, and how many others there are.
std::string hosts_of(const Json& record) {
  const Json host = record.value("host", Json(""));
  std::string text = printable(host.is_string() ? host.get<std::string>() : "");
  const Json parts = record.value("parts", Json(1));
  if (parts.is_number_unsigned() && parts.get<uint64_t>() > 1)
    text += fmt::format(" and {} more", parts.get<uint64_t>() - 1);
  return text;
}

// A set that cannot be trusted is told, and left out; or an error, if it is the one asked for.
std::optional<OwnDirectory> enter(const OwnDirectory& all, const std::string& set, bool may_miss) {
  try {
    return all.enter(set);
  } catch (const Error& error) {
    if (!may_miss) throw;
    warn(error.what());
    return std::nullopt;
  }
}

uint32_t parse_keep(const std::string& text) {
  if (text.empty()) return 0;
  if (text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos || text == "0")
    usage_error("invalid number '{}': expected how many versions to keep", text);
  return static_cast<uint32_t>(std::stoul(text));
}

}  // namespace

int ckpt_ls_lower(bool json, const CkptArguments& arguments) {
  const OwnDirectory all = OwnDirectory::open_below(open_directory(named_path(arguments.directory)),
                                                    ".cairn-checkpoints");
  Table table({"SET", "VERSION", "STEP", "BYTES", "WRITTEN", "HOST"}, {1, 2, 3});
  Json records = Json::array();
  for (const std::string& set : all.names()) {
    if (!arguments.set.empty() && set != arguments.set) continue;
    const auto there = enter(all, set, arguments.set.empty());
    if (!there) continue;
    std::vector<std::string> names = there->names();
    std::reverse(names.begin(), names.end());  // sequences ascend: the newest first
    for (const std::string& name : names) {
      if (!name.ends_with(".json")) continue;
      Json record = read_record(*there, name);
      if (record.is_null()) continue;
      record["set"] = json_text(set);
      const uint64_t bytes = record["bytes"].get<uint64_t>();
      table.row({printable(set), json_line(record["version"]),
                 json_line(record.value("step", Json())),
                 arguments.bytes ? std::to_string(bytes) : format_size(bytes),
                 format_time(static_cast<int64_t>(record["global_ns"].get<uint64_t>())),
                 hosts_of(record)});
      records.push_back(std::move(record));
    }
  }
  if (json)
    print_json(records);
  else
    print_lines(table.text());
  return exit_ok;
}

int ckpt_drain(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  const uint32_t keep = parse_keep(arguments.keep);
  const std::string directory = named_path(arguments.directory);
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set, arguments.drops_copies ? CAIRN_CHECKPOINT_DROP_COPIES : 0);
  const int64_t number = parse_version(arguments.number);
  const CkptVersion& version = set.version(number);
  const int missing = cairn_checkpoint_drain(set.get(), number, directory.c_str(), keep);
  check(missing, fmt::format("{}: version {}", name.set, version.info.number));
  if (json)
    print_json({{"set", name.set},
                {"version", version.info.number},
                {"to", json_text(arguments.directory)},
                {"bytes", version.info.bytes},
                {"missing_parts", missing}});
  else if (missing != 0)
    print(
        "{}: version {}: the part of this host is in {}; {} of other hosts {} missing "
        "there, and until then the copy does not count\n",
        name.set, version.info.number, arguments.directory, missing, missing == 1 ? "is" : "are");
  else
    print("{}: version {}, {}, is in {}\n", name.set, version.info.number,
          format_size(version.info.bytes), arguments.directory);
  return exit_ok;
}

int ckpt_restore(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  const std::string directory = named_path(arguments.directory);
  const Pool pool = open_pool(config, name.pool);
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  const auto restore =
      arguments.is_earlier ? cairn_checkpoint_restore_earlier : cairn_checkpoint_restore;
  check(restore(pool.get(), name.set.c_str(), directory.c_str(), &info), name.set);
  if (info.skipped != 0)
    warn(fmt::format("{}: {} newer versions are damaged there: {}", name.set, info.skipped,
                     info.why));
  if (json)
    print_json({{"set", name.set},
                {"version", info.number},
                {"bytes", info.bytes},
                {"skipped", info.skipped},
                {"why", json_text(info.why)}});
  else
    print("{}: version {}, {}\n", name.set, info.number, format_size(info.bytes));
  return exit_ok;
}

}  // namespace cairn::cli
