// C API: what a checkpoint consists of (include/cairn/checkpoint.h).
#include <algorithm>

#include "cairn/checkpoint.h"
#include "capi/checkpoint/handle.h"
#include "checkpoint/record/text.h"

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

ckpt::GivenDistribution given_by(const cairn_distribution& distribution) {
  ckpt::GivenDistribution given;
  given.owner = distribution.owner;
  given.rank_order = distribution.rank_order;
#define CAIRN_KIND_ARGUMENT(type, name) \
  std::copy_n(distribution.name, ckpt::max_dimensions, given.name.begin());
#include "cairn/kinds.def"
  return given;
}

// Asks the program where the array is.
Result<ckpt::ArrayPlace> ask_getter(cairn_array_getter getter, void* context, cairn_array array,
                                    const cairn_distribution& distribution, ckpt::ArrayUse use,
                                    uint64_t count) {
  CAIRN_TRY_ASSIGN(kind, ckpt::kind_given_as(distribution.kind));
  if (ckpt::is_counted(kind) && use == ckpt::ArrayUse::to_fill)
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
  CAIRN_TRY_ASSIGN(kind, ckpt::kind_given_as(distribution.kind));
  definition.kind = kind;
  CAIRN_TRY_ASSIGN(shape, cairn::capi::shape_of(array, &distribution));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  definition.place = {view, static_cast<uint8_t*>(array.base)};
  CAIRN_TRY(definition.distribution().take(given_by(distribution), view, &definition));
  if (definition.is_counted() && distribution.over != nullptr) definition.over = distribution.over;
  if (definition.is_counted() && distribution.key != nullptr) definition.key = distribution.key;
  CAIRN_TRY(put_more(more, array, distribution, &definition));
  return definition;
}

}  // namespace

Result<ckpt::ArrayPlace> cairn::capi::place_of(const cairn_array* given) {
  CAIRN_TRY_ASSIGN(array, copy_in(given, "array"));
  CAIRN_TRY_ASSIGN(shape, shape_of(array, nullptr));
  CAIRN_TRY_ASSIGN(view, ckpt::ArrayView::make(shape));
  return ckpt::ArrayPlace{view, static_cast<uint8_t*>(array.base)};
}

Status cairn::capi::define(cairn_checkpoint* checkpoint, const char* name, const cairn_array* array,
                           const cairn_distribution* distribution, const cairn_definition* more,
                           bool in_collected) {
  clear_detail();
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  CAIRN_TRY(check_given(name, "the variable's name"));
  CAIRN_TRY(check_given(array, "array"));
  CAIRN_TRY_ASSIGN(its_array, copy_in(array, "array"));
  CAIRN_TRY_ASSIGN(its_distribution, copy_in(distribution, "distribution"));
  if (distribution == nullptr) its_distribution.kind = CAIRN_REPLICATED;
  CAIRN_TRY_ASSIGN(its_more, copy_in(more, "definition"));
  CAIRN_TRY(ckpt::check_name(name, "variable"));
  auto definition = make_definition(its_array, its_distribution, its_more);
  if (!definition.ok())
    return annotate(definition.status(), "variable '%s'", ckpt::shown_text(name).c_str());
  CAIRN_TRY(ckpt::check_definition(name, &*definition));
  if (in_collected) return checkpoint->session.run()->define(name, std::move(*definition), true);
  return checkpoint->session.define(name, std::move(*definition));
}

extern "C" {

int cairn_checkpoint_define(cairn_checkpoint* checkpoint, const char* name,
                            const cairn_array* array, const cairn_distribution* distribution,
                            const cairn_definition* more) {
  const WriteWindow window;
  return code(cairn::capi::define(checkpoint, name, array, distribution, more, false));
}

int cairn_checkpoint_undefine(cairn_checkpoint* checkpoint, const char* name) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the variable's name"); !given.ok())
    return code(given);
  return code(checkpoint->session.undefine(name));
}

}  // extern "C"
