// cairn ckpt verify and rm: read all bytes of versions, and remove versions.
#include "ckpt/ckpt.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

struct Verified {
  int64_t number = 0;
  cairn_checkpoint_verified found{};
  std::string problem;  // "" if all is right
};

Verified verify_one(const CkptSet& set, const CkptVersion& version) {
  Verified verified;
  verified.number = version.info.number;
  verified.found.struct_size = sizeof verified.found;
  const int result = cairn_checkpoint_verify(set.get(), version.info.number, &verified.found);
  if (result != 0) verified.problem = library_error(result);
  return verified;
}

}  // namespace

int ckpt_verify(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set);
  const bool is_one = !arguments.words.empty();
  std::vector<const CkptVersion*> wanted;
  if (is_one) {
    wanted.push_back(&set.version(parse_version(arguments.words[0])));
  } else {
    for (const CkptVersion& version : set.versions()) wanted.push_back(&version);
  }
  const StopOnSignal stop;
  Progress progress(name.set, 1);
  uint64_t total = 0;
  uint64_t done = 0;
  for (const CkptVersion* version : wanted) total += version->info.bytes;
  Json all = Json::array();
  std::vector<std::string> problems = is_one ? std::vector<std::string>() : set.damaged();
  std::string text;
  for (const CkptVersion* version : wanted) {
    progress.show(done, total);
    if (stop_signal() != 0) return exit_signal + stop_signal();
    const Verified verified = verify_one(set, *version);
    done += version->info.bytes;
    all.push_back({{"version", verified.number},
                   {"ok", verified.problem.empty()},
                   {"bytes", verified.found.bytes},
                   {"blocks", verified.found.blocks},
                   {"bad_blocks", verified.found.bad_blocks},
                   {"problem", json_text(verified.problem)}});
    if (verified.problem.empty())
      text += fmt::format("version {}: {} in {} blocks are right\n", verified.number,
                          format_size(verified.found.bytes), verified.found.blocks);
    else
      problems.push_back(fmt::format("version {}: {} of {} blocks are wrong: {}", verified.number,
                                     verified.found.bad_blocks, verified.found.blocks,
                                     verified.problem));
  }
  progress.hide();
  if (json) {
    Json damaged = Json::array();
    for (const std::string& one : set.damaged()) damaged.push_back(json_text(one));
    print_json({{"set", name.set},
                {"ok", problems.empty()},
                {"versions", std::move(all)},
                {"damaged", is_one ? Json::array() : std::move(damaged)}});
    return problems.empty() ? exit_ok : exit_failed;
  }
  print_lines(text);
  for (const std::string& problem : problems)
    tell("cairn ckpt verify: {}: {}\n", name.set, problem);
  return problems.empty() ? exit_ok : exit_failed;
}

int ckpt_rm(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  if (arguments.damaged && !arguments.words.empty())
    usage_error("--damaged and a VERSION exclude each other");
  std::vector<int64_t> numbers;
  for (const std::string& word : arguments.words) {
    if (word == "latest") usage_error("name the versions to remove by their numbers");
    numbers.push_back(parse_version(word));
  }
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set);
  const uint32_t force = arguments.force ? CAIRN_DROP_LAST : 0;
  const auto drop = [&](int64_t number, uint32_t flags, const std::string& what) {
    const int result = cairn_checkpoint_drop(set.get(), number, flags);
    if (result == 0) return;
    const char* const hint = result == -EPERM ? " (--force)" : "";
    fail("{}: {}{}", what, library_error(result), hint);
  };
  for (const int64_t number : numbers)
    drop(number, force, fmt::format("{}: version {}", name.set, number));
  if (arguments.damaged) {
    drop(0, CAIRN_DROP_DAMAGED, name.set);
    if (set.damaged().empty())
      tell("cairn ckpt rm: {}: no record is damaged; name a version to remove it\n", name.set);
  } else if (numbers.empty()) {
    drop(0, CAIRN_DROP_SET | force, name.set);
  }
  if (json) {
    Json removed = Json::array();
    for (const int64_t number : numbers) removed.push_back(number);
    print_json({{"set", name.set},
                {"removed", std::move(removed)},
                {"removed_set", numbers.empty() && !arguments.damaged}});
  }
  return exit_ok;
}

}  // namespace cairn::cli
