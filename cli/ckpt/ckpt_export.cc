// cairn ckpt export: writes a version as one file that is HDF5 and netCDF-4.
#include <cairn/checkpoint.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "ckpt/ckpt.h"
#include "ckpt/export_content.h"
#include "ckpt/parts_export.h"
#include "ckpt/whole_export.h"
#include "machine/temp_file.h"
#include "netcdf/netcdf_form.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

using Seconds = std::chrono::seconds;
using State = PartsExport::State;

struct Target {
  std::string set;
  const CkptVersion& version;
  std::string path;
  bool json = false;
};

Seconds parse_wait(const std::string& text) {
  uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
    usage_error("invalid time '{}': expected whole seconds", text);
  return Seconds(seconds);
}

// Warns of files that a cancelled export has left. Those of an export that is under way look the
// same.
void warn_of_leftovers(const std::string& path) {
  for (const std::string& one : ExportRendezvous::list(path))
    warn(
        fmt::format("{}: is of an export by parts that is not complete; remove it if it is not to "
                    "be completed",
                    one));
}

std::string beside_of(const Target& target, const ExportContent& content) {
  return content.has_beside() ? target.path + beside_suffix : "";
}

// `content`: null as long as it is unknown.
Json report_json(const Target& target, const ExportContent* content, bool is_complete) {
  const std::string beside = content == nullptr ? "" : beside_of(target, *content);
  return {{"set", target.set},
          {"version", target.version.info.number},
          {"file", json_text(target.path)},
          {"beside", beside.empty() ? Json() : Json(json_text(beside))},
          {"variables", content == nullptr ? Json() : Json(content->variables().size())},
          {"bytes", content == nullptr ? Json() : Json(content->bytes())},
          {"complete", is_complete}};
}

void print_complete(const Target& target, const ExportContent& content) {
  print("{}: version {} of {}, {} variable{}, {}\n", target.path, target.version.info.number,
        target.set, content.variables().size(), content.variables().size() == 1 ? "" : "s",
        format_size(content.bytes()));
  if (const std::string beside = beside_of(target, content); !beside.empty())
    print("{}: variables of types that netCDF does not have\n", beside);
}

// "a, b and 3 more"
std::string hosts_text(const std::vector<std::string>& hosts) {
  constexpr size_t most = 4;
  std::string text;
  for (size_t i = 0; i < std::min(hosts.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + printable(hosts[i]);
  if (hosts.size() > most) text += fmt::format(" and {} more", hosts.size() - most);
  return text;
}

std::string missing_text(const Target& target, const PartsExport& work, State state) {
  const size_t count = work.missing().size();
  const std::string begin = fmt::format("{}: version {} of {}: ", printable(target.path),
                                        target.version.info.number, target.set);
  if (state == State::waits_for_counts)
    return begin + fmt::format(
                       "{} of other hosts {} not said yet how many elements {} has ({}); "
                       "run the command on all of them, with --wait or twice\n",
                       count, count == 1 ? "part has" : "parts have", count == 1 ? "it" : "each",
                       hosts_text(work.missing()));
  return begin +
         fmt::format(
             "{} still missing ({}), and until then there is no file of this name{}\n",
             count == 1 ? "1 part is" : fmt::format("{} parts are", count),
             hosts_text(work.missing()),
             work.has_copies_of_missing() ? "; this pool has copies, which --copies writes" : "");
}

// A process that waited for the others has failed if they did not come.
int report(const Target& target, const PartsExport& work, State state, bool has_waited) {
  const bool is_complete = state == State::completed || state == State::completed_by_another;
  if (target.json) {
    const ExportContent* const content =
        state == State::waits_for_counts ? nullptr : &work.content();
    Json all = report_json(target, content, is_complete);
    all["completed_here"] = state == State::completed;
    all["missing_parts"] = is_complete ? 0 : work.missing().size();
    all["missing_hosts"] = Json::array();
    if (!is_complete)
      for (const std::string& host : work.missing())
        all["missing_hosts"].push_back(json_text(host));
    print_json(all);
  } else if (state == State::completed) {
    print_complete(target, work.content());
  } else if (is_complete) {
    print("{}: is complete; another host wrote the last part\n", target.path);
  } else {
    print_lines(missing_text(target, work, state));
  }
  return is_complete || !has_waited ? exit_ok : exit_failed;
}

// Sleeps a little, and longer each time. False: the time is over, or a signal came.
bool wait_a_little(std::chrono::steady_clock::time_point end, std::chrono::milliseconds* pause) {
  constexpr std::chrono::milliseconds longest{1000};
  const auto now = std::chrono::steady_clock::now();
  if (now >= end || stop_signal() != 0) return false;
  std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(*pause, end - now));
  *pause = std::min(2 * *pause, longest);
  return true;
}

int export_parts(const CkptSet& set, const Target& target, std::vector<CkptPart> parts,
                 const CkptArguments& arguments) {
  const auto patience = parse_wait(arguments.wait);
  const auto end = std::chrono::steady_clock::now() + patience;
  std::chrono::milliseconds pause{20};
  PartsExport work(set, target.version, std::move(parts), target.path, arguments.force,
                   arguments.with_copies);
  State state = work.step();
  while ((state == State::waits_for_counts || state == State::waits_for_parts) &&
         wait_a_little(end, &pause))
    state = work.step();
  if (state == State::interrupted || stop_signal() != 0) return exit_signal + stop_signal();
  const int code = report(target, work, state, patience.count() > 0);
  if (state == State::completed) warn_of_leftovers(target.path);
  return code;
}

int export_whole(const CkptSet& set, const Target& target, bool may_replace) {
  const int64_t number = target.version.info.number;
  const ExportContent content(set, target.version, counts_of(set, number));
  if (!WholeExport(set, content, number, target.path, may_replace).run())
    return exit_signal + stop_signal();
  if (target.json)
    print_json(report_json(target, &content, true));
  else
    print_complete(target, content);
  warn_of_leftovers(target.path);
  return exit_ok;
}

}  // namespace

int ckpt_export(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  // If there is one argument after SET, it is the file.
  const bool has_version = !arguments.file.empty();
  if (!has_version && arguments.number.empty()) usage_error("missing FILE: the file to create");
  const int64_t number = parse_version(has_version ? arguments.number : "");
  const std::string& path = has_version ? arguments.file : arguments.number;
  if (!has_version && path.find_first_not_of("0123456789") == std::string::npos)
    usage_error("missing FILE after VERSION {0}; for a file of this name write ./{0}", path);
  if (path.empty() || path.ends_with("/")) usage_error("'{}': expected the name of a file", path);
  parse_wait(arguments.wait);
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set);
  const StopOnSignal stop;
  const Target target{name.set, set.version(number), path, json};
  check_may_create(path, arguments.force);
  std::vector<CkptPart> parts = set.parts(target.version.info.number);
  const bool is_whole = std::none_of(parts.begin(), parts.end(), [](const CkptPart& one) {
    return one.presence == CAIRN_PART_MISSING;
  });
  return is_whole ? export_whole(set, target, arguments.force)
                  : export_parts(set, target, std::move(parts), arguments);
}

}  // namespace cairn::cli
