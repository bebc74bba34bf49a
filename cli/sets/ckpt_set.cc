#include "sets/ckpt_set.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

std::vector<CkptAttribute> copy_of(const cairn_attribute* attributes, uint32_t count) {
  std::vector<CkptAttribute> copies;
  for (uint32_t i = 0; i < count; ++i) {
    const cairn_attribute& one = attributes[i];
    copies.push_back({one.key, one.type, one.count, ""});
    const size_t size = one.type == CAIRN_TYPE_CHARACTER || one.type == CAIRN_TYPE_OPAQUE
                            ? 1
                            : ckpt_type_size(one.type);
    copies.back().values.assign(static_cast<const char*>(one.values), size * one.count);
  }
  return copies;
}

struct TypeName {
  uint32_t type;
  const char* name;
  uint32_t size;
};
constexpr TypeName type_names[] = {
#define CAIRN_TYPE(NAME, name, number, size, ...) {number, #name, size},
#include "cairn/types.def"
};

const TypeName* find_type(uint32_t type) {
  const auto* const found = std::find_if(std::begin(type_names), std::end(type_names),
                                         [&](const TypeName& one) { return one.type == type; });
  return found == std::end(type_names) ? nullptr : found;
}

template <typename T>
T value_at(const std::string& bytes, size_t i) {
  T value{};
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

// Infinities and NaN become texts, because JSON has no numbers for them.
Json real_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// The i-th value.
Json value_json(const CkptAttribute& attribute, size_t i) {
  const std::string& bytes = attribute.values;
  switch (attribute.type) {
    case CAIRN_TYPE_INT8:
      return value_at<int8_t>(bytes, i);
    case CAIRN_TYPE_INT16:
      return value_at<int16_t>(bytes, i);
    case CAIRN_TYPE_INT32:
      return value_at<int32_t>(bytes, i);
    case CAIRN_TYPE_INT64:
      return value_at<int64_t>(bytes, i);
    case CAIRN_TYPE_UINT8:
      return value_at<uint8_t>(bytes, i);
    case CAIRN_TYPE_UINT16:
      return value_at<uint16_t>(bytes, i);
    case CAIRN_TYPE_UINT32:
      return value_at<uint32_t>(bytes, i);
    case CAIRN_TYPE_UINT64:
      return value_at<uint64_t>(bytes, i);
    case CAIRN_TYPE_FLOAT16:
    case CAIRN_TYPE_BFLOAT16:
      return real_json(half_value(attribute.type, value_at<uint16_t>(bytes, i)));
    case CAIRN_TYPE_FLOAT32:
      return real_json(value_at<float>(bytes, i));
    case CAIRN_TYPE_FLOAT64:
      return real_json(value_at<double>(bytes, i));
    case CAIRN_TYPE_FLOAT80:
      return real_json(static_cast<double>(value_at<long double>(bytes, i)));
    default:
      break;
  }
  const size_t size = bytes.size() / attribute.count;
  std::string hex;
  for (const char c : bytes.substr(i * size, size))
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

}  // namespace

uint32_t ckpt_type_size(uint32_t type) {
  const TypeName* const known = find_type(type);
  return known == nullptr ? 0 : known->size;
}

std::string ckpt_type_name(uint32_t type) {
  const TypeName* const known = find_type(type);
  return known == nullptr ? fmt::format("type {}", type) : known->name;
}

std::string element_text(uint32_t type, uint64_t element_size) {
  if (type == CAIRN_TYPE_CHARACTER || type == CAIRN_TYPE_OPAQUE)
    return fmt::format("{}({})", ckpt_type_name(type), element_size);
  return ckpt_type_name(type);
}

std::string numbers_text(const std::vector<uint64_t>& numbers, const char* between) {
  std::string text;
  for (const uint64_t number : numbers)
    text += (text.empty() ? "" : between) + std::to_string(number);
  return text;
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  return shape.empty() ? "scalar" : numbers_text(shape, " x ");
}

float half_value(uint32_t type, uint16_t bits) {
  if (type == CAIRN_TYPE_BFLOAT16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  constexpr int fraction_bits = 10;
  const int exponent = bits >> fraction_bits & 31;
  const int fraction = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    // Infinity, or NaN with its payload.
    const auto all = static_cast<uint32_t>(0x7f800000U | static_cast<uint32_t>(fraction) << 13);
    value = std::bit_cast<float>(all);
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

Json attribute_json(const CkptAttribute& attribute) {
  if (attribute.type == CAIRN_TYPE_CHARACTER) return json_text(attribute.values);
  if (attribute.count == 1) return value_json(attribute, 0);
  Json values = Json::array();
  for (size_t i = 0; i < attribute.count; ++i) values.push_back(value_json(attribute, i));
  return values;
}

Json attributes_json(const std::vector<CkptAttribute>& attributes) {
  Json all = Json::object();
  for (const CkptAttribute& one : attributes) all[json_text(one.key)] = attribute_json(one);
  return all;
}

std::string attribute_text(const CkptAttribute& attribute) {
  if (attribute.type == CAIRN_TYPE_CHARACTER) return printable(attribute.values);
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(attribute.count, most); ++i) {
    const Json value = value_json(attribute, i);
    text +=
        (i == 0 ? "" : ", ") + (value.is_string() ? value.get<std::string>() : json_line(value));
  }
  return attribute.count > most ? text + ", ..." : text;
}

uint64_t CkptVariable::elements() const {
  uint64_t product = 1;
  for (const uint64_t extent : shape) product *= extent;
  return product;
}

const CkptAttribute* CkptVariable::attribute(const std::string& wanted) const {
  for (const CkptAttribute& one : attributes)
    if (one.key == wanted) return &one;
  return nullptr;
}

CkptName parse_ckpt_name(const std::string& text) {
  const size_t colon = text.rfind(':');
  CkptName name;
  if (colon != std::string::npos) name.pool = text.substr(0, colon);
  name.set = text.substr(colon == std::string::npos ? 0 : colon + 1);
  if (name.set.empty()) usage_error("'{}': expected SET or POOL:SET", text);
  return name;
}

int64_t parse_version(const std::string& text) {
  if (text.empty() || text == "latest") return CAIRN_CHECKPOINT_LATEST;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    usage_error("invalid version '{}': expected a number or latest", text);
  return number;
}

std::string version_text(int64_t version) {
  return version == CAIRN_CHECKPOINT_LATEST ? "latest" : std::to_string(version);
}

CkptSet::CkptSet(const Pool& pool, const std::string& name, uint32_t flags) : name_(name) {
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.flags = CAIRN_CHECKPOINT_LOOK | flags;
  options.pool = pool.get();
  check(cairn_checkpoint_init(name.c_str(), CAIRN_NO_COMMUNICATOR, &options, &checkpoint_), name);
  const auto visit = [](void* context, const cairn_checkpoint_info* info) {
    auto* const set = static_cast<CkptSet*>(context);
    if (info->level == 0) {
      set->damaged_.emplace_back(info->why);
      return 0;
    }
    CkptVersion version{*info, copy_of(info->attributes, info->attribute_count)};
    version.info.attributes = nullptr;
    set->versions_.push_back(std::move(version));
    return 0;
  };
  const int result = cairn_checkpoint_list(checkpoint_, visit, this);
  if (result == 0) return;
  const std::string text = library_error(result);
  cairn_checkpoint_finalize(checkpoint_);
  throw Error(exit_failed, fmt::format("{}: {}", name, text));
}

const CkptVersion& CkptSet::version(int64_t number) const {
  const CkptVersion* abandoned = nullptr;
  for (const CkptVersion& one : versions_) {
    const bool is_one = number == CAIRN_CHECKPOINT_LATEST || one.info.number == number;
    if (is_one && one.info.is_abandoned == 0) return one;
    if (is_one && number != CAIRN_CHECKPOINT_LATEST && abandoned == nullptr) abandoned = &one;
  }
  if (abandoned != nullptr) return *abandoned;
  if (number == CAIRN_CHECKPOINT_LATEST) fail("{}: has no version", name_);
  fail("{}: has no version {}", name_, number);
}

std::vector<uint64_t> CkptSet::counts(int64_t number, const CkptVariable& variable) const {
  std::vector<uint64_t> counts(version(number).info.ranks);
  check(cairn_checkpoint_counts(checkpoint_, number, variable.name.c_str(), counts.data(),
                                static_cast<uint32_t>(counts.size())),
        fmt::format("{}: version {}", name_, version_text(number)));
  return counts;
}

void CkptSet::count(int64_t number, std::vector<CkptVariable>* variables) const {
  for (CkptVariable& one : *variables) {
    if (!one.is_counted()) continue;
    const std::vector<uint64_t> of_ranks = counts(number, one);
    one.shape = {std::accumulate(of_ranks.begin(), of_ranks.end(), uint64_t{0})};
  }
}

std::vector<CkptVariable> CkptSet::variables(int64_t number) const {
  std::vector<CkptVariable> all;
  const auto visit = [](void* context, const cairn_checkpoint_variable* variable) {
    CkptVariable one;
    one.name = variable->name;
    one.type = variable->type;
    one.element_size = variable->element_size;
    one.kind = variable->kind;
    const bool is_known = !one.is_counted() || variable->global[0] >= 0;
    for (uint32_t k = 0; is_known && k < variable->dimensions; ++k)
      one.shape.push_back(static_cast<uint64_t>(variable->global[k]));
    one.is_required = (variable->flags & CAIRN_OPTIONAL) == 0;
    one.is_replicated = variable->kind == CAIRN_REPLICATED;
    if (variable->over != nullptr) one.over = variable->over;
    if (variable->key != nullptr) one.key = variable->key;
    one.attributes = copy_of(variable->attributes, variable->attribute_count);
    static_cast<std::vector<CkptVariable>*>(context)->push_back(std::move(one));
    return 0;
  };
  check(cairn_checkpoint_variables(checkpoint_, number, visit, &all),
        fmt::format("{}: version {}", name_, version_text(number)));
  return all;
}

std::vector<CkptPart> CkptSet::parts(int64_t number) const {
  std::vector<CkptPart> all;
  const auto visit = [](void* context, const cairn_checkpoint_part* part) {
    static_cast<std::vector<CkptPart>*>(context)->push_back(
        {part->part, part->presence, part->bytes, part->host});
    return 0;
  };
  check(cairn_checkpoint_parts(checkpoint_, number, visit, &all),
        fmt::format("{}: version {}", name_, version_text(number)));
  return all;
}

std::vector<CkptPiece> CkptSet::pieces(int64_t number, const CkptVariable& variable,
                                       uint32_t part) const {
  std::vector<CkptPiece> all;
  const auto visit = [](void* context, const cairn_checkpoint_piece* piece) {
    static_cast<std::vector<CkptPiece>*>(context)->push_back(
        {piece->rank,
         {piece->offset, piece->offset + piece->dimensions},
         {piece->count, piece->count + piece->dimensions}});
    return 0;
  };
  check(cairn_checkpoint_pieces(checkpoint_, number, variable.name.c_str(), part, visit, &all),
        fmt::format("{}: version {}", name_, version_text(number)));
  return all;
}

}  // namespace cairn::cli
