#include "cluster/names/intent.h"

#include <sys/stat.h>

#include <algorithm>

#include "cluster/local/local_server.h"
#include "cluster/names/new_name.h"
#include "cluster/names/preexisting_names.h"
#include "cluster/names/rename_intent.h"
#include "cluster/record/codec.h"
#include "cluster/remote/name_broadcast.h"

namespace cairn::cluster {

std::string packed(const Intent& intent) {
  const NameChange& change = intent.change;
  Packer out;
  for (const uint32_t word : {static_cast<uint32_t>(intent.doing), intent.node,
                              static_cast<uint32_t>(change.op), change.mode, change.flags})
    out.put(word);
  out.put(intent.seen.number);
  out.put(intent.seen.generation);
  out.append(intent.renaming.data(), intent.renaming.size());
  out.text(change.path);
  out.text(change.other);
  return {out.bytes.begin(), out.bytes.end()};
}

namespace {

Result<Intent> unpacked(const std::string& bytes) {
  Unpacker in(bytes.data(), bytes.size());
  Intent intent;
  NameChange& change = intent.change;
  intent.doing = static_cast<IntentKind>(in.get<uint32_t>());
  intent.node = in.get<uint32_t>();
  change.op = static_cast<NameOp>(in.get<uint32_t>());
  change.mode = in.get<uint32_t>();
  change.flags = in.get<uint32_t>();
  intent.seen.number = in.get<uint64_t>();
  intent.seen.generation = in.get<uint64_t>();
  in.take(intent.renaming.data(), intent.renaming.size());
  change.path = in.text();
  change.other = in.text();
  if (!in.ok() || in.left() != 0) return fail(EINVAL, "invalid undertaking");
  return intent;
}

// On all nodes, each as another one asks for it: what it finds is done already is fine.
Status on_all(Job& job, const NameChange& change, NodeNumbers* without_it = nullptr) {
  CAIRN_TRY_ASSIGN(here, serve_change(job, change));
  if (here == 0 && without_it != nullptr) without_it->push_back(job.self());
  NodeNumbers changed;
  const NodeNumbers others = other_nodes(job);
  CAIRN_TRY(change_on(job, others, change, &changed));
  for (const uint32_t node : others)
    if (without_it != nullptr && std::find(changed.begin(), changed.end(), node) == changed.end())
      without_it->push_back(node);
  return Status();
}

Status make_where_missing(Job& job, const NameChange& name) {
  const std::string text = told_as(name);
  CAIRN_TRY(make_told_names(job, text));
  return tell(job, other_nodes(job), text);
}

Status finish_making(Job& job, const NameChange& change) {
  const Status made = make_where_missing(job, change);
  if (made.ok()) return made;
  // Another node has something else there, or no room. What is in the directory by now keeps it.
  const bool is_directory = change.op == NameOp::make_directory;
  if (!is_directory && made.code() != ENOSPC) return Status();
  const NameChange undo = {is_directory ? NameOp::forget_directory : NameOp::forget, 0, change.path,
                           ""};
  serve_change(job, undo).status().ignore();
  on_others(job, undo).ignore();
  return Status();
}

Status finish_removing_directory(Job& job, const NameChange& change) {
  if (!S_ISDIR(change.mode)) return Status();
  NodeNumbers without_it;
  const Status empty = on_all(job, {NameOp::check_removal, 0, change.path, ""}, &without_it);
  if (empty.ok() && without_it.empty()) return Status();
  if (empty.ok()) return on_all(job, {NameOp::forget_directory, 0, change.path, ""});
  // Something has been made in it where it still was.
  if (empty.code() != ENOTEMPTY) return empty;
  return make_where_missing(job, {NameOp::make_directory, change.mode, change.path, ""});
}

// Does that process's node have under the name what it had?
Result<bool> is_still_there(Job& job, const Intent& intent) {
  const file::Seen& seen = intent.seen;
  const NameChange look = {NameOp::look, 0, intent.change.path, seen_as_text(seen)};
  if (intent.node == job.self()) {
    CAIRN_TRY_ASSIGN(here, serve_change(job, look));
    return here != 0;
  }
  NodeNumbers has;
  CAIRN_TRY(change_on(job, {intent.node}, look, &has));
  return !has.empty();
}

// All nodes but that process's.
NodeNumbers rest_of(const Job& job, uint32_t node) {
  NodeNumbers rest;
  for (uint32_t i = 0; i < job.nodes(); ++i)
    if (i != node) rest.push_back(i);
  return rest;
}

Status forget_on(Job& job, const NodeNumbers& nodes, NameOp op, const std::string& path) {
  NodeNumbers asked;
  Status status;
  for (const uint32_t node : nodes) {
    if (node != job.self())
      asked.push_back(node);
    else
      status = serve_change(job, {op, 0, path, ""}).status();
  }
  NodeNumbers changed;
  const Status others = change_on(job, asked, {op, 0, path, ""}, &changed);
  return status.ok() ? others : status;
}

Status finish_removing(Job& job, const Intent& intent) {
  CAIRN_TRY_ASSIGN(is_there, is_still_there(job, intent));
  if (is_there) return Status();
  return forget_on(job, rest_of(job, intent.node), NameOp::forget, intent.change.path);
}

// A node that has changed it, or has it open for writing, keeps it.
Status finish_claiming(Job& job, const Intent& intent) {
  const std::string& path = intent.change.path;
  bool is_own = false;
  if (intent.node == job.self()) {
    const auto state = look_own(job, path, false);
    is_own = state.ok() && state->removed == 0;
  } else {
    CAIRN_TRY_ASSIGN(has, has_file(job, {intent.node}, path));
    is_own = has;
  }
  if (is_own) forget_on(job, rest_of(job, intent.node), NameOp::claim, path).ignore();
  return Status();
}

// What others have under either name stays if it is theirs: it may have been made, or written, long
// after that process died. Of two files of one name the drains tell; a removed one would be lost.
Status finish_moving_file(Job& job, const Intent& intent) {
  CAIRN_TRY_ASSIGN(is_there, is_still_there(job, intent));
  if (is_there) return Status();
  const NodeNumbers rest = rest_of(job, intent.node);
  const auto forget_unchanged = [&](const std::string& path) {
    for (const uint32_t node : rest)
      forget_on(job, {node}, NameOp::forget_unchanged, path).ignore();
  };
  forget_unchanged(intent.change.path);
  // Only where it still lies there, what others know of the new name is void.
  Intent moved = intent;
  moved.change.path = intent.change.other;
  CAIRN_TRY_ASSIGN(has_moved, is_still_there(job, moved));
  if (has_moved) forget_unchanged(intent.change.other);
  return Status();
}

}  // namespace

namespace {

Status finish(Job& job, const Intent& intent) {
  const NameChange& change = intent.change;
  switch (intent.doing) {
    case IntentKind::nothing:
      return Status();
    case IntentKind::making:
      return finish_making(job, change);
    case IntentKind::setting_attributes:
      return on_all(job, change);
    case IntentKind::removing_directory:
      return finish_removing_directory(job, change);
    case IntentKind::removing:
      return finish_removing(job, intent);
    case IntentKind::claiming:
      return finish_claiming(job, intent);
    case IntentKind::renaming:
      CAIRN_TRY(finish_renaming(job, intent.renaming));
      return tell_of_renaming(job, false);
    case IntentKind::moving_file:
      return finish_moving_file(job, intent);
  }
  return fail(EINVAL, "invalid undertaking");
}

}  // namespace

Status finish(Job& job, const std::string& packed_intent) {
  CAIRN_TRY_ASSIGN(intent, unpacked(packed_intent));
  const Status status = finish(job, intent);
  // Only of a renaming something is written down, which would be done later still.
  return intent.doing == IntentKind::renaming ? status : Status();
}

}  // namespace cairn::cluster
