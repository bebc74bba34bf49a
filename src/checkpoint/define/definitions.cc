#include "checkpoint/define/definitions.h"

#include <algorithm>

#include "checkpoint/record/attributes.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
Result<ArrayPlace> Definition::find(ArrayUse use, uint64_t count) const {
  ArrayPlace now = place;
  const bool counts = is_counted();
  if (getter) {
    CAIRN_TRY_ASSIGN(got, getter(use, count));
    now = got;
    if (now.view.type() != place.view.type() ||
        now.view.element_size() != place.view.element_size() ||
        (counts ? now.view.dimensions() != 1 : !has_counts(now.view, box)))
      return fail(EINVAL, "the getter gave an array of another type or shape");
  }
  if (counts && use == ArrayUse::to_fill && now.view.counts()[0] != count)
    return fail(EMSGSIZE, "the version has %llu elements for this rank, its array has %llu%s",
                static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(now.view.counts()[0]),
                getter ? "" : "; give a getter");
  if (now.base == nullptr && !is_empty(counts_of(now.view)))
    return fail(use == ArrayUse::to_write ? ENODATA : EFAULT, "it has no memory");
  return now;
}

namespace {

// Checks that a counted definition names the variables that its kind needs, and no others.
Status check_relations(const Definition& definition) {
  const Counting counting = counting_of(definition.kind);
  const bool has_lists = counting == Counting::by_lists;
  const bool has_keys = counting == Counting::by_keys;
  const bool has_over = !definition.over.empty();
  const bool has_key = !definition.key.empty();
  if (has_lists && !has_over)
    return fail(EINVAL, "expected `over`: the variable that counts its values");
  if (has_key && !has_over) return fail(EINVAL, "has a key; expected `over` as well");
  if (has_keys && has_over && !has_key && !is_integer(definition.place.view.type()))
    return fail(EINVAL, "expected a key, or values of an integer type");
  if ((has_key && !has_keys) || (has_over && !has_lists && !has_keys))
    return fail(EINVAL, "`over` is for ragged arrays and particles, `key` for particles");
  return Status();
}

}  // namespace

Status check_definition(const std::string& name, Definition* definition) {
  CAIRN_TRY(check_name(name, "variable"));
  Status status = definition->distribution().check(definition->place.view, definition);
  if (status.ok() && definition->is_counted()) status = check_relations(*definition);
  if (!status.ok()) return annotate(status, "variable '%s'", shown_text(name).c_str());
  if (definition->is_counted()) {
    if (!definition->over.empty()) CAIRN_TRY(check_name(definition->over, "over"));
    if (!definition->key.empty()) CAIRN_TRY(check_name(definition->key, "key"));
  }
  for (const std::string& alias : definition->aliases) CAIRN_TRY(check_name(alias, "alias"));
  return Status();
}

void Definitions::put(const std::string& name, Definition definition) {
  all_[name] = std::move(definition);
  ++changes_;
}

Status Definitions::remove(const std::string& name) {
  if (all_.erase(name) == 0)
    return fail(ENOENT, "variable '%s': is not defined", shown_text(name).c_str());
  ++changes_;
  return Status();
}

}  // namespace cairn::checkpoint
