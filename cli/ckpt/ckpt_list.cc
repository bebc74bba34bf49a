// cairn ckpt ls, show and du: show checkpoint sets.
#include <algorithm>
#include <cstring>
#include <map>

#include "ckpt/ckpt.h"
#include "pools/pool_path.h"
#include "pools/pool_tree.h"
#include "sets/ckpt_set.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

constexpr const char* place = "/.checkpoints";

std::string size_text(uint64_t size, bool bytes) {
  return bytes ? std::to_string(size) : format_size(size);
}

std::string time_text(uint64_t time_ns) {
  return time_ns == 0 ? "-" : format_time(static_cast<int64_t>(time_ns));
}

Json time_json(uint64_t time_ns) {
  return time_ns == 0 ? Json() : Json(static_cast<double>(time_ns) / 1e9);
}

struct SetEntry {
  std::string name, command, why;
  uint64_t user = 0;
};

std::vector<SetEntry> list_sets(const Pool& pool) {
  std::vector<SetEntry> sets;
  const auto visit = [](void* context, const cairn_checkpoint_set* set) {
    static_cast<std::vector<SetEntry>*>(context)->push_back(
        {set->name, set->command, set->why, set->user});
    return 0;
  };
  check(cairn_checkpoint_sets(pool.get(), visit, &sets), pool.path());
  return sets;
}

// Bytes that a set takes in its pool; a file with holes takes less than its size.
uint64_t taken_by(const Pool& pool, const std::string& set) {
  const std::string path = join(place, set);
  cairn_stat st{};
  if (try_stat(pool, path, false, &st) != 0) return 0;
  PoolTree tree(pool, "ckpt", st.ino);
  uint64_t bytes = 0;
  for (const Entry& entry : tree.read(st.ino, path)) bytes += entry.st.blocks * 512;
  return bytes;
}

std::string state_text(const CkptVersion& version, bool is_latest) {
  if (version.info.is_abandoned != 0) return "abandoned";
  std::string text = is_latest ? "latest" : "";
  if (version.info.attempts != 0)
    text += fmt::format("{}{} restarts died", text.empty() ? "" : ", ", version.info.attempts);
  if (version.info.level == CAIRN_LEVEL_PARTNER)
    text += fmt::format("{}has copies", text.empty() ? "" : ", ");
  return text;
}

Json version_json(const CkptVersion& version, bool is_latest) {
  const cairn_checkpoint_info& info = version.info;
  return {{"version", info.number},
          {"step", info.step},
          {"sequence", info.sequence},
          {"parent", info.parent},
          {"latest", is_latest},
          {"abandoned", info.is_abandoned != 0},
          {"bytes", info.bytes},
          {"ranks", info.ranks},
          {"begun", time_json(info.begun_ns)},
          {"verified", time_json(info.verified_ns)},
          {"attempts", info.attempts},
          {"survives_power", (info.survives & CAIRN_SURVIVES_POWER) != 0},
          {"survives_node", (info.survives & CAIRN_SURVIVES_NODE) != 0},
          {"copies", info.copies},
          {"code_version", json_text(info.code_version)},
          {"run", info.run},
          {"attributes", attributes_json(version.attributes)}};
}

bool is_latest(const CkptSet& set, const CkptVersion& version) {
  return version.info.is_abandoned == 0 && &version == &set.version(CAIRN_CHECKPOINT_LATEST);
}

int list_versions(const Pool& pool, bool json, const CkptArguments& arguments,
                  const std::string& name) {
  const CkptSet set(pool, name);
  Table table({"VERSION", "STEP", "BYTES", "RANKS", "BEGUN", "VERIFIED", "STATE"}, {0, 1, 2, 3});
  Json all = Json::array();
  for (const CkptVersion& version : set.versions()) {
    const cairn_checkpoint_info& info = version.info;
    all.push_back(version_json(version, is_latest(set, version)));
    table.row({std::to_string(info.number), std::to_string(info.step),
               size_text(info.bytes, arguments.bytes), std::to_string(info.ranks),
               time_text(info.begun_ns), time_text(info.verified_ns),
               state_text(version, is_latest(set, version))});
  }
  if (json)
    print_json(all);
  else
    print_lines(table.text());
  for (const std::string& text : set.damaged()) warn(fmt::format("{}: {}", name, text));
  return exit_ok;
}

int list_all(const Pool& pool, bool json, const CkptArguments& arguments) {
  Table table({"SET", "VERSIONS", "LATEST", "BYTES", "BEGUN", "STATE"}, {1, 2, 3});
  Json all = Json::array();
  for (const SetEntry& entry : list_sets(pool)) {
    Json one = {{"set", entry.name}, {"versions", 0},   {"latest", nullptr},       {"bytes", 0},
                {"begun", nullptr},  {"user", nullptr}, {"damaged", Json::array()}};
    std::vector<std::string> cells = {entry.name, "-", "-", "-", "-", ""};
    if (!entry.why.empty()) {
      one["damaged"].push_back(json_text(entry.why));
      cells[5] = printable(entry.why);
    } else {
      const CkptSet set(pool, entry.name);
      uint64_t bytes = 0;
      for (const CkptVersion& version : set.versions()) bytes += version.info.bytes;
      one["versions"] = set.versions().size();
      one["bytes"] = bytes;
      cells[1] = std::to_string(set.versions().size());
      cells[3] = size_text(bytes, arguments.bytes);
      if (!set.versions().empty()) {
        const cairn_checkpoint_info& latest = set.version(CAIRN_CHECKPOINT_LATEST).info;
        one["latest"] = latest.number;
        one["begun"] = time_json(latest.begun_ns);
        cells[2] = std::to_string(latest.number);
        cells[4] = time_text(latest.begun_ns);
      }
      for (const std::string& text : set.damaged()) one["damaged"].push_back(json_text(text));
      if (!set.damaged().empty()) cells[5] = fmt::format("{} damaged", set.damaged().size());
    }
    if (entry.user != 0) {
      one["user"] = {{"pid", entry.user}, {"command", json_text(entry.command)}};
      cells[5] += fmt::format("{}in use by {} ({})", cells[5].empty() ? "" : ", ", entry.user,
                              printable(entry.command));
    }
    all.push_back(std::move(one));
    table.row(std::move(cells));
  }
  if (json)
    print_json(all);
  else if (!table.empty())
    print_lines(table.text());
  return exit_ok;
}

// Counts the elements of counted variables. Their numbers stand among the variables' bytes, which
// may be damaged.
void count_if_possible(const CkptSet& set, int64_t number, std::vector<CkptVariable>* variables) {
  try {
    set.count(number, variables);
  } catch (const Error& error) {
    warn(error.what());
  }
}

bool is_unknown(const CkptVariable& variable) {
  return variable.is_counted() && variable.shape.empty();
}

std::string kind_text(const CkptVariable& variable) {
  const std::string listed = facts_of(variable.kind).listed;
  const bool is_scalar = !variable.is_counted() && variable.shape.empty();
  if (listed.empty() || is_scalar) return "";
  std::string text = "  " + listed;
  if (!variable.over.empty()) text += " over " + printable(variable.over);
  return variable.key.empty() ? text : text + " by " + printable(variable.key);
}

Json variable_json(const CkptVariable& variable) {
  Json shape = Json::array();
  for (const uint64_t extent : variable.shape) shape.push_back(extent);
  const uint64_t bytes = variable.elements() * variable.element_size;
  Json all = {{"name", json_text(variable.name)},
              {"type", ckpt_type_name(variable.type)},
              {"element_bytes", variable.element_size},
              {"shape", is_unknown(variable) ? Json() : std::move(shape)},
              {"bytes", is_unknown(variable) ? Json() : Json(bytes)},
              {"replicated", variable.is_replicated},
              {"required", variable.is_required},
              {"attributes", attributes_json(variable.attributes)}};
  const KindFacts& facts = facts_of(variable.kind);
  if (!variable.is_replicated && *facts.listed != 0) all["kind"] = facts.word;
  if (!variable.over.empty()) all["over"] = json_text(variable.over);
  if (!variable.key.empty()) all["key"] = json_text(variable.key);
  return all;
}

void print_attributes(const std::vector<CkptAttribute>& attributes, const char* indent) {
  for (const CkptAttribute& one : attributes)
    print("{}{}: {}\n", indent, one.key, attribute_text(one));
}

}  // namespace

int ckpt_ls(const Config& config, bool json, const CkptArguments& arguments) {
  if (!arguments.directory.empty()) return ckpt_ls_lower(json, arguments);
  const CkptName name = arguments.set.empty() ? CkptName() : parse_ckpt_name(arguments.set);
  const Pool pool = open_pool(config, name.pool);
  if (name.set.empty()) return list_all(pool, json, arguments);
  return list_versions(pool, json, arguments, name.set);
}

int ckpt_show(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = parse_ckpt_name(arguments.set);
  const int64_t number = parse_version(arguments.words.empty() ? "" : arguments.words[0]);
  const Pool pool = open_pool(config, name.pool);
  const CkptSet set(pool, name.set);
  const CkptVersion& version = set.version(number);
  std::vector<CkptVariable> variables = set.variables(number);
  count_if_possible(set, number, &variables);
  if (json) {
    Json report = version_json(version, is_latest(set, version));
    report["set"] = name.set;
    report["variables"] = Json::array();
    for (const CkptVariable& one : variables) report["variables"].push_back(variable_json(one));
    print_json(report);
    return exit_ok;
  }
  const auto line = [](const char* what, const std::string& value) {
    print("{:<10}{}\n", what, value);
  };
  const cairn_checkpoint_info& info = version.info;
  const std::string state = state_text(version, is_latest(set, version));
  line("version", fmt::format("{}{}", info.number, state.empty() ? "" : " (" + state + ")"));
  line("step", std::to_string(info.step));
  line("begun", time_text(info.begun_ns));
  line("verified", time_text(info.verified_ns));
  line("bytes", fmt::format("{} ({})", info.bytes, format_size(info.bytes)));
  line("ranks", std::to_string(info.ranks));
  if (info.code_version[0] != 0) line("code", printable(info.code_version));
  std::string survives = "processes";
  if ((info.survives & CAIRN_SURVIVES_POWER) != 0) survives += ", power loss";
  if ((info.survives & CAIRN_SURVIVES_NODE) != 0) survives += ", loss of a node";
  line("survives", survives);
  if (info.copies != 0)
    line("copies",
         fmt::format("{} {} of other nodes", info.copies, info.copies == 1 ? "part" : "parts"));
  if (!version.attributes.empty()) print("attributes\n");
  print_attributes(version.attributes, "  ");
  print("variables\n");
  for (const CkptVariable& one : variables) {
    print("  {}  {}  {}{}{}\n", one.name, element_text(one.type, one.element_size),
          is_unknown(one) ? "?" : shape_text(one.shape), kind_text(one),
          one.is_required ? "" : "  optional");
    print_attributes(one.attributes, "    ");
  }
  return exit_ok;
}

int ckpt_du(const Config& config, bool json, const CkptArguments& arguments) {
  const CkptName name = arguments.set.empty() ? CkptName() : parse_ckpt_name(arguments.set);
  const Pool pool = open_pool(config, name.pool);
  Table table({"TAKEN", "VERSIONS", "BYTES", "SET"}, {0, 1, 2});
  Json all = Json::array();
  bool found = name.set.empty();
  for (const SetEntry& entry : list_sets(pool)) {
    if (!name.set.empty() && entry.name != name.set) continue;
    found = true;
    uint64_t bytes = 0;
    size_t versions = 0;
    if (entry.why.empty()) {
      const CkptSet set(pool, entry.name);
      versions = set.versions().size();
      for (const CkptVersion& version : set.versions()) bytes += version.info.bytes;
    }
    const uint64_t taken = taken_by(pool, entry.name);
    all.push_back(
        {{"set", entry.name}, {"taken_bytes", taken}, {"versions", versions}, {"bytes", bytes}});
    table.row({size_text(taken, arguments.bytes), std::to_string(versions),
               size_text(bytes, arguments.bytes), entry.name});
  }
  if (!found) fail("{}: the pool has no such set", name.set);
  if (json)
    print_json(all);
  else if (!table.empty())
    print_lines(table.text());
  return exit_ok;
}

}  // namespace cairn::cli
