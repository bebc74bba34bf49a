#include "checkpoint/define/definition_fields.h"

#include <algorithm>

#include "base/bounded_reader.h"

namespace cairn::checkpoint {

namespace {

struct SharedFields {
  uint8_t kind;
  uint8_t owner;
  uint8_t type;
  uint8_t is_required;
  uint32_t dimensions;
  uint64_t element_size;
  uint64_t extent[max_dimensions];
};

void append_bytes(std::vector<uint8_t>* bytes, const std::vector<uint8_t>& more) {
  append(bytes, static_cast<uint64_t>(more.size()));
  bytes->insert(bytes->end(), more.begin(), more.end());
}

std::vector<uint8_t> take_bytes(BoundedReader* reader) {
  const std::string_view bytes = reader->text(reader->take<uint64_t>());
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<uint8_t> encode_shared(const std::string& name, const Definition& one) {
  std::vector<uint8_t> bytes;
  append_text(&bytes, name);
  SharedFields fields{};
  fields.kind = static_cast<uint8_t>(one.kind);
  fields.owner = static_cast<uint8_t>(one.owner);
  fields.type = static_cast<uint8_t>(one.place.view.type());
  fields.is_required = one.is_required ? 1 : 0;
  fields.dimensions = one.whole.dimensions;
  fields.element_size = one.place.view.element_size();
  std::copy(one.whole.count.begin(), one.whole.count.end(), fields.extent);
  append(&bytes, fields);
  append_bytes(&bytes, one.arguments);
  append(&bytes, static_cast<uint64_t>(one.aliases.size()));
  for (const std::string& alias : one.aliases) append_text(&bytes, alias);
  append_text(&bytes, one.over);
  append_text(&bytes, one.key);
  append_bytes(&bytes, one.attributes);
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

Result<SharedDefinition> parse_shared(std::string_view bytes) {
  BoundedReader reader(bytes.data(), bytes.size());
  SharedDefinition one;
  VariableDefinition& variable = one.variable;
  variable.name = reader.text(reader.take<uint64_t>());
  const auto fields = reader.take<SharedFields>();
  one.array.kind = static_cast<DecompositionKind>(fields.kind);
  one.array.owner = static_cast<Owner>(fields.owner);
  one.array.whole.dimensions = fields.dimensions;
  std::copy(std::begin(fields.extent), std::end(fields.extent), one.array.whole.count.begin());
  one.array.arguments = take_bytes(&reader);
  variable.type = static_cast<Type>(fields.type);
  variable.is_required = fields.is_required != 0;
  variable.element_size = fields.element_size;
  variable.dimensions = is_counted(one.array.kind) ? 1 : fields.dimensions;
  const auto aliases = reader.take<uint64_t>();
  for (uint64_t i = 0; i < aliases && reader.ok(); ++i)
    variable.aliases.emplace_back(reader.text(reader.take<uint64_t>()));
  variable.over = reader.text(reader.take<uint64_t>());
  variable.key = reader.text(reader.take<uint64_t>());
  variable.attributes = take_bytes(&reader);
  const Distribution* const distribution = find_distribution(fields.kind);
  if (!reader.ok() || fields.dimensions > max_dimensions || distribution == nullptr ||
      !distribution->is_sound(one.array.arguments))
    return fail(EINVAL, "definitions are cut off");
  return one;
}

}  // namespace cairn::checkpoint
