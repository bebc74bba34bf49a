// C API: what a checkpoint consists of (include/cairn/checkpoint.h).
#include <algorithm>

#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/record/text.h"
#include "checkpoint/write/space_check.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

namespace cairn::capi {

Result<ckpt::ArrayShape> shape_of(const cairn_array& array,
                                  const cairn_distribution* distribution) {
  CAIRN_TRY(check_flags(array.flags, CAIRN_ARRAY_FORTRAN, "cairn_array"));
  ckpt::ArrayShape shape;
  shape.type = static_cast<ckpt::Type>(std::min(array.type, 255U));
  shape.element_size = array.element_size;
  shape.dimensions = array.dimensions;
  shape.is_fortran = (array.flags & CAIRN_ARRAY_FORTRAN) != 0;
  std::copy_n(array.extent, ckpt::max_dimensions, shape.extent.begin());
  std::copy_n(array.stride, ckpt::max_dimensions, shape.stride.begin());
  if (distribution == nullptr) return shape;
  std::copy_n(distribution->halo_low, ckpt::max_dimensions, shape.halo_low.begin());
  std::copy_n(distribution->halo_high, ckpt::max_dimensions, shape.halo_high.begin());
  std::copy_n(distribution->axis, ckpt::max_dimensions, shape.axis.begin());
  return shape;
}

}  // namespace cairn::capi

namespace {

Status put_kind(const cairn_distribution& distribution, ckpt::Definition* definition) {
  switch (distribution.kind) {
    case CAIRN_REPLICATED:
      definition->kind = ckpt::DecompositionKind::replicated;
      if (distribution.owner != 0) return fail(EINVAL, "an owner rule is for blocks");
      return Status();
    case CAIRN_BLOCK:
      definition->kind = ckpt::DecompositionKind::boxes;
      if (distribution.owner > CAIRN_OWNER_HIGHEST_RANK)
        return fail(EINVAL, "invalid owner rule %u", distribution.owner);
      definition->owner = static_cast<ckpt::Owner>(distribution.owner);
      return Status();
    case CAIRN_DARRAY:
      definition->kind = ckpt::DecompositionKind::darray;
      if (distribution.owner != 0) return fail(EINVAL, "an owner rule is for blocks");
      return Status();
    case CAIRN_RAGGED:
    case CAIRN_PARTICLES:
    case CAIRN_PER_RANK:
      definition->kind = static_cast<ckpt::DecompositionKind>(distribution.kind);
      if (distribution.owner != 0) return fail(EINVAL, "an owner rule is for blocks");
      if (distribution.over != nullptr) definition->over = distribution.over;
      if (distribution.key != nullptr) definition->key = distribution.key;
      return Status();
    default:
      return fail(EINVAL, "distribution of unknown kind %u", distribution.kind);
  }
}

Status put_boxes(const cairn_distribution& distribution, ckpt::Definition* definition) {
  const ckpt::ArrayView& view = definition->place.view;
  const unsigned d = view.dimensions();
  definition->whole.dimensions = definition->box.dimensions = d;
  const auto is_zero = [](int64_t value) { return value == 0; };
  const bool is_implied = definition->kind == ckpt::DecompositionKind::replicated &&
                          std::all_of(distribution.global, distribution.global + d, is_zero);
  for (unsigned k = 0; k < d; ++k) {
    if (distribution.global[k] < 0 || distribution.offset[k] < 0)
      return fail(EINVAL, "global extent or offset of dimension %u is negative", k);
    definition->whole.count[k] =
        is_implied ? view.counts()[k] : static_cast<uint64_t>(distribution.global[k]);
    definition->box.offset[k] = static_cast<uint64_t>(distribution.offset[k]);
  }
  return Status();
}

// All ranks say it alike, as ranks that mean the same may not have.
Status put_darray(const cairn_distribution& distribution, ckpt::Definition* definition) {
  ckpt::Darray darray;
  darray.dimensions = definition->whole.dimensions;
  darray.rank_order = distribution.rank_order;
  for (unsigned k = 0; k < darray.dimensions; ++k) {
    if (distribution.offset[k] != 0)
      return fail(EINVAL, "dimension %u: an offset is for blocks (CAIRN_BLOCK)", k);
    if (distribution.block[k] < 0)
      return fail(EINVAL, "dimension %u: blocks of %lld elements", k,
                  static_cast<long long>(distribution.block[k]));
    // Of a dimension that is not distributed the length says nothing.
    const bool is_whole = distribution.distribute[k] == CAIRN_DISTRIBUTE_NONE;
    darray.along[k] = {distribution.processes[k], distribution.distribute[k],
                       is_whole ? 0 : static_cast<uint64_t>(distribution.block[k])};
  }
  if (darray.dimensions == 0) return fail(EINVAL, "a scalar is not dealt out; CAIRN_REPLICATED");
  if (!volume(definition->whole)) return fail(EOVERFLOW, "more than 2^62 elements");
  CAIRN_TRY(darray.check(definition->whole));
  definition->darray = darray.canonical(definition->whole);
  return Status();
}

// Asks the program where the array is.
Result<ckpt::ArrayPlace> ask_getter(cairn_array_getter getter, void* context, cairn_array array,
                                    const cairn_distribution& distribution, ckpt::ArrayUse use,
                                    uint64_t count) {
  if (distribution.kind >= CAIRN_RAGGED && use == ckpt::ArrayUse::to_fill)
    array.extent[0] = static_cast<int64_t>(count);
  const int result = getter(context, static_cast<int>(use), &array);
  if (result < 0) return fail(-result, "its getter failed");
  CAIRN_TRY_ASSIGN(shape, cairn::capi::shape_of(array, &distribution));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  return ckpt::ArrayPlace{view, static_cast<uint8_t*>(array.base)};
}

Status put_more(const cairn_definition& more, const cairn_array& array,
                const cairn_distribution& distribution, ckpt::Definition* definition) {
  CAIRN_TRY(check_flags(more.flags, CAIRN_OPTIONAL, "cairn_definition"));
  definition->is_required = (more.flags & CAIRN_OPTIONAL) == 0;
  if (more.getter != nullptr) {
    definition->getter = [getter = more.getter, context = more.context, array, distribution](
                             ckpt::ArrayUse use, uint64_t count) {
      return ask_getter(getter, context, array, distribution, use, count);
    };
  }
  if (more.alias_count != 0) CAIRN_TRY(check_given(more.aliases, "aliases"));
  for (uint32_t i = 0; i < more.alias_count; ++i) {
    CAIRN_TRY(check_given(more.aliases[i], "an alias"));
    definition->aliases.emplace_back(more.aliases[i]);
  }
  if (more.default_value != nullptr) {
    const auto* const from = static_cast<const uint8_t*>(more.default_value);
    definition->default_value.assign(from, from + definition->place.view.element_size());
  }
  CAIRN_TRY_ASSIGN(attributes,
                   cairn::capi::encode_attributes(more.attributes, more.attribute_count));
  definition->attributes = std::move(attributes);
  return Status();
}

Result<ckpt::Definition> make_definition(const cairn_array& array,
                                         const cairn_distribution& distribution,
                                         const cairn_definition& more) {
  ckpt::Definition definition;
  CAIRN_TRY(put_kind(distribution, &definition));
  CAIRN_TRY_ASSIGN(shape, cairn::capi::shape_of(array, &distribution));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  definition.place = {view, static_cast<uint8_t*>(array.base)};
  if (!ckpt::is_counted(definition.kind)) CAIRN_TRY(put_boxes(distribution, &definition));
  if (definition.kind == ckpt::DecompositionKind::darray)
    CAIRN_TRY(put_darray(distribution, &definition));
  CAIRN_TRY(put_more(more, array, distribution, &definition));
  return definition;
}

Status define(cairn_checkpoint* checkpoint, const char* name, const cairn_array* array,
              const cairn_distribution* distribution, const cairn_definition* more) {
  cairn::clear_detail();
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  CAIRN_TRY(check_given(name, "the variable's name"));
  CAIRN_TRY(check_given(array, "array"));
  CAIRN_TRY_ASSIGN(its_array, cairn::capi::copy_in(array, "array"));
  CAIRN_TRY_ASSIGN(its_distribution, cairn::capi::copy_in(distribution, "distribution"));
  if (distribution == nullptr) its_distribution.kind = CAIRN_REPLICATED;
  CAIRN_TRY_ASSIGN(its_more, cairn::capi::copy_in(more, "definition"));
  CAIRN_TRY(ckpt::check_name(name, "variable"));
  auto definition = make_definition(its_array, its_distribution, its_more);
  if (!definition.ok())
    return annotate(definition.status(), "variable '%s'", ckpt::shown_text(name).c_str());
  CAIRN_TRY(ckpt::check_definition(name, &*definition));
  CAIRN_TRY(checkpoint->check_space(name, *definition));
  checkpoint->warn_of_room(name, *definition);
  checkpoint->definitions.put(name, std::move(*definition));
  return Status();
}

}  // namespace

extern "C" {

int cairn_checkpoint_define(cairn_checkpoint* checkpoint, const char* name,
                            const cairn_array* array, const cairn_distribution* distribution,
                            const cairn_definition* more) {
  const WriteWindow window;
  return code(define(checkpoint, name, array, distribution, more));
}

int cairn_checkpoint_undefine(cairn_checkpoint* checkpoint, const char* name) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  return code(checkpoint->definitions.remove(name));
}

}  // extern "C"
