// C API: what is noted of versions and variables (include/cairn/checkpoint.h).
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cairn/checkpoint.h"
#include "capi/checkpoint/handle.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

namespace {

// `elements`: of a variable of which ranks have any number.
cairn_checkpoint_variable describe(const ckpt::Contents& contents, const ckpt::Variable& variable,
                                   uint64_t elements) {
  const ckpt::Decomposition& decomposition = contents.decomposition_of(variable);
  cairn_checkpoint_variable described{};
  described.struct_size = sizeof described;
  described.type = static_cast<uint32_t>(variable.type);
  described.element_size = variable.element_size;
  described.flags = variable.is_required ? 0U : CAIRN_OPTIONAL;
  described.kind = static_cast<uint32_t>(ckpt::given_kind(decomposition.kind()));
  described.dimensions = decomposition.dimensions();
  for (unsigned k = 0; k < described.dimensions; ++k)
    described.global[k] = static_cast<int64_t>(decomposition.whole().count[k]);
  if (decomposition.is_counted()) {
    described.dimensions = 1;
    described.global[0] = static_cast<int64_t>(elements);
  }
  return described;
}

// All variables of a version, so that visit may read another one.
class Variables {
 public:
  Variables(const ckpt::Contents& contents, const std::vector<uint64_t>& elements) {
    for (uint32_t i = 0; i < contents.layout().variables(); ++i) {
      const ckpt::Variable variable = contents.layout().variable(i);
      cairn_checkpoint_variable described = describe(contents, variable, elements[i]);
      names_.emplace_back(variable.name);
      described.name = names_.back().c_str();
      described.over = name_of(contents, variable.over);
      described.key = name_of(contents, variable.key);
      cairn::capi::AttributeList& attributes = attributes_.emplace_back();
      attributes.read(variable.attributes);
      described.attributes = attributes.begin();
      described.attribute_count = attributes.count();
      all_.push_back(described);
    }
  }
  [[nodiscard]] const std::vector<cairn_checkpoint_variable>& all() const { return all_; }

 private:
  const char* name_of(const ckpt::Contents& contents, std::optional<uint32_t> variable) {
    if (!variable) return nullptr;
    return names_.emplace_back(contents.layout().variable(*variable).name).c_str();
  }

  std::deque<std::string> names_;
  std::deque<cairn::capi::AttributeList> attributes_;
  std::vector<cairn_checkpoint_variable> all_;
};

}  // namespace

extern "C" {

int cairn_checkpoint_set_attributes(cairn_checkpoint* checkpoint, const cairn_attribute* attributes,
                                    uint32_t count) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  auto encoded = cairn::capi::encode_attributes(attributes, count);
  if (!encoded.ok()) return code(encoded.status());
  // A context that looks writes no version.
  if (auto* const run = checkpoint->session.run(); run != nullptr)
    run->set_attributes(std::move(*encoded));
  return 0;
}

int cairn_checkpoint_variables(cairn_checkpoint* checkpoint, int64_t version,
                               cairn_checkpoint_variable_visit visit, void* context) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  std::optional<Variables> variables;
  const Status read = checkpoint->session.read([&](ckpt::VersionReader* reader) -> Status {
    CAIRN_TRY_ASSIGN(elements, reader->count_all(cairn::capi::number_of(version)));
    variables.emplace(reader->contents(), elements);
    return Status();
  });
  if (!read.ok()) return code(read);
  for (const cairn_checkpoint_variable& one : variables->all())
    if (const int result = visit(context, &one); result != 0) return result;
  return 0;
}

}  // extern "C"
