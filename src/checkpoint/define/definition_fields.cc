#include "checkpoint/define/definition_fields.h"

#include <algorithm>

#include "base/bounded_reader.h"

namespace cairn::checkpoint {

std::vector<uint8_t> encode_shared(const std::string& name, const Definition& one) {
  std::vector<uint8_t> bytes;
  append_text(&bytes, name);
  SharedFields fields{};
  fields.kind = static_cast<uint8_t>(one.kind);
  fields.owner = static_cast<uint8_t>(one.owner);
  fields.type = static_cast<uint8_t>(one.place.view.type());
  fields.is_required = one.is_required ? 1 : 0;
  fields.dimensions = is_counted(one.kind) ? 1 : one.whole.dimensions;
  fields.element_size = one.place.view.element_size();
  std::copy(one.whole.count.begin(), one.whole.count.end(), fields.extent);
  fields.darray = one.darray;
  append(&bytes, fields);
  append(&bytes, static_cast<uint64_t>(one.aliases.size()));
  for (const std::string& alias : one.aliases) append_text(&bytes, alias);
  append_text(&bytes, one.over);
  append_text(&bytes, one.key);
  append(&bytes, static_cast<uint64_t>(one.attributes.size()));
  bytes.insert(bytes.end(), one.attributes.begin(), one.attributes.end());
  return bytes;
}

OwnFields own_fields(const Definition& one) {
  OwnFields own{};
  own.order = one.place.view.order();
  for (unsigned k = 0; k < one.whole.dimensions; ++k) {
    own.halo_low[k] = static_cast<uint16_t>(one.place.view.halo_low(k));
    own.halo_high[k] = static_cast<uint16_t>(one.place.view.halo_high(k));
  }
  std::copy(one.box.offset.begin(), one.box.offset.end(), own.offset);
  std::copy(one.box.count.begin(), one.box.count.end(), own.count);
  return own;
}

Status parse_shared(std::string_view bytes, VariableDefinition* variable, SharedFields* fields) {
  BoundedReader reader(bytes.data(), bytes.size());
  variable->name = reader.text(reader.take<uint64_t>());
  *fields = reader.take<SharedFields>();
  variable->type = static_cast<Type>(fields->type);
  variable->is_required = fields->is_required != 0;
  variable->element_size = fields->element_size;
  variable->dimensions = fields->dimensions;
  const auto aliases = reader.take<uint64_t>();
  for (uint64_t i = 0; i < aliases && reader.ok(); ++i)
    variable->aliases.emplace_back(reader.text(reader.take<uint64_t>()));
  variable->over = reader.text(reader.take<uint64_t>());
  variable->key = reader.text(reader.take<uint64_t>());
  const std::string_view attributes = reader.text(reader.take<uint64_t>());
  variable->attributes.assign(attributes.begin(), attributes.end());
  if (!reader.ok() || fields->dimensions > max_dimensions ||
      fields->darray.dimensions > max_dimensions)
    return fail(EINVAL, "definitions are cut off");
  return Status();
}

Box whole_of(const SharedFields& fields) {
  Box whole{fields.dimensions, {}, {}};
  std::copy(std::begin(fields.extent), std::end(fields.extent), whole.count.begin());
  return whole;
}

}  // namespace cairn::checkpoint
