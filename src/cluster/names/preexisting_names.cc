#include "cluster/names/preexisting_names.h"

#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "base/saved_failure.h"
#include "cluster/local/local_entry.h"
#include "cluster/rpc/broadcast.h"
#include "file/namespace/resolve.h"
#include "file/namespace/tree.h"
#include "pool/lanes/seats.h"
#include "tier/system/listing.h"

namespace cairn::cluster {
namespace {

bool is_told(uint32_t mode) {
  return S_ISDIR(mode) || S_ISLNK(mode) || S_ISFIFO(mode) || S_ISSOCK(mode);
}

Result<std::string> target_of(Job& job, const file::Map& link) {
  const pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  return file::link_text(job.fs(), link);
}

struct Where {
  file::Map map;
  std::string path;  // ends in "/", or is empty
};

// The names in one directory. Nothing in one that still lies in the covered directory has come from
// anywhere else.
Status gather(Job& job, const Where& where, file::Tree* tree, std::vector<Where>* directories,
              std::vector<NameChange>* names) {
  if ((where.map.inode->flags.load() & format::flag_lazy) != 0) return Status();
  return tier::for_each_name(job.fs(), where.map, false, [&](const file::Listed& listed) -> Status {
    const auto inode = file::live_inode(job.fs(), listed.inode);
    if (!inode.ok()) return Status();  // it has just gone
    const file::Map map = {*inode, listed.inode};
    const auto mode = static_cast<uint32_t>(map.inode->mode.load());
    if (!is_told(mode)) return Status();
    const std::string name = where.path + tier::name_of(listed);
    const NameOp op = S_ISDIR(mode) ? NameOp::make_directory : NameOp::make_special;
    if (!listed.has_lower) {
      std::string target;
      if (S_ISLNK(mode)) {
        CAIRN_TRY_ASSIGN(text, target_of(job, map));
        target = std::move(text);
      }
      names->push_back({op, mode, name, target});
    }
    if (!S_ISDIR(mode)) return Status();
    CAIRN_TRY(tree->enter(where.map, listed));
    directories->push_back({map, name + "/"});
    return Status();
  });
}

// Mode, path and target, each text with its zero byte.
void append(std::string* text, const NameChange& name) {
  const uint32_t mode = name.mode;
  text->append(reinterpret_cast<const char*>(&mode), sizeof mode);
  text->append(name.path.c_str(), name.path.size() + 1);
  text->append(name.other.c_str(), name.other.size() + 1);
}

bool take_text(const std::string& from, size_t* at, std::string* text) {
  const size_t end = from.find('\0', *at);
  if (end == std::string::npos) return false;
  *text = from.substr(*at, end - *at);
  *at = end + 1;
  return true;
}

bool take(const std::string& from, size_t* at, NameChange* name) {
  if (from.size() - *at < sizeof name->mode) return false;
  std::memcpy(&name->mode, from.data() + *at, sizeof name->mode);
  *at += sizeof name->mode;
  name->op = S_ISDIR(name->mode) ? NameOp::make_directory : NameOp::make_special;
  return take_text(from, at, &name->path) && take_text(from, at, &name->other);
}

// It is there already, as it is to be; modes may differ.
bool is_the_same(Job& job, const NameChange& name) {
  const auto entry = local_entry(job, name.path);
  if (!entry.ok() || !entry->exists() || (entry->mode() & S_IFMT) != (name.mode & S_IFMT))
    return false;
  if (!S_ISLNK(name.mode)) return true;
  const auto target = target_of(job, entry->map);
  return target.ok() && *target == name.other;
}

}  // namespace

std::string told_as(const NameChange& name) {
  NameChange told = name;
  if (name.op == NameOp::make_directory) told.mode = S_IFDIR | (name.mode & 07777);
  std::string text;
  append(&text, told);
  return text;
}

Status tell(const Job& job, const NodeNumbers& nodes, const std::string& names) {
  Request request = {};
  request.op = Op::make_names;
  return ask_nodes(job, nodes, request, names).status;
}

Result<std::vector<NameChange>> preexisting_names(Job& job) {
  std::vector<NameChange> names;
  CAIRN_TRY_ASSIGN(top, top_of(job));
  CAIRN_TRY_ASSIGN(inode, file::live_inode(job.fs(), top));
  std::vector<Where> directories = {{{inode, top}, ""}};
  file::Tree tree(job.fs(), top);
  while (!directories.empty()) {
    const Where where = std::move(directories.back());
    directories.pop_back();
    CAIRN_TRY(gather(job, where, &tree, &directories, &names));
  }
  return names;
}

uint64_t number_of_names(const std::vector<NameChange>& names) {
  // A sum, since the order is each pool's own.
  uint64_t sum = 0;
  for (const NameChange& name : names) {
    std::string text;
    append(&text, {name.op, name.mode & S_IFMT, name.path, name.other});
    uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char byte : text) hash = (hash ^ static_cast<uint8_t>(byte)) * 1099511628211ULL;
    sum += hash;
  }
  constexpr uint64_t positive = INT64_MAX;
  return names.empty() ? 0 : (sum & positive) | 1;
}

Status tell_names(Job& job) {
  const int64_t own = job.number_of_names();
  if (own == 0) return Status();
  Request request = {};
  request.op = Op::look_names;
  const NodeAnswers answers = ask_nodes(job, other_nodes(job), request, "");
  CAIRN_TRY(answers.status);
  NodeNumbers nodes;
  for (const NodeAnswers::One& one : answers.all) {
    if (one.value != own) nodes.push_back(one.node);
    if (one.value == own && one.node < job.self()) return Status();
  }
  if (nodes.empty()) return Status();
  CAIRN_TRY_ASSIGN(names, preexisting_names(job));
  SavedFailure first;
  std::string text;
  const auto flush = [&] {
    first.keep(tell(job, nodes, text));
    text.clear();
  };
  for (const NameChange& name : names) {
    append(&text, name);
    constexpr uint64_t longest = 2 * PATH_MAX + sizeof name.mode;
    if (text.size() + longest > most_written) flush();
  }
  if (!text.empty()) flush();
  return first.restored();
}

Status make_told_names(Job& job, const std::string& names) {
  SavedFailure first;
  NameChange name = {};
  for (size_t at = 0; at < names.size();) {
    if (!take(names, &at, &name)) return fail(EINVAL, "another node sent invalid names");
    const Status made = change_name(job, name);
    if (made.ok() || is_the_same(job, name) || !first.ok()) continue;
    if (made.code() == EEXIST || made.code() == ENOTDIR)
      first.keep(fail(made.code(),
                      "%s: two nodes had different files there before the job; each node keeps its"
                      " own",
                      name.path.c_str()));
    else
      first.keep(made);
  }
  return first.restored();
}

}  // namespace cairn::cluster
